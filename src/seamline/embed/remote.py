"""Embedders behind a network: batches, retries, and the same words for the same faults.

Neither a key nor a text nor a service's own words get into a message: its words are only looked at to tell a text that
is too long from other refusals.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from seamline.embed.edges import bare_question, checked, refuse_blank
from seamline.embed.prefixes import Family, family_of
from seamline.errors import EmbeddingError, ProviderError, SettingsError, TransientProviderError
from seamline.types import EmbeddingSpace

if TYPE_CHECKING:
    from seamline.ports import Matrix, Vector

Kind = Literal["query", "passage"]
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_TOO_LONG = ("context length", "context_length", "too long", "too many tokens", "maximum context", "max_input_length")
_LONGEST_WAIT_S = 60.0
_HINTS = {
    401: "check embedding_api_key",
    403: "check embedding_api_key and what it may use",
    404: "check embedding_base_url and embedding_model",
    422: "check embedding_model, embedding_dimensions and embedding_batch",
}
_PROBE = "dimension"


class Secret(Protocol):
    """A value that does not show itself, like pydantic's ``SecretStr``."""

    def get_secret_value(self) -> str:
        """The secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteOptions:
    """``retries`` are attempts after the first; ``batch`` the most texts a request; ``dimensions`` asks for fewer."""

    base_url: str
    model: str
    api_key: Secret | None
    timeout_s: float
    retries: int
    batch: int
    dimensions: int | None
    query_prefix: str | None
    passage_prefix: str | None

    @classmethod
    def of(
        cls, settings: Mapping[str, object], provider: str, *, official: str | None, model: str | None
    ) -> RemoteOptions:
        """Pick them out of all settings; raises ``SettingsError`` without an address, a model, or an official key."""
        address = settings["embedding_base_url"] or official
        if not address:
            raise SettingsError(f"the embedder {provider!r} needs an address", hint="set embedding_base_url")
        named = settings["embedding_model"] or model
        if not named:
            raise SettingsError(f"the embedder {provider!r} needs a model", hint="set embedding_model")
        if official and address == official and settings["embedding_api_key"] is None:
            raise SettingsError(
                f"the embedder {provider!r} needs a key", hint="set embedding_api_key, or embedding_base_url"
            )
        picked = {name: settings[f"embedding_{name}"] for name in cls.__dataclass_fields__ if name != "base_url"}
        return cls(**{**picked, "base_url": str(address).rstrip("/"), "model": str(named)})  # type: ignore[arg-type]

    @property
    def key(self) -> str | None:
        """The key in clear; ``None`` where none is set."""
        return self.api_key.get_secret_value() if self.api_key is not None else None


class RefusedError(Exception):
    """An answer other than 200: ``said`` is the service's own text, read and never shown; ``after`` in seconds."""

    def __init__(self, status: int, *, said: str = "", after: float | None = None) -> None:
        super().__init__(str(status))
        self.status, self.said, self.after = status, said, after


class LostError(Exception):
    """No answer: a timeout or a connection that was refused or closed."""


Call = Callable[[Sequence[str], Kind], "Sequence[Sequence[float]]"]
"""One request: vectors in the order of the texts. Raises ``RefusedError``, ``LostError`` and ``ValueError`` (a body of
another shape)."""


