"""The vectors of one kb as points of one Qdrant collection, each valid for a range of commits.

A point is visible to the snapshots of commits ``born`` to ``died - 1``. Points are written before the record store
commits and become visible by that commit alone; what a crash left half way is undone by the next writer.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException

from seamline.errors import StoreError
from seamline.types import Scope, VectorName

if TYPE_CHECKING:
    from seamline.ports import Vector

ALIVE = 2**53
NAMES: tuple[VectorName, ...] = ("child", "parent", "context")
KEPT_S = 600
"""Seconds that dead points are kept for snapshots that were open when they died."""
_PAGE = 256
_EVERYONE = "*"
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A chunk's vectors with what filters need to know."""

    chunk: str
    document: str
    language: str | None
    readers: list[str]
    metadata: list[str]
    vectors: Mapping[str, list[float]]


def connect(settings: Mapping[str, object], folder: Path) -> QdrantClient:
    """A client of the server that the settings name, or of the local mode in ``folder``."""
    url, secret = settings["qdrant_url"], settings["qdrant_api_key"]
    if url is None:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            return QdrantClient(path=str(folder / "qdrant"), force_disable_check_same_thread=True)  # both legs read
        except RuntimeError as error:
            raise StoreError(
                f"the local vectors in {folder / 'qdrant'} are in use by another process",
                hint="Qdrant's local mode serves one process; set qdrant_url to use a server",
            ) from error
    key: Any = None if secret is None else secret.get_secret_value()  # type: ignore[attr-defined]
    return QdrantClient(url=str(url), api_key=key, timeout=30)


def collection_of(workspace: str, kb: str) -> str:
    """A kb's collection: a name that says nothing and cannot be guessed into another kb's."""
    return "seamline-" + hashlib.sha256(f"{workspace}\n{kb}".encode()).hexdigest()[:32]


def readers_of(readable_by: frozenset[str] | None) -> list[str]:
    """An access list as a payload."""
    return [_EVERYONE] if readable_by is None else sorted(f"={name}" for name in readable_by)


