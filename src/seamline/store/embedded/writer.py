"""The one writer of a kb: text, postings and vectors in one transaction a commit."""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seamline.errors import (
    EmbeddingError,
    IntegrityError,
    NotFoundError,
    SpaceMismatchError,
    StoreCorruptError,
    StoreError,
)
from seamline.store.embedded import segment_tables
from seamline.store.embedded.failures import translated
from seamline.store.embedded.rows import access_to_json, pack_chunk, pack_document
from seamline.store.embedded.schema import LIVE
from seamline.store.embedded.segments import SegmentBuilder
from seamline.store.embedded.vectors import check_vector, encoded
from seamline.store.records import binding_from_json, binding_to_json, state_to_json
from seamline.types import Binding, Document, DocumentId, IngestState, IngestStatus

if TYPE_CHECKING:
    from seamline.ports import IndexedChunk

_REFUSALS = (EmbeddingError, IntegrityError, NotFoundError)
_KEPT_COMMITS = 10_000
"""Commits whose tokens are kept: a vector cache older than that is built anew."""


@dataclass(frozen=True, slots=True)
class _Packed:
    """A chunk ready to be inserted: nothing about it can be refused any more."""

    id: str
    language: str | None
    payload: bytes
    text_sha256: str
    vectors: tuple[tuple[str, bytes], ...]
    terms: Sequence[str]


