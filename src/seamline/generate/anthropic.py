"""``anthropic``: Anthropic's messages endpoint, or any that speaks its protocol, through the official SDK.

The SDK does the transport and the retries (bounded, with jitter, honouring ``Retry-After``). A stream that ends
without saying that it is finished is an error, never a shorter answer. Keys and the provider's own error texts
never get into a message. The protocol's current models take no sampling temperature, so that none is sent.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from seamline.errors import ProviderError, TransientProviderError
from seamline.generate.endpoint import EndpointOptions
from seamline.ports import SentenceScorer, SentenceSplitter
from seamline.types import GenerationPiece, GenerationRequest, Usage

if TYPE_CHECKING:
    from anthropic import Anthropic

OFFICIAL_URL = "https://api.anthropic.com"
"""Used when no base URL is set; only there a key is required."""

_FINISHED = ("end_turn", "stop_sequence")
_PASSING = ("overloaded_error", "api_error", "rate_limit_error", "timeout_error")


class AnthropicGenerator:
    """Streams one message."""

    name = "anthropic"
    stand_in = False

    def __init__(self, options: EndpointOptions) -> None:
        """No connection is made before the first stream."""
        self._options = options

    @property
    def model(self) -> str:
        """The model's name as sent to the endpoint."""
        return self._options.model

    def stream(self, request: GenerationRequest) -> Iterator[GenerationPiece]:
        """Text as it comes, then the usage. Closing the iterator closes the connection.

        Raises:
            GenerationError: the endpoint refused the call, or its answer is not usable.
            TransientProviderError: a timeout, a lost connection, a 429 or a 5xx, after all retries.
        """
        import anthropic
        import httpx2

        try:
            with self._client() as client:
                yield from self._pieces(client, request.prompt)
        except ProviderError:
            raise
        except anthropic.AnthropicError as error:
            raise self._refusal(error) from None
        except ValueError:  # not JSON
            raise self._options.malformed("Anthropic") from None
        except httpx2.HTTPError as error:  # once a stream has begun the SDK passes these on as they are
            raise self._options.broke_off(error) from None

    def _client(self) -> Anthropic:
        from anthropic import Anthropic

        options = self._options
        return Anthropic(
            api_key=options.key or "none",
            base_url=options.base_url,
            timeout=options.timeout_s,
            max_retries=options.retries,
            open_telemetry=False,
        )

    def _pieces(self, client: Anthropic, prompt: str) -> Iterator[GenerationPiece]:
        from anthropic import Omit

        options = self._options
        left_out: dict[str, Any] = {} if options.key else {"Authorization": Omit(), "X-Api-Key": Omit()}
        heard = _Heard()
        with client.messages.create(
            model=options.model,
            max_tokens=options.max_tokens,
            messages=[{"role": "user", "content": prompt}],
            stream=True,
            extra_headers=left_out,
        ) as stream:
            begun = time.monotonic()
            for event in stream:
                if time.monotonic() - begun > options.timeout_s:
                    raise options.too_slow()
                if text := self._text(event, heard):
                    yield GenerationPiece(text=text)
        self._check_finish(heard)
        yield GenerationPiece(usage=Usage(prompt_tokens=heard.prompt, completion_tokens=heard.completion))

    def _text(self, event: Any, heard: _Heard) -> str:  # noqa: ANN401 - the SDK checks no shapes; this does
        try:
            if event.type == "message_start":
                heard.prompt = event.message.usage.input_tokens
            elif event.type == "message_delta":
                heard.reason = event.delta.stop_reason or heard.reason
                heard.completion = event.usage.output_tokens
            elif event.type == "message_stop":
                heard.stopped = True
            elif event.type == "content_block_delta" and event.delta.type == "text_delta":
                if not isinstance(event.delta.text, str):
                    raise TypeError
                return event.delta.text
        except (AttributeError, TypeError):
            raise self._options.malformed("Anthropic") from None
        return ""

    def _check_finish(self, heard: _Heard) -> None:
        if heard.reason is None or not heard.stopped:
            raise self._options.ended_early()
        if heard.reason == "max_tokens":
            raise self._options.cut()
        if heard.reason == "model_context_window_exceeded":
            raise self._options.too_long()
        if heard.reason not in _FINISHED:
            raise self._options.stopped(heard.reason)

    def _refusal(self, error: Exception) -> ProviderError:
        import anthropic

        if isinstance(error, anthropic.APITimeoutError):
            return self._options.silent()
        if isinstance(error, anthropic.APIConnectionError):
            return self._options.unreachable()
        if not isinstance(error, anthropic.APIStatusError):
            return self._options.failed(error)
        if error.status_code == 200:  # an error event inside a stream
            if any(name in str(error.body) for name in _PASSING):
                return TransientProviderError(f"{self._options.where} failed in its stream", hint="try again later")
            return self._options.failed(error)
        return self._options.refused(error.status_code, error.message)


class _Heard:
    """What a stream said beside its text."""

    prompt: int | None = None
    completion: int | None = None
    reason: str | None = None
    stopped = False


def create(
    settings: Mapping[str, object],
    *,
    scorer: SentenceScorer | None,  # noqa: ARG001 - one signature for every generator
    splitter: SentenceSplitter,  # noqa: ARG001
    space_fingerprint: str | None,  # noqa: ARG001
) -> AnthropicGenerator:
    """The generator; raises ``SettingsError`` without a model, or without a key for Anthropic's own endpoint."""
    return AnthropicGenerator(EndpointOptions.of(settings, provider="anthropic", official_url=OFFICIAL_URL))
