"""The Qdrant store: the embedded store keeps the records and the keyword leg, Qdrant answers the dense leg.

The record store's commit is the only one: it decides which points a snapshot sees.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seamline.errors import StoreError
from seamline.store.qdrant.points import NAMES, Point, Points, collection_of, readers_of
from seamline.types import (
    Binding,
    ChunkId,
    Document,
    DocumentId,
    Finding,
    Hit,
    IngestState,
    MetadataValue,
    Principal,
    Scope,
    VectorName,
)

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

    from seamline.ports import IndexedChunk, Vector
    from seamline.store.embedded.snapshot import EmbeddedSnapshot
    from seamline.store.embedded.store import EmbeddedStore
    from seamline.store.embedded.writer import EmbeddedWriter


class QdrantStore:
    """One kb. Many threads may read; in local mode one process may have it open."""

    def __init__(self, records: EmbeddedStore, connect: Callable[[], QdrantClient], *, workspace: str, kb: str) -> None:
        """Connect to nothing yet."""
        self._records = records
        self._connect = connect
        self._collection = collection_of(workspace, kb)
        self._all = Scope(principal=Principal(id="", workspace=workspace, owner=True), kb=kb)
        self._made: Points | None = None
        self._lock = threading.Lock()

    @property
    def kb(self) -> str:
        """The knowledge base's name."""
        return self._records.kb

    @contextmanager
    def read(self) -> Iterator[QdrantSnapshot]:
        """The last committed state."""
        with self._records.read() as snapshot:
            yield QdrantSnapshot(snapshot, self._points)

    @contextmanager
    def write(self, *, timeout: float = 10.0) -> Iterator[QdrantWriter]:
        """The one writer; first undoes what a writer left that died before its commit."""
        with self._records.write(timeout=timeout) as writer:
            with self._records.read() as snapshot:
                commit, binding = snapshot.statistics(self._all).generation, snapshot.binding(self._all)
            self._points().undo_after(commit)
            yield QdrantWriter(writer, self._points(), commit, binding)

    def check(self) -> list[Finding]:
        """The record store's findings, and whether Qdrant holds as many vectors."""
        found = list(self._records.check())
        with self._records.read() as snapshot:
            statistics = snapshot.statistics(self._all)
        held = sum(self._points().count(statistics.generation, name) for name in NAMES)
        if held != statistics.vectors:
            found.append(
                Finding(
                    severity="error",
                    check="qdrant",
                    message=f"Qdrant holds {held} vectors, the records {statistics.vectors}",
                    remedy="copy the kb into a new one with `seamline kb copy`",
                )
            )
        return found

    def capabilities(self) -> Mapping[str, str]:
        """Exact in both legs; where each is answered."""
        return {"dense": "exact", "keyword_scoring": "bm25", "durability": "disk", "dense_engine": "qdrant"}

    def drop(self) -> None:
        """Delete the kb's collection."""
        if self._points().exists():
            self._points().drop()

    def close(self) -> None:
        """Release files and connections; idempotent."""
        self._records.close()
        with self._lock:
            if self._made is not None:
                self._made.close()
                self._made = None

    def _points(self) -> Points:
        with self._lock:
            if self._made is None:
                self._made = Points(self._connect(), self._collection)
            return self._made


