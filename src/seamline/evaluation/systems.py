"""Another retrieval system as the system under test: a service behind a URL."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from seamline.errors import ConnectorOperationalError, MissingExtraError, UsageError
from seamline.types import RankedHit

TIMEOUT_S = 30.0
"""How long one question may take, connecting included."""
BODY_BYTES = 8 << 20
"""Longest answer that is read: fifty hits with their texts are a few hundred kilobytes."""


class _Hit(BaseModel):
    model_config = ConfigDict(extra="ignore")
    document_id: str | None = None
    chunk_id: str | None = None
    score: float | None = None


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")
    hits: list[_Hit]


class HttpSystem:
    """``POST {"query", "top_k"}``, answered by ``{"hits": [{"document_id", "chunk_id", "score"}, ...]}``, best first.

    Redirects are not followed, and proxies are not used. Nothing that the service says gets into a message.
    """

    def __init__(self, url: str, *, timeout_s: float = TIMEOUT_S) -> None:
        """Raises ``MissingExtraError`` without httpx, ``UsageError`` for what is no HTTP URL."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{_public(url)} is not the URL of a service", hint="http://HOST:PORT/PATH")
        try:
            import httpx
        except ImportError as error:
            raise MissingExtraError("asking a service needs httpx", hint='pip install "seamline[connect]"') from error
        self._url, self._shown, self._timeout_s = url, _public(url), timeout_s
        self._client = httpx.Client(timeout=timeout_s, follow_redirects=False, trust_env=False)

    def retrieve(self, query: str, *, top_k: int) -> Sequence[RankedHit]:
        """The service's hits. Raises ``ConnectorOperationalError`` for every answer that is not of the shape."""
        import httpx

        try:
            with self._client.stream("POST", self._url, json={"query": query, "top_k": top_k}) as response:
                if response.status_code != httpx.codes.OK:
                    raise ConnectorOperationalError(f"{self._shown} answered with status {response.status_code}")
                body = b""
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > BODY_BYTES:
                        raise ConnectorOperationalError(f"{self._shown} answered with more than {BODY_BYTES} bytes")
        except httpx.HTTPError as error:
            raise ConnectorOperationalError(f"{self._shown} did not answer: {type(error).__name__}") from error
        try:
            answer = _Answer.model_validate_json(body)
        except ValidationError as error:
            where = ".".join(map(str, error.errors()[0]["loc"])) or "the whole"
            raise ConnectorOperationalError(
                f"{self._shown} answered with another shape, first at: {where}",
                hint='{"hits": [{"document_id": "...", "chunk_id": "...", "score": 1.0}, ...]}, best first',
            ) from error
        if any(hit.score is not None and not math.isfinite(hit.score) for hit in answer.hits):
            raise ConnectorOperationalError(f"{self._shown} gave a score that is not finite")
        return [RankedHit(**hit.model_dump()) for hit in answer.hits]

    def info(self) -> Mapping[str, object]:
        """Where it is, without credentials."""
        return {"kind": "http", "url": self._shown, "timeout_s": self._timeout_s}


def _public(url: str) -> str:
    """A URL without the name, the password and the query that it may carry."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit((parts.scheme, host + port, parts.path, "", ""))
