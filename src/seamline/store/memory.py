"""The reference store: everything in this process's memory.

A commit publishes a new state and never changes a published one; that is all that snapshots need.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seamline.errors import IntegrityError, SpaceMismatchError, StoreBusyError, StoreError
from seamline.fingerprint import sha256_text
from seamline.store.memory_snapshot import MemorySnapshot, Options, Row, State, not_found, stored_vector
from seamline.store.records import chunk_from_json, chunk_to_json, document_from_json, document_to_json, state_to_json
from seamline.types import Binding, Document, DocumentId, Finding, IngestState, IngestStatus

if TYPE_CHECKING:
    from seamline.ports import IndexedChunk


def create(settings: Mapping[str, object], *, folder: Path | None, workspace: str, kb: str) -> MemoryStore:
    """A new, empty store of one kb; ``folder`` is not used, for nothing is written to disk."""
    del folder
    return MemoryStore(options_from(settings), workspace=workspace, kb=kb)


def options_from(settings: Mapping[str, object]) -> Options:
    """The options of this store, picked out of all settings."""
    return Options(**{name: settings[name] for name in Options.__dataclass_fields__})  # type: ignore[arg-type]


class MemoryStore:
    """One kb in memory; gone when the process ends. Safe for any number of reading threads and one writer."""

    def __init__(self, options: Options, *, workspace: str, kb: str) -> None:
        self._options = options
        self._workspace = workspace
        self._kb = kb
        self._state = State()
        self._lock = threading.Lock()
        self._closed = False

    @property
    def kb(self) -> str:
        """The knowledge base's name."""
        return self._kb

    @contextmanager
    def read(self) -> Iterator[MemorySnapshot]:
        """The last committed state; raises ``StoreError`` when the store is closed."""
        self._require_open()
        yield MemorySnapshot(self._state, self._options, workspace=self._workspace, kb=self._kb)

    @contextmanager
    def write(self, *, timeout: float = 10.0) -> Iterator[MemoryWriter]:
        """The one writer; raises ``StoreBusyError`` after ``timeout`` seconds, ``StoreError`` when closed."""
        self._require_open()
        if not self._lock.acquire(timeout=max(timeout, 0.0)):
            raise StoreBusyError(
                f"kb {self._kb!r}: another writer of process {os.getpid()} holds the lock (waited {timeout:g} s)",
                hint="try again when it is done, or raise write_timeout_s",
            )
        writer = MemoryWriter(self, self._options)
        try:
            yield writer
        finally:
            writer.close()
            self._lock.release()

    def check(self) -> list[Finding]:
        """Spans and hashes that do not hold; there is no derived state that could disagree."""
        state = self._state
        hashes = [
            key for key, document in state.documents.items() if sha256_text(document.text) != document.text_sha256
        ]
        spans = [
            row.chunk.id
            for key, rows in state.rows.items()
            for row in rows
            if state.documents[key].text[row.chunk.char_start : row.chunk.char_end] != row.chunk.text
        ]
        found = (("text_hash", "text differs from its hash", hashes), ("span", "chunk differs from its span", spans))
        return [
            Finding(
                severity="error",
                check=check,
                message=f"{message}: {len(ids)}",
                remedy="index the documents again",
                samples=tuple(sorted(ids)[:5]),
            )
            for check, message, ids in found
            if ids
        ]

    def capabilities(self) -> Mapping[str, str]:
        """Exact in both legs; not durable."""
        return {"dense": "exact", "keyword_scoring": "bm25", "durability": "process"}

    def close(self) -> None:
        """Refuse further use; open snapshots stay readable."""
        self._closed = True

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError(f"kb {self._kb!r}: the store is closed", hint="open it again")