class QdrantSnapshot:
    """The record store's snapshot with the dense pool from Qdrant; its scores are the record store's, exact."""

    def __init__(self, records: EmbeddedSnapshot, points: Callable[[], Points]) -> None:
        self._records = records
        self._points = points

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - every other read is the record store's
        return getattr(self._records, name)

    def dense_pool(self, scope: Scope, vector: Vector, depth: int | None, name: VectorName = "child") -> list[Hit]:
        """Nearest chunks by cosine. The record store answers what has no bound, and a question without direction."""
        found = list[tuple[str, str | None]]()
        if depth is None or depth <= 0 or not np.any(vector) or not np.isfinite(vector).all():
            return self._records.dense_pool(scope, vector, depth, name)
        self._records.cosines(scope, vector, [], name)  # refuses a scope or a vector that is not this kb's
        metadata = [[_entry(key, value) for value in wanted] for key, wanted in scope.metadata_filter.items()]
        empty = not all(metadata) or scope.document_filter == frozenset()
        points = self._points()
        if not empty and points.exists():
            commit = self._records.statistics(scope).generation
            found = points.nearest(scope, metadata, commit, vector, name, depth)
        ids = [ChunkId(key) for key, _ in found]
        scores = self._records.cosines(scope, vector, ids, name)
        hits = [
            Hit(key, score, language)
            for key, score, (_, language) in zip(ids, scores, found, strict=True)
            if score is not None
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:depth]


class QdrantWriter:
    """The record store's writer; points are written first and become visible with its commit."""

    def __init__(self, records: EmbeddedWriter, points: Points, commit: int, binding: Binding | None) -> None:
        self._records = records
        self._points = points
        self._commit = commit
        self._dimension = None if binding is None else binding.space.dimension
        self._staged: dict[DocumentId, list[Point]] = {}
        self._ended: set[DocumentId] = set()
        self._access: dict[DocumentId, frozenset[str] | None] = {}

    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        """As the store's writer."""
        self._records.put(document, chunks)
        metadata = [_entry(key, value) for key, value in document.metadata.items()]
        self._staged[document.id] = [
            Point(
                chunk=item.chunk.id,
                document=document.id,
                language=item.chunk.language,
                readers=readers_of(document.readable_by),
                metadata=metadata,
                vectors={name: vector.tolist() for name, vector in item.vectors.items()},
            )
            for item in chunks
            if item.vectors
        ]
        self._ended.add(document.id)
        self._access.pop(document.id, None)

    def remove(self, ids: Sequence[DocumentId]) -> int:
        """As the store's writer."""
        count = self._records.remove(ids)
        self._ended.update(ids)
        for document_id in ids:
            self._staged.pop(document_id, None)
            self._access.pop(document_id, None)
        return count

    def record(self, states: Sequence[IngestState]) -> None:
        """As the store's writer."""
        self._records.record(states)

    def set_access(self, document_id: DocumentId, readable_by: frozenset[str] | None) -> None:
        """As the store's writer; the document's points are written anew, so that open snapshots keep the old list."""
        self._records.set_access(document_id, readable_by)
        self._access[document_id] = readable_by

    def bind(self, binding: Binding) -> None:
        """As the store's writer."""
        self._records.bind(binding)
        self._dimension = binding.space.dimension

    def commit(self) -> int:
        """As the store's writer; raises ``StoreError`` when Qdrant or the record store fails, with nothing visible."""
        number = self._commit + 1
        added = [point for points in self._staged.values() for point in points]
        if self._dimension is not None:
            self._points.prepare(self._dimension)
            for document_id, readable_by in self._access.items():
                readers = readers_of(readable_by)
                before = self._staged.get(document_id) or self._points.of(document_id, self._commit)
                added = [point for point in added if point.document != document_id]
                added += [replace(point, readers=readers) for point in before]
            self._points.add(added, number)
            self._points.end(sorted({*self._ended, *self._access}), number)
        committed = self._records.commit()
        if committed != number:
            raise StoreError(
                f"the record store made commit {committed}, not {number}", hint="`seamline doctor` says what differs"
            )
        self._commit = number
        self._staged.clear()
        self._ended.clear()
        self._access.clear()
        return number


def _entry(key: str, value: MetadataValue) -> str:
    """A key and its value as one keyword: equal for values that are equal in Python."""
    if isinstance(value, str):
        return f"{len(key)}:{key}s:{value}"
    whole = int(value) if isinstance(value, bool | int) or value.is_integer() else value
    return f"{len(key)}:{key}n:{whole!r}"
