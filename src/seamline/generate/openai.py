"""``openai``: any chat endpoint that speaks OpenAI's protocol (OpenAI, Azure, Ollama, vLLM, llama.cpp...).

The official SDK does the transport and the retries (bounded, with jitter, honouring ``Retry-After``). A stream
that ends without saying that it is finished is an error, never a shorter answer. Keys and the provider's own
error texts, which may repeat a key or the prompt, never get into a message. Of its own variables the SDK
honours only ``OPENAI_CUSTOM_HEADERS``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from seamline.errors import GenerationError, ProviderError, SettingsError, TransientProviderError
from seamline.ports import SentenceScorer, SentenceSplitter
from seamline.types import GenerationPiece, GenerationRequest, Usage

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types.chat import ChatCompletionChunk

OFFICIAL_URL = "https://api.openai.com/v1"
"""Used when no base URL is set; only there a key is required."""


class Secret(Protocol):
    """A value that does not show itself, like pydantic's ``SecretStr``."""

    def get_secret_value(self) -> str:
        """The secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIOptions:
    """``timeout_s``: until an answer begins, and again until it ends; ``retries``: attempts after the first."""

    base_url: str
    model: str
    api_key: Secret | None
    timeout_s: float
    retries: int
    max_tokens: int
    temperature: float


class OpenAIGenerator:
    """Streams one chat completion."""

    name = "openai"
    stand_in = False

    def __init__(self, options: OpenAIOptions) -> None:
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
            raise self._malformed() from None
        except httpx.HTTPError as error:  # once a stream has begun the SDK passes these on as they are
            raise TransientProviderError(
                f"{self._where}: the connection broke off ({type(error).__name__})", hint="try again"
            ) from None

    @property
    def _where(self) -> str:
        return f"the chat endpoint {self._options.base_url}"

    def _client(self) -> OpenAI:
        from openai import OpenAI

        options = self._options
        return OpenAI(
            api_key=_key(options) or "none",
            base_url=options.base_url,
            timeout=options.timeout_s,
            max_retries=options.retries,
        )

    def _left_out(self) -> dict[str, Any]:
        """Headers not to be sent: what the SDK would read from variables of its own, and a key that is not set."""
        from openai import Omit

        names = ["OpenAI-Organization", "OpenAI-Project", *([] if _key(self._options) else ["Authorization"])]
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
                    raise TransientProviderError(
                        f"{self._where} took longer than {options.timeout_s:g} s", hint="raise generation_timeout_s"
                    )
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
            raise self._malformed() from None
        if not isinstance(text, str):
            raise self._malformed()
        return GenerationPiece(text=text, usage=usage), finish

    def _malformed(self) -> GenerationError:
        return GenerationError(f"{self._where} sent a malformed event", hint="check that it speaks the OpenAI protocol")

    def _check_finish(self, finish: str | None) -> None:
        if finish is None:
            raise TransientProviderError(f"{self._where} ended its stream early", hint="try again")
        if finish == "length":
            raise GenerationError(
                f"{self._where} cut the answer at {self._options.max_tokens} tokens",
                hint="raise generation_max_tokens",
            )
        if finish != "stop":
            raise GenerationError(f"{self._where} stopped with {finish[:40]!r}", hint="ask differently")

    def _refusal(self, error: Exception) -> ProviderError:
        import openai

        if isinstance(error, openai.APITimeoutError):
            return TransientProviderError(
                f"{self._where} did not answer within {self._options.timeout_s:g} s", hint="raise generation_timeout_s"
            )
        if isinstance(error, openai.APIConnectionError):
            return TransientProviderError(
                f"{self._where} cannot be reached", hint="check generation_base_url, and that the server runs"
            )
        if not isinstance(error, openai.APIStatusError):
            return GenerationError(
                f"{self._where} reported an error ({type(error).__name__})", hint="see the server's log"
            )
        status = error.status_code
        if status in (408, 409, 429) or status >= 500:
            return TransientProviderError(f"{self._where} answered {status}", hint="try again later")
        return GenerationError(f"{self._where} answered {status}", hint=_HINTS.get(status, "see the server's log"))


_HINTS = {
    401: "check generation_api_key",
    403: "check generation_api_key and what it may use",
    404: "check generation_base_url (it usually ends in /v1) and generation_model",
}


def _key(options: OpenAIOptions) -> str:
    return options.api_key.get_secret_value() if options.api_key else ""


def create(
    settings: Mapping[str, object],
    *,
    scorer: SentenceScorer | None,  # noqa: ARG001 - one signature for every generator
    splitter: SentenceSplitter,  # noqa: ARG001
    space_fingerprint: str | None,  # noqa: ARG001
) -> OpenAIGenerator:
    """The generator; raises ``SettingsError`` without a model, or without a key for OpenAI's own endpoint."""
    base_url = str(settings["generation_base_url"] or OFFICIAL_URL)
    if not settings["generation_model"]:
        raise SettingsError("the generator 'openai' needs a model", hint="set generation_model")
    if base_url == OFFICIAL_URL and not settings["generation_api_key"]:
        raise SettingsError(
            f"the chat endpoint {base_url} needs a key", hint="set generation_api_key, or generation_base_url"
        )
    return OpenAIGenerator(
        OpenAIOptions(
            base_url=base_url,
            model=str(settings["generation_model"]),
            api_key=settings["generation_api_key"],  # type: ignore[arg-type]
            timeout_s=settings["generation_timeout_s"],  # type: ignore[arg-type]
            retries=settings["generation_retries"],  # type: ignore[arg-type]
            max_tokens=settings["generation_max_tokens"],  # type: ignore[arg-type]
            temperature=settings["generation_temperature"],  # type: ignore[arg-type]
        )
    )
