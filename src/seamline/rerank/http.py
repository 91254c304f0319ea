"""``tei``, ``cohere``, ``jina``: rerankers behind HTTP. One deadline covers connecting, retries and all batches.

Neither a key nor a text nor a server's own words get into a message.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from seamline.errors import ProviderError, SettingsError, TransientProviderError
from seamline.fingerprint import fingerprint
from seamline.types import Fingerprint

if TYPE_CHECKING:
    import httpx

_BODY_BYTES = 4 << 20
"""Longest answer that is read: a score a text needs a few dozen bytes."""
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_FIRST_WAIT_S = 0.05


class Secret(Protocol):
    """A value that does not show itself, like pydantic's ``SecretStr``."""

    def get_secret_value(self) -> str:
        """The secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """``retries`` are attempts after the first, ``batch`` texts a request (0: all in one)."""

    url: str
    model: str | None
    api_key: Secret | None
    retries: int
    batch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a service's protocol looks like: the request's body, where its entries are, what a score is called."""

    body: Callable[[str | None, str, Sequence[str]], Mapping[str, object]]
    entries: Callable[[Any], Any]
    score: str


TEI = Shape(
    body=lambda _model, query, texts: {"query": query, "texts": texts, "truncate": True, "raw_scores": False},
    entries=lambda answer: answer,
    score="score",
)
"""Text Embeddings Inference, ``POST /rerank``; scores are sigmoids in (0, 1)."""
COHERE = Shape(
    body=lambda model, query, texts: {"model": model, "query": query, "documents": texts, "top_n": len(texts)},
    entries=lambda answer: answer["results"],
    score="relevance_score",
)
"""Cohere, Jina and their like; scores in [0, 1] by their documentation."""


class HttpReranker:
    """One request a batch. Safe to call from several threads; each call has a client of its own."""

    stand_in = False

    def __init__(self, name: str, shape: Shape, options: HttpOptions) -> None:
        """No connection is made, but what every call needs is loaded: the first one's deadline does not pay for it."""
        import httpx

        self.name = name
        self._verify = httpx.create_ssl_context() if options.url.startswith("https:") else False
        self._shape = shape
        self._options = options

    @property
    def fingerprint(self) -> Fingerprint:
        """Service, address and model: what a server runs behind one address is its own affair."""
        return fingerprint(
            "policy", {"reranker": self.name, "url": self._options.url, "model": self._options.model, "version": 1}
        )

    def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """The service's scores; a count other than that of the texts is passed on for the caller to refuse.

        Raises:
            TransientProviderError: a timeout, a lost connection, a 429 or a 5xx, after the retries that time allowed.
            ProviderError: another status, a body that is not of the shape, a repeated or impossible index.
        """
        import httpx

        ends = monotonic() + deadline_s
        size = self._options.batch or max(len(texts), 1)
        scores: list[float] = []
        with httpx.Client(follow_redirects=False, trust_env=False, verify=self._verify) as client:
            for start in range(0, len(texts), size):
                batch = list(texts[start : start + size])
                answer = self._answer(client, self._shape.body(self._options.model, query, batch), ends)
                scores += self._scores(answer, len(batch))
        return scores

    @property
    def _where(self) -> str:
        return f"the reranker {self.name} at {self._options.url}"

    def _answer(self, client: httpx.Client, body: Mapping[str, object], ends: float) -> Any:  # noqa: ANN401
        wait = _FIRST_WAIT_S
        for attempt in range(self._options.retries + 1):
            try:
                return self._once(client, body, ends)
            except _RetryableError as error:
                wait = wait if error.after is None else error.after
                if attempt == self._options.retries or monotonic() + wait >= ends:
                    raise
                threading.Event().wait(wait)
                wait *= 2
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _once(self, client: httpx.Client, body: Mapping[str, object], ends: float) -> Any:  # noqa: ANN401
        import httpx

        key = self._options.api_key
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key is not None else {}
        left = ends - monotonic()
        if left <= 0:
            raise TransientProviderError(f"{self._where}: no time was left", hint="raise rerank_timeout_s")
        try:
            with client.stream("POST", self._options.url, json=body, headers=headers, timeout=left) as response:
                if response.status_code in _PASSING:
                    after = _seconds(response.headers.get("Retry-After"))
                    raise _RetryableError(f"{self._where} answered {response.status_code}", after=after)
                if response.status_code != 200:
                    raise ProviderError(
                        f"{self._where} answered {response.status_code}",
                        hint=_HINTS.get(response.status_code, "see the service's log"),
                    )
                return json.loads(b"".join(self._bounded(response, ends)))
        except httpx.TimeoutException:
            raise TransientProviderError(
                f"{self._where} did not answer in time", hint="raise rerank_timeout_s"
            ) from None
        except httpx.HTTPError as error:
            raise _RetryableError(f"{self._where} cannot be reached ({type(error).__name__})", after=None) from None
        except ValueError:
            raise ProviderError(f"{self._where} sent a body that is not JSON", hint="check rerank_base_url") from None

    def _bounded(self, response: httpx.Response, ends: float) -> Iterator[bytes]:
        """The body while there is time: a server that drips holds no thread longer than the deadline."""
        size = 0
        for piece in response.iter_bytes():
            size += len(piece)
            if monotonic() >= ends:
                raise TransientProviderError(f"{self._where}: its body took too long", hint="raise rerank_timeout_s")
            if size > _BODY_BYTES:
                raise ProviderError(f"{self._where} sent more than {_BODY_BYTES:,} bytes", hint="check rerank_base_url")
            yield piece

    def _scores(self, answer: Any, count: int) -> list[float]:  # noqa: ANN401
        try:
            found = [(entry["index"], float(entry[self._shape.score])) for entry in self._shape.entries(answer)]
        except (LookupError, TypeError, ValueError):
            raise ProviderError(
                f"{self._where} sent a body of another shape", hint=f"check that it speaks the protocol of {self.name}"
            ) from None
        if len(found) != count:
            return [score for _, score in found]
        by_index = dict(found)
        if len(by_index) != count or any(type(index) is not int or not 0 <= index < count for index in by_index):
            raise ProviderError(
                f"{self._where} sent a repeated or an impossible index", hint="its answer cannot be put in order"
            )
        return [by_index[index] for index in range(count)]