class Points:
    """The collection of one kb. Every call raises ``StoreError`` when Qdrant fails."""

    def __init__(self, client: QdrantClient, name: str) -> None:
        self._client = client
        self._name = name

    def exists(self) -> bool:
        """Whether anything was ever written."""
        return _told(lambda: self._client.collection_exists(self._name))

    def prepare(self, dimension: int) -> None:
        """Make the collection, anew when it is of another dimension (it is empty then)."""
        if self.exists():
            found = _told(lambda: self._client.get_collection(self._name)).config.params.vectors
            sizes = {params.size for params in found.values()} if isinstance(found, dict) else set()
            if sizes == {dimension}:
                return
            self.drop()
        vectors: dict[str, models.VectorParams] = {
            name: models.VectorParams(size=dimension, distance=models.Distance.COSINE) for name in NAMES
        }
        _told(lambda: self._client.create_collection(self._name, vectors_config=vectors))
        for key in ("document", "readers", "metadata"):
            # The graph's links for these fields stay on: without them filtered recall falls apart silently.
            self._index(key, models.PayloadSchemaType.KEYWORD)
        for key in ("born", "died"):
            self._index(key, models.PayloadSchemaType.INTEGER)

    def undo_after(self, commit: int) -> None:
        """Remove what a writer left that died before its commit, and points that no snapshot can see any more."""
        if not self.exists():
            return
        self._delete(_range("born", gt=commit))
        self._set({"died": ALIVE, "died_at": 0}, _all(_range("died", gt=commit), _range("died", lt=ALIVE)))
        self._delete(_all(_range("died", lte=commit), _range("died_at", lt=int(time.time()) - KEPT_S)))

    def add(self, points: Sequence[Point], commit: int) -> None:
        """Points that become visible with a commit."""
        for start in range(0, len(points), _PAGE):
            rows = [
                models.PointStruct(
                    id=str(uuid.uuid4()),
                    vector=dict(point.vectors),
                    payload={
                        "chunk": point.chunk,
                        "document": point.document,
                        "language": point.language,
                        "readers": point.readers,
                        "metadata": point.metadata,
                        "born": commit,
                        "died": ALIVE,
                        "died_at": 0,
                    },
                )
                for point in points[start : start + _PAGE]
            ]
            _told(lambda rows=rows: self._client.upsert(self._name, rows, wait=True))  # type: ignore[misc]

    def end(self, documents: Sequence[str], commit: int) -> None:
        """The points of these documents are invisible from a commit on."""
        for start in range(0, len(documents), _PAGE):
            page = list(documents[start : start + _PAGE])
            self._set(
                {"died": commit, "died_at": int(time.time())},
                _all(_any("document", page), _range("born", lt=commit), _range("died", gt=commit)),
            )

    def of(self, document: str, commit: int) -> list[Point]:
        """A document's points that a commit sees."""
        rows, _ = _told(
            lambda: self._client.scroll(
                self._name, _all(_any("document", [document]), _seen(commit)), limit=100_000, with_vectors=True
            )
        )
        found = []
        for row in rows:
            payload: dict[str, Any] = row.payload or {}
            vectors: Any = row.vector or {}
            kept = {key: payload[key] for key in ("chunk", "document", "language", "readers", "metadata")}
            found.append(Point(**kept, vectors=vectors))
        return found

    def count(self, commit: int, name: str) -> int:
        """How many points with a vector of this name a commit sees."""
        if not self.exists():
            return 0
        wanted = models.Filter(must=[_seen(commit), models.HasVectorCondition(has_vector=name)])
        return int(_told(lambda: self._client.count(self._name, count_filter=wanted, exact=True)).count)

    def nearest(
        self, scope: Scope, metadata: Sequence[Sequence[str]], commit: int, vector: Vector, name: str, depth: int
    ) -> list[tuple[str, str | None]]:
        """Ids and languages of the nearest admitted chunks, at least ``depth`` where there are so many.

        All that tie with the last one come too, so that the caller can order ties.
        """
        conditions = [_seen(commit)]
        principal = scope.principal
        if not principal.owner:
            conditions.append(_any("readers", [_EVERYONE, *sorted(f"={n}" for n in {principal.id, *principal.groups})]))
        if scope.document_filter is not None:
            conditions.append(_any("document", sorted(scope.document_filter)))
        conditions += [_any("metadata", list(accepted)) for accepted in metadata]
        limit = depth + 16
        while True:
            found = _told(
                lambda limit=limit: self._client.query_points(  # type: ignore[misc]
                    self._name,
                    query=vector.tolist(),
                    using=name,
                    query_filter=_all(*conditions),
                    limit=limit,
                    search_params=None if self._local else models.SearchParams(exact=True),
                    with_payload=["chunk", "language"],
                )
            ).points
            if len(found) < limit or found[depth - 1].score - found[-1].score > 1e-5:
                payloads = [row.payload or {} for row in found]
                return [(payload["chunk"], payload["language"]) for payload in payloads]
            limit *= 2

    def drop(self) -> None:
        """Delete the collection."""
        _told(lambda: self._client.delete_collection(self._name))

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _index(self, key: str, kind: models.PayloadSchemaType) -> None:
        if not self._local:
            _told(lambda: self._client.create_payload_index(self._name, key, kind))

    @property
    def _local(self) -> bool:
        return type(self._client._client).__name__ == "QdrantLocal"

    def _delete(self, wanted: models.Filter) -> None:
        _told(lambda: self._client.delete(self._name, models.FilterSelector(filter=wanted), wait=True))

    def _set(self, payload: dict[str, Any], wanted: models.Filter) -> None:
        _told(lambda: self._client.set_payload(self._name, payload, models.FilterSelector(filter=wanted), wait=True))


def _seen(commit: int) -> models.Filter:
    return _all(_range("born", lte=commit), _range("died", gt=commit))


def _all(*conditions: models.Filter) -> models.Filter:
    return models.Filter(must=list(conditions))


def _any(key: str, values: list[str]) -> models.Filter:
    return models.Filter(must=[models.FieldCondition(key=key, match=models.MatchAny(any=values))])


def _range(key: str, **bounds: float) -> models.Filter:
    return models.Filter(must=[models.FieldCondition(key=key, range=models.Range(**bounds))])


def _told(call: Callable[[], Result]) -> Result:
    try:
        return call()
    except (ApiException, QdrantException, OSError, ValueError) as error:
        raise StoreError(
            f"Qdrant failed: {str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__}",
            hint="check qdrant_url and that the server runs; what was committed is kept",
        ) from error