class MemoryWriter:
    """Changes a copy of the last state; ``commit`` publishes it."""

    def __init__(self, store: MemoryStore, options: Options) -> None:
        self._store = store
        self._dtype = np.dtype(options.vector_dtype)
        self._draft = store._state.copy()
        self._closed = False

    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        """Add or replace a document; raises ``IntegrityError`` or ``EmbeddingError`` and then changes nothing."""
        self._require_open()
        if self._draft.binding is None:
            raise IntegrityError(f"document {document.id!r}: the kb is not bound to a space", hint="bind before put")
        dimension = self._draft.binding.space.dimension
        # Through JSON and back: a copy that shares nothing with the caller's, refused if it could not be stored.
        stored = document_from_json(document_to_json(document))
        rows = tuple(self._row(stored, item, dimension) for item in chunks)
        ids = [row.chunk.id for row in rows]
        twice = sorted(key for key, count in Counter(ids).items() if count > 1)
        taken = sorted(key for key in ids if self._draft.owners.get(key, document.id) != document.id)
        if twice or taken:
            what = f"chunk id {(twice or taken)[0]!r} of document {document.id!r}"
            why = "is given twice" if twice else f"belongs to document {self._draft.owners[taken[0]]!r}"
            raise IntegrityError(f"{what} {why}", hint="chunk ids must be unique in the kb; nothing was changed")
        self._drop(document.id)
        self._draft.documents[document.id] = stored
        self._draft.rows[document.id] = rows
        self._draft.owners.update(dict.fromkeys(ids, document.id))

    def remove(self, ids: Sequence[DocumentId]) -> int:
        """Remove documents with their chunks; how many there were."""
        self._require_open()
        return sum(self._drop(document_id) for document_id in ids)

    def record(self, states: Sequence[IngestState]) -> None:
        """Remember one state for each pair of source and document; ``REMOVED`` forgets it."""
        self._require_open()
        for state in states:
            state_to_json(state)  # refuses what no store could keep
            if state.status is IngestStatus.REMOVED:
                self._draft.entries.pop((state.source, state.document_id), None)
            else:
                self._draft.entries[state.source, state.document_id] = state

    def set_access(self, document_id: DocumentId, readable_by: frozenset[str] | None) -> None:
        """Change who may read a document; raises ``NotFoundError``."""
        self._require_open()
        document = self._draft.documents.get(document_id)
        if document is None:
            raise not_found(document_id)
        self._draft.documents[document_id] = replace(document, readable_by=readable_by)

    def bind(self, binding: Binding) -> None:
        """Record what the kb is derived with; raises ``SpaceMismatchError`` over chunks of another space."""
        self._require_open()
        bound = self._draft.binding
        if bound is not None and self._draft.owners and bound.space_fingerprint != binding.space_fingerprint:
            raise SpaceMismatchError(
                f"the kb holds chunks of space {bound.space_fingerprint}, not {binding.space_fingerprint}",
                hint="use the embedder that indexed it, or remove its documents and index them again",
            )
        self._draft.binding = binding

    def commit(self) -> int:
        """Publish everything since the last commit; the new generation number."""
        self._require_open()
        self._draft.generation += 1
        self._store._state = self._draft
        self._draft = self._draft.copy()
        return self._draft.generation

    def close(self) -> None:
        """Forget what was not committed, and refuse further use."""
        self._closed = True

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError("this writer's context has ended", hint="open another one with store.write()")

    def _drop(self, document_id: DocumentId) -> bool:
        for row in self._draft.rows.pop(document_id, ()):
            del self._draft.owners[row.chunk.id]
        return self._draft.documents.pop(document_id, None) is not None

    def _row(self, document: Document, item: IndexedChunk, dimension: int) -> Row:
        if item.chunk.document_id != document.id:
            raise IntegrityError(f"chunk {item.chunk.id!r} is of {item.chunk.document_id!r}, not of {document.id!r}")
        vectors = {
            name: stored_vector(vector, dimension, self._dtype, f"{name} of {item.chunk.id!r}")
            for name, vector in item.vectors.items()
        }
        return Row(chunk_from_json(chunk_to_json(item.chunk)), item.text_sha256, Counter(item.terms), vectors)
