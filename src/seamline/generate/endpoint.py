"""What the providers behind a network share: their options, and the same words for the same faults.

A provider's own error texts may repeat a key or the prompt, so that they never get into a message; they are only
looked at to tell a prompt that is too long from other refusals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from seamline.errors import GenerationError, ProviderError, SettingsError, TransientProviderError

_TOO_LONG = ("context_length", "context length", "context window", "too long", "maximum context", "too many tokens")
_HINTS = {
    401: "check generation_api_key",
    403: "check generation_api_key and what it may use",
    404: "check generation_base_url (it usually ends in /v1 for the OpenAI protocol) and generation_model",
    413: "lower prompt_tokens",
}


class Secret(Protocol):
    """A value that does not show itself, like pydantic's ``SecretStr``."""

    def get_secret_value(self) -> str:
        """The secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions:
    """``timeout_s``: until an answer begins, and again until it ends; ``retries``: attempts after the first."""

    base_url: str
    model: str
    api_key: Secret | None
    timeout_s: float
    retries: int
    max_tokens: int
    temperature: float

    @classmethod
    def of(cls, settings: Mapping[str, object], *, provider: str, official_url: str) -> EndpointOptions:
        """Pick them out of all settings; raises ``SettingsError`` without a model, or where a key is missing."""
        base_url = str(settings["generation_base_url"] or official_url)
        if not settings["generation_model"]:
            raise SettingsError(f"the generator {provider!r} needs a model", hint="set generation_model")
        if base_url == official_url and not settings["generation_api_key"]:
            raise SettingsError(
                f"the chat endpoint {base_url} needs a key", hint="set generation_api_key, or generation_base_url"
            )
        return cls(
            base_url=base_url,
            model=str(settings["generation_model"]),
            api_key=settings["generation_api_key"],  # type: ignore[arg-type]
            timeout_s=settings["generation_timeout_s"],  # type: ignore[arg-type]
            retries=settings["generation_retries"],  # type: ignore[arg-type]
            max_tokens=settings["generation_max_tokens"],  # type: ignore[arg-type]
            temperature=settings["generation_temperature"],  # type: ignore[arg-type]
        )

    @property
    def key(self) -> str:
        """The key in clear; empty where none is set."""
        return self.api_key.get_secret_value() if self.api_key else ""

    @property
    def where(self) -> str:
        """How a message names the endpoint."""
        return f"the chat endpoint {self.base_url}"

    def refused(self, status: int, said: str) -> ProviderError:
        """An error status; ``said`` is the provider's own text, read and never shown."""
        if status in (408, 409, 429) or status >= 500:
            return TransientProviderError(f"{self.where} answered {status}", hint="try again later")
        if status == 400 and any(words in said.lower() for words in _TOO_LONG):
            return self.too_long()
        return GenerationError(f"{self.where} answered {status}", hint=_HINTS.get(status, "see the server's log"))

    def too_long(self) -> GenerationError:
        """The prompt does not fit the model."""
        return GenerationError(
            f"{self.where} refused the prompt as longer than its model reads", hint="lower prompt_tokens"
        )

    def silent(self) -> TransientProviderError:
        """No answer within the time allowed."""
        return TransientProviderError(
            f"{self.where} did not answer within {self.timeout_s:g} s", hint="raise generation_timeout_s"
        )

    def too_slow(self) -> TransientProviderError:
        """An answer that did not end within the time allowed."""
        return TransientProviderError(
            f"{self.where} took longer than {self.timeout_s:g} s", hint="raise generation_timeout_s"
        )

    def unreachable(self) -> TransientProviderError:
        """No connection."""
        return TransientProviderError(
            f"{self.where} cannot be reached", hint="check generation_base_url, and that the server runs"
        )

    def broke_off(self, error: Exception) -> TransientProviderError:
        """A connection lost in the middle of a stream."""
        return TransientProviderError(
            f"{self.where}: the connection broke off ({type(error).__name__})", hint="try again"
        )

    def ended_early(self) -> TransientProviderError:
        """A stream that never said that it was finished."""
        return TransientProviderError(f"{self.where} ended its stream early", hint="try again")

    def cut(self) -> GenerationError:
        """An answer at the token limit: half an answer is no answer."""
        return GenerationError(
            f"{self.where} cut the answer at {self.max_tokens} tokens", hint="raise generation_max_tokens"
        )

    def stopped(self, reason: str) -> GenerationError:
        """Any other end than the natural one."""
        return GenerationError(f"{self.where} stopped with {reason[:40]!r}", hint="ask differently")

    def malformed(self, protocol: str) -> GenerationError:
        """An event that is not of the protocol's shape."""
        return GenerationError(
            f"{self.where} sent a malformed event", hint=f"check that it speaks the {protocol} protocol"
        )

    def failed(self, error: Exception) -> GenerationError:
        """Any other error that the SDK reported."""
        return GenerationError(f"{self.where} reported an error ({type(error).__name__})", hint="see the server's log")