class RemoteEmbedder:
    """Asks a service. Its dimension is learnt from the first answer; vectors are brought to length 1.

    Args:
        provider: the name under which it is registered.
        options: address, model and limits.
        call: one request to the service.
        tasks: how the service is told a question and a passage, where it adds prefixes itself. The space declares them.
    """

    def __init__(
        self, provider: str, options: RemoteOptions, call: Call, *, tasks: tuple[str, str] | None = None
    ) -> None:
        self._provider, self._options, self._call = provider, options, call
        family = family_of(options.model)
        self._family = family
        self._query_prefix = "" if tasks else _prefix(options.query_prefix, family, "query_prefix")
        self._passage_prefix = "" if tasks else _prefix(options.passage_prefix, family, "passage_prefix")
        self._tasks = tasks
        self._space: EmbeddingSpace | None = None
        self._lock = threading.Lock()

    @property
    def space(self) -> EmbeddingSpace:
        """The space; the first use asks the service for one vector. Raises as :meth:`embed_passages` does."""
        with self._lock:
            if self._space is None:
                dimension = len(self._answer([_PROBE], "passage")[0])
                self._space = EmbeddingSpace(
                    provider=self._provider,
                    model=self._options.model,
                    revision=f"dimensions={self._options.dimensions or 'full'}",
                    dimension=dimension,
                    pooling="service",
                    query_prefix=self._tasks[0] if self._tasks else self._query_prefix,
                    passage_prefix=self._tasks[1] if self._tasks else self._passage_prefix,
                    window=self._family.window if self._family else None,
                )
            return self._space

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Float32 of shape ``(n, dimension)``, unit rows.

        Raises:
            EmbeddingError: a blank or too long text, a wrong count or dimension, a value that is not finite.
            TransientProviderError: no answer, a 429 or a 5xx, after the retries.
            ProviderError: any other refusal.
        """
        matrix, dead = self.embed_each(texts)
        if dead:
            place, reason = next(iter(dead.items()))
            raise EmbeddingError(f"{self._provider}: text {place} of {len(texts)}: {reason}")
        return matrix

    def embed_each(self, texts: Sequence[str]) -> tuple[Matrix, dict[int, str]]:
        """As ``embed_passages``; texts that the service refuses for themselves are rows of zeros, with the reason."""
        import numpy as np

        refuse_blank(texts, self._provider)
        dimension = self.space.dimension
        matrix = np.zeros((len(texts), dimension), dtype=np.float32)
        dead: dict[int, str] = {}
        pending = [
            range(at, min(at + self._options.batch, len(texts))) for at in range(0, len(texts), self._options.batch)
        ]
        while pending:
            part = pending.pop(0)
            try:
                rows = self._answer([self._passage_prefix + texts[place] for place in part], "passage")
                matrix[part.start : part.stop] = self._unit(rows, len(part), dimension)
            except (_TooLongError, EmbeddingError) as error:
                if len(part) == 1:
                    dead[part.start] = error.message
                elif isinstance(error, _TooLongError):  # half of it may fit
                    middle = (part.start + part.stop) // 2
                    pending[:0] = [range(part.start, middle), range(middle, part.stop)]
                else:
                    pending[:0] = [range(place, place + 1) for place in part]
        return matrix, dead

    def embed_query(self, text: str) -> Vector:
        """Float32 of shape ``(dimension,)``, of the bare question; raises as :meth:`embed_passages` does."""
        refuse_blank([text], self._provider)
        dimension = self.space.dimension
        vector: Vector = self._unit(self._answer([self._query_prefix + bare_question(text)], "query"), 1, dimension)[0]
        return vector

    def _unit(self, rows: Sequence[Sequence[float]], count: int, dimension: int) -> Matrix:
        import numpy as np

        if len(rows) != count:
            raise EmbeddingError(f"{self._where} sent {len(rows)} vectors for {count} texts")
        try:
            matrix = np.asarray(rows, dtype=np.float32)
        except (TypeError, ValueError):
            raise EmbeddingError(f"{self._where} sent vectors of several lengths, or no numbers") from None
        matrix = checked(matrix, count, dimension, self._provider)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not lengths.all():
            raise EmbeddingError(f"{self._where} sent a vector without direction")
        unit: Matrix = matrix / lengths
        return unit

    @property
    def _where(self) -> str:
        return f"the embedder {self._provider} at {self._options.base_url}"

    def _answer(self, texts: Sequence[str], kind: Kind) -> Sequence[Sequence[float]]:
        """One request with its retries, after waiting as long as the service asks, else longer each time."""
        for attempt in range(self._options.retries + 1):
            last = attempt == self._options.retries
            after: float | None = None
            try:
                return self._call(texts, kind)
            except ValueError:
                raise ProviderError(
                    f"{self._where} sent a body of another shape",
                    hint=f"check that it speaks the protocol of {self._provider}",
                ) from None
            except LostError as error:
                if last:
                    raise TransientProviderError(
                        f"{self._where}: {error}", hint="check embedding_base_url, and that the service runs"
                    ) from None
            except RefusedError as refused:
                after = refused.after
                if refused.status == 413 or any(words in refused.said.lower() for words in _TOO_LONG):
                    raise _TooLongError("longer than the service takes") from None
                if refused.status not in PASSING:
                    raise ProviderError(
                        f"{self._where} answered {refused.status}",
                        hint=_HINTS.get(refused.status, "see the service's log"),
                    ) from None
                if last:
                    raise TransientProviderError(
                        f"{self._where} answered {refused.status}", hint="try again later, or lower embedding_batch"
                    ) from None
            wait = min(_LONGEST_WAIT_S, 0.25 * 2**attempt * (1 + random.random()))  # noqa: S311 - jitter
            threading.Event().wait(wait if after is None else min(after, _LONGEST_WAIT_S))
        raise AssertionError("unreachable: the last attempt returns or raises")


class _TooLongError(EmbeddingError):
    """The request, or one text of it, is longer than the service takes."""


def _prefix(given: str | None, family: Family | None, name: str) -> str:
    if given is not None:
        return given
    return "" if family is None else str(getattr(family, name))