class EmbeddedWriter:
    """Changes the kb inside a transaction that its first change opens and ``commit`` or ``end`` closes."""

    def __init__(self, connection: sqlite3.Connection, path: Path, vector_dtype: str) -> None:
        self._connection = connection
        self._path = path
        self._dtype = vector_dtype
        self._builder = SegmentBuilder()
        self._deleted = array("q")
        self._next_ordinal = 0
        self._ended = False

    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        """Add or replace a document; raises ``IntegrityError`` or ``EmbeddingError`` and then changes nothing."""
        with self._changing():
            dimension = self._dimension(document)
            columns = pack_document(document)
            packed = [self._pack(document, item, dimension) for item in chunks]
            self._refuse_taken(document, [item.id for item in packed])
            number = self._put_document(document.id, *columns)
            self._drop_chunks(number)
            self._insert_chunks(number, packed)

    def remove(self, ids: Sequence[DocumentId]) -> int:
        """Remove documents with their chunks; how many there were."""
        with self._changing():
            numbers = [number for number in map(self._number, dict.fromkeys(ids)) if number is not None]
            for number in numbers:
                self._drop_chunks(number)
                self._connection.execute("DELETE FROM document_payloads WHERE number = ?", (number,))
                self._connection.execute("DELETE FROM documents WHERE number = ?", (number,))
            return len(numbers)

    def record(self, states: Sequence[IngestState]) -> None:
        """Remember one state for each pair of source and document; ``REMOVED`` forgets it."""
        with self._changing():
            for payload, state in [(state_to_json(state), state) for state in states]:
                if state.status is IngestStatus.REMOVED:
                    key = (state.source, state.document_id)
                    self._connection.execute("DELETE FROM states WHERE source = ? AND document_id = ?", key)
                else:
                    row = (state.source, state.document_id, payload)
                    self._connection.execute("INSERT OR REPLACE INTO states VALUES (?, ?, ?)", row)

    def set_access(self, document_id: DocumentId, readable_by: frozenset[str] | None) -> None:
        """Change who may read a document; raises ``NotFoundError``."""
        with self._changing():
            number = self._number(document_id)
            if number is None:
                raise NotFoundError(
                    f"no document {document_id!r}",
                    hint="`seamline status --documents` lists them",
                )
            row = (access_to_json(readable_by), number)
            self._connection.execute("UPDATE documents SET readable_by = ? WHERE number = ?", row)

    def bind(self, binding: Binding) -> None:
        """Record what the kb is derived with; raises ``SpaceMismatchError`` over chunks of another space."""
        with self._changing():
            bound = self._binding()
            if bound is not None and bound.space_fingerprint != binding.space_fingerprint and self._has_chunks():
                raise SpaceMismatchError(
                    f"the kb holds chunks of space {bound.space_fingerprint}, not {binding.space_fingerprint}",
                    hint="use the embedder that indexed it, or remove its documents and index them again",
                )
            self._connection.execute("INSERT OR REPLACE INTO bindings VALUES (?, ?)", (LIVE, binding_to_json(binding)))

    def commit(self, *, at_least: int = 0) -> int:
        """Make everything since the last commit visible and durable; the new generation number, at least so high.

        Raises:
            StoreError: it could not be written; the last committed state is intact, and this writer has ended.
        """
        with self._changing():
            self._flush()
            segment_tables.settle(self._connection, np.sort(np.frombuffer(self._deleted, dtype=np.int64)))
            counters = {
                "next_ordinal": self._next_ordinal,
                "generation": max(self._counter("generation") + 1, at_least),
            }
            self._connection.executemany(
                "UPDATE counters SET value = ? WHERE name = ?", [(value, name) for name, value in counters.items()]
            )
            generation = counters["generation"]
            self._connection.execute("INSERT INTO commits VALUES (?, ?)", (generation, os.urandom(16)))
            self._connection.execute("DELETE FROM commits WHERE generation <= ?", (generation - _KEPT_COMMITS,))
            self._connection.execute("COMMIT")
        self._deleted = array("q")
        return generation

    def end(self) -> None:
        """Roll back what was not committed, and refuse further use."""
        self._ended = True
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Open the transaction when needed; when the database fails inside, roll it all back and end."""
        if self._ended:
            raise StoreError("this writer has ended", hint="open another one with store.write()")
        with translated(self._path):
            try:
                if not self._connection.in_transaction:
                    self._connection.execute("BEGIN IMMEDIATE")
                    self._next_ordinal = self._counter("next_ordinal")
                yield
            except BaseException as error:
                # Refusals come before the first statement that changes anything. Everything else (a full disk,
                # Ctrl-C) may have stopped half way through a change, and that must never be committed.
                if not isinstance(error, _REFUSALS) or isinstance(error, StoreCorruptError):
                    self.end()
                raise

    def _dimension(self, document: Document) -> int:
        binding = self._binding()
        if binding is None:
            raise IntegrityError(f"document {document.id!r}: the kb is not bound to a space", hint="bind before put")
        return binding.space.dimension

    def _pack(self, document: Document, item: IndexedChunk, dimension: int) -> _Packed:
        chunk = item.chunk
        if chunk.document_id != document.id:
            raise IntegrityError(
                f"chunk {chunk.id!r} is of {chunk.document_id!r}, not of {document.id!r}",
                hint="put a document with its own chunks; nothing was changed",
            )
        for name, vector in item.vectors.items():
            check_vector(vector, dimension, f"{name} of {chunk.id!r}")
        try:
            "\n".join((item.text_sha256, *item.terms)).encode("utf-8")
        except UnicodeEncodeError as error:
            raise IntegrityError(
                f"a term of chunk {chunk.id!r} is not valid Unicode: {error}", hint="nothing was changed"
            ) from error
        vectors = tuple(
            (name, encoded(vector, self._dtype, f"{name} of {chunk.id!r}")) for name, vector in item.vectors.items()
        )
        return _Packed(chunk.id, chunk.language, pack_chunk(chunk), item.text_sha256, vectors, item.terms)

    def _refuse_taken(self, document: Document, ids: Sequence[str]) -> None:
        twice = sorted(key for key, count in Counter(ids).items() if count > 1)
        if twice:
            self._refuse(twice[0], document, "is given twice")
        sql = (
            "SELECT documents.id FROM chunks JOIN documents ON documents.number = chunks.document"
            " WHERE index_generation = ? AND chunks.id = ?"
        )
        for key in ids:
            owner = self._connection.execute(sql, (LIVE, key)).fetchone()
            if owner is not None and owner[0] != document.id:
                self._refuse(key, document, f"belongs to document {owner[0]!r}")

    def _refuse(self, chunk_id: str, document: Document, why: str) -> None:
        raise IntegrityError(
            f"chunk id {chunk_id!r} of document {document.id!r} {why}",
            hint="chunk ids must be unique in the kb; nothing was changed",
        )

    def _put_document(self, document_id: DocumentId, readable_by: str | None, metadata: str, payload: bytes) -> int:
        ((number,),) = self._connection.execute(
            "INSERT INTO documents (id, readable_by, metadata) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE"
            " SET readable_by = excluded.readable_by, metadata = excluded.metadata RETURNING number",
            (document_id, readable_by, metadata),
        ).fetchall()
        self._connection.execute("INSERT OR REPLACE INTO document_payloads VALUES (?, ?)", (number, payload))
        return int(number)

    def _insert_chunks(self, number: int, packed: Sequence[_Packed]) -> None:
        ordinals = range(self._next_ordinal, self._next_ordinal + len(packed))
        self._next_ordinal += len(packed)
        self._connection.executemany(
            "INSERT INTO chunks (index_generation, id, ordinal, document, language) VALUES (?, ?, ?, ?, ?)",
            [(LIVE, item.id, ordinal, number, item.language) for ordinal, item in zip(ordinals, packed, strict=True)],
        )
        self._connection.executemany(
            "INSERT INTO chunk_payloads VALUES (?, ?)",
            [(ordinal, item.payload) for ordinal, item in zip(ordinals, packed, strict=True)],
        )
        self._connection.executemany(
            "INSERT INTO vectors (ordinal, name, text_sha256, data) VALUES (?, ?, ?, ?)",
            [
                (ordinal, name, item.text_sha256, data)
                for ordinal, item in zip(ordinals, packed, strict=True)
                for name, data in item.vectors
            ],
        )
        for ordinal, item in zip(ordinals, packed, strict=True):
            if self._builder.full:
                self._flush()
            self._builder.add(ordinal, item.terms)

    def _drop_chunks(self, document: int) -> None:
        ordinals = self._connection.execute("SELECT ordinal FROM chunks WHERE document = ?", (document,)).fetchall()
        self._connection.executemany("DELETE FROM chunk_payloads WHERE ordinal = ?", ordinals)
        self._connection.executemany("DELETE FROM vectors WHERE ordinal = ?", ordinals)
        self._connection.execute("DELETE FROM chunks WHERE document = ?", (document,))
        self._deleted.extend(ordinal for (ordinal,) in ordinals)

    def _flush(self) -> None:
        if len(self._builder):
            segment_tables.insert(self._connection, self._builder.build())
            self._builder = SegmentBuilder()

    def _number(self, document_id: DocumentId) -> int | None:
        row = self._connection.execute("SELECT number FROM documents WHERE id = ?", (document_id,)).fetchone()
        return None if row is None else int(row[0])

    def _counter(self, name: str) -> int:
        ((value,),) = self._connection.execute("SELECT value FROM counters WHERE name = ?", (name,)).fetchall()
        return int(value)

    def _binding(self) -> Binding | None:
        row = self._connection.execute("SELECT payload FROM bindings WHERE index_generation = ?", (LIVE,)).fetchone()
        return None if row is None else binding_from_json(row[0])

    def _has_chunks(self) -> bool:
        row = self._connection.execute("SELECT 1 FROM chunks WHERE index_generation = ? LIMIT 1", (LIVE,)).fetchone()
        return row is not None