class _RetryableError(TransientProviderError):
    """``after`` is what the server asked to wait, in seconds."""

    def __init__(self, message: str, *, after: float | None) -> None:
        super().__init__(message, hint="check rerank_base_url, and that the service runs")
        self.after = after


_HINTS = {
    401: "check rerank_api_key",
    403: "check rerank_api_key and what it may use",
    404: "check rerank_base_url and rerank_model",
    413: "lower rerank_batch or rerank_max_chars",
    422: "lower rerank_batch, and check rerank_model",
}


def _seconds(value: str | None) -> float | None:
    return float(value) if value is not None and value.isdecimal() else None


def _options(settings: Mapping[str, object], name: str, path: str, base: str | None, model: str | None) -> HttpOptions:
    address = settings["rerank_base_url"] or base
    if not address:
        raise SettingsError(f"the reranker {name!r} needs an address", hint="set rerank_base_url")
    if base is not None and not settings["rerank_base_url"] and settings["rerank_api_key"] is None:
        raise SettingsError(f"the reranker {name!r} needs a key", hint="set rerank_api_key, or rerank_base_url")
    return HttpOptions(
        url=str(address).rstrip("/") + path,
        model=str(settings["rerank_model"] or model) if model is not None else None,
        api_key=settings["rerank_api_key"],  # type: ignore[arg-type]
        retries=settings["rerank_retries"],  # type: ignore[arg-type]
        batch=settings["rerank_batch"],  # type: ignore[arg-type]
    )


def create_tei(settings: Mapping[str, object]) -> HttpReranker:
    """From ``rerank_base_url``; raises ``SettingsError`` without one."""
    return HttpReranker("tei", TEI, _options(settings, "tei", "/rerank", None, None))


def create_cohere(settings: Mapping[str, object]) -> HttpReranker:
    """Cohere, or a service of its shape at ``rerank_base_url``; raises ``SettingsError`` without a key for Cohere's."""
    options = _options(settings, "cohere", "/v2/rerank", "https://api.cohere.com", "rerank-multilingual-v3.0")
    return HttpReranker("cohere", COHERE, options)


def create_jina(settings: Mapping[str, object]) -> HttpReranker:
    """Jina, or a service of its shape at ``rerank_base_url``; raises ``SettingsError`` without a key for Jina's."""
    options = _options(settings, "jina", "/v1/rerank", "https://api.jina.ai", "jina-reranker-v2-base-multilingual")
    return HttpReranker("jina", COHERE, options)
