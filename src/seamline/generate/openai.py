"""``openai``: any chat endpoint that speaks OpenAI's protocol (OpenAI, Azure, Ollama, vLLM, llama.cpp...).

The official SDK does the transport and the retries (bounded, with jitter, honouring ``Retry-After``). A stream
that ends without saying that it is finished is an error, never a shorter answer. Keys and the provider's own
error texts never get into a message. Of its own variables the SDK honours only ``OPENAI_CUSTOM_HEADERS``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from seamline.errors import ProviderError
from seamline.generate.endpoint import EndpointOptions
from seamline.ports import SentenceScorer, SentenceSplitter
from seamline.types import GenerationPiece, GenerationRequest, Usage

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types.chat import ChatCompletionChunk

OFFICIAL_URL = "https://api.openai.com/v1"
"""Used when no base URL is set; only there a key is required."""


class OpenAIGenerator:
    """Streams one chat completion."""

    name = "openai"
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
        import httpx
        import openai

        try:
            with self._client() as client:
                yield from self._pieces(client, request.prompt)
        except ProviderError:
            raise
        except openai.OpenAIError as error:
            raise self._refusal(error) from None
        except json.JSONDecodeError:
            raise self._options.malformed("OpenAI") from None
        except httpx.HTTPError as error:  # once a stream has begun the SDK passes these on as they are
            raise self._options.broke_off(error) from None

    def _client(self) -> OpenAI:
        from openai import OpenAI

        options = self._options
        return OpenAI(
            api_key=options.key or "none",
            base_url=options.base_url,
            timeout=options.timeout_s,
            max_retries=options.retries,
        )

    def _left_out(self) -> dict[str, Any]:
        """Headers not to be sent: what the SDK would read from variables of its own, and a key that is not set."""
        from openai import Omit

        names = ["OpenAI-Organization", "OpenAI-Project", *([] if self._options.key else ["Authorization"])]
        return {name: Omit() for name in names}

    def _pieces(self, client: OpenAI, prompt: str) -> Iterator[GenerationPiece]:
        options = self._options
        # OpenAI's own newer models refuse the old name of this limit; other servers know only the old one.
        limit = "max_completion_tokens" if options.base_url == OFFICIAL_URL else "max_tokens"
        finish: str | None = None
        with client.chat.completions.create(
            model=options.model,
            messages=[{"role": "user", "content": prompt}],
            temperature=options.temperature,
            stream=True,
            stream_options={"include_usage": True},
            extra_headers=self._left_out(),
            extra_body={limit: options.max_tokens},
        ) as stream:
            begun = time.monotonic()
            for chunk in stream:
                if time.monotonic() - begun > options.timeout_s:
                    raise options.too_slow()
                piece, end = self._read(chunk)
                finish = end or finish
                if piece.text or piece.usage:
                    yield piece
        self._check_finish(finish)

    def _read(self, chunk: ChatCompletionChunk) -> tuple[GenerationPiece, str | None]:
        """The piece in an event and why the answer ended, if it did. The SDK checks no shapes; this does."""
        try:
            choice = chunk.choices[0] if chunk.choices else None
            text = (choice.delta.content or "") if choice else ""
            usage = (
                Usage(prompt_tokens=chunk.usage.prompt_tokens, completion_tokens=chunk.usage.completion_tokens)
                if chunk.usage
                else None
            )
            finish = choice.finish_reason if choice else None
        except (AttributeError, TypeError, LookupError):
            raise self._options.malformed("OpenAI") from None
        if not isinstance(text, str):
            raise self._options.malformed("OpenAI")
        return GenerationPiece(text=text, usage=usage), finish

    def _check_finish(self, finish: str | None) -> None:
        if finish is None:
            raise self._options.ended_early()
        if finish == "length":
            raise self._options.cut()
        if finish != "stop":
            raise self._options.stopped(finish)

    def _refusal(self, error: Exception) -> ProviderError:
        import openai

        if isinstance(error, openai.APITimeoutError):
            return self._options.silent()
        if isinstance(error, openai.APIConnectionError):
            return self._options.unreachable()
        if isinstance(error, openai.APIStatusError):
            return self._options.refused(error.status_code, f"{error.code} {error.message}")
        return self._options.failed(error)


def create(
    settings: Mapping[str, object],
    *,
    scorer: SentenceScorer | None,  # noqa: ARG001 - one signature for every generator
    splitter: SentenceSplitter,  # noqa: ARG001
    space_fingerprint: str | None,  # noqa: ARG001
) -> OpenAIGenerator:
    """The generator; raises ``SettingsError`` without a model, or without a key for OpenAI's own endpoint."""
    return OpenAIGenerator(EndpointOptions.of(settings, provider="openai", official_url=OFFICIAL_URL))
