"""The one writer of a kb: text, postings and vectors in one transaction a commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg
from psycopg.pq import TransactionStatus

from seamline.errors import (
    EmbeddingError,
    IntegrityError,
    NotFoundError,
    SpaceMismatchError,
    StoreCorruptError,
    StoreError,
)
from seamline.store.postgres.failures import translated
from seamline.store.postgres.rows import check_vector, metadata_rows, pack_document, require_storable, vector_text
from seamline.store.records import binding_from_json, binding_to_json, chunk_to_json, state_to_json
from seamline.types import Binding, Document, DocumentId, IngestState, IngestStatus

if TYPE_CHECKING:
    from seamline.ports import IndexedChunk

_REFUSALS = (EmbeddingError, IntegrityError, NotFoundError)


@dataclass(frozen=True, slots=True)
class _Packed:
    """A chunk ready to be inserted: nothing about it can be refused any more."""

    item: IndexedChunk
    payload: str
    vectors: tuple[tuple[str, str], ...]


class PostgresWriter:
    """Changes the kb inside a transaction that its first change opens and ``commit`` or ``end`` closes."""

    def __init__(self, connection: psycopg.Connection, workspace: str, kb: str, vector_dtype: str) -> None:
        self._connection = connection
        self._names = (workspace, kb)
        self._dtype = vector_dtype
        self._kb = -1
        self._ended = False

    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        """Add or replace a document; raises ``IntegrityError`` or ``EmbeddingError`` and then changes nothing."""
        with self._changing():
            dimension = self._dimension(document)
            payload = pack_document(document)
            require_storable(f"document {document.id!r}", document.id, document.language, *document.readable_by or ())
            metadata = metadata_rows(document.metadata)
            packed = [self._pack(document, item, dimension) for item in chunks]
            self._refuse_taken(document, [item.item.chunk.id for item in packed])
            number = self._put_document(document, payload, metadata)
            self._insert_chunks(number, packed)

    def remove(self, ids: Sequence[DocumentId]) -> int:
        """Remove documents with their chunks; how many there were."""
        with self._changing():
            cursor = self._connection.execute(
                "DELETE FROM seamline.documents WHERE kb = %s AND id = ANY(%s)", (self._kb, list(ids))
            )
            return cursor.rowcount

    def record(self, states: Sequence[IngestState]) -> None:
        """Remember one state for each pair of source and document; ``REMOVED`` forgets it."""
        with self._changing():
            rows = [(state, state_to_json(state)) for state in states]
            require_storable(
                "an ingest state", *(text for state in states for text in (state.source, state.document_id))
            )
            for state, payload in rows:
                key = (self._kb, state.source, state.document_id)
                if state.status is IngestStatus.REMOVED:
                    self._connection.execute(
                        "DELETE FROM seamline.states WHERE kb = %s AND source = %s AND document_id = %s", key
                    )
                else:
                    self._connection.execute(
                        "INSERT INTO seamline.states VALUES (%s, %s, %s, %s)"
                        " ON CONFLICT (kb, source, document_id) DO UPDATE SET payload = excluded.payload",
                        (*key, payload),
                    )

    def set_access(self, document_id: DocumentId, readable_by: frozenset[str] | None) -> None:
        """Change who may read a document; raises ``NotFoundError``."""
        with self._changing():
            require_storable(f"the access list of {document_id!r}", *readable_by or ())
            access = None if readable_by is None else sorted(readable_by)
            cursor = self._connection.execute(
                "UPDATE seamline.documents SET readable_by = %s WHERE kb = %s AND id = %s",
                (access, self._kb, document_id),
            )
            if not cursor.rowcount:
                raise NotFoundError(
                    f"no document {document_id!r}",
                    hint="`seamline status --documents` lists them",
                )

    def bind(self, binding: Binding) -> None:
        """Record what the kb is derived with; raises ``SpaceMismatchError`` over chunks of another space."""
        with self._changing():
            bound = self._binding()
            if bound is not None and bound.space_fingerprint != binding.space_fingerprint and self._has_chunks():
                raise SpaceMismatchError(
                    f"the kb holds chunks of space {bound.space_fingerprint}, not {binding.space_fingerprint}",
                    hint="use the embedder that indexed it, or remove its documents and index them again",
                )
            self._connection.execute(
                "UPDATE seamline.kbs SET binding = %s WHERE id = %s", (binding_to_json(binding), self._kb)
            )

    def commit(self) -> int:
        """Make everything since the last commit visible and durable; the new generation number.

        Raises:
            StoreError: it could not be written, and this writer has ended. When the connection was lost at the very
                commit, only a new read tells whether it was made.
        """
        with self._changing():
            row = self._connection.execute(
                "UPDATE seamline.kbs SET generation = generation + 1 WHERE id = %s RETURNING generation", (self._kb,)
            ).fetchone()
            if row is None:
                raise StoreError("the kb was deleted while it was written", hint="index its sources again")
            self._connection.execute("COMMIT")
        return int(row[0])

    def drop(self) -> None:
        """Delete the kb with everything in it, and commit that; this writer has ended."""
        with self._changing():
            self._connection.execute("DELETE FROM seamline.kbs WHERE id = %s", (self._kb,))
            self._connection.execute("COMMIT")
        self._ended = True

    def end(self) -> None:
        """Roll back what was not committed, and refuse further use."""
        self._ended = True
        if not self._connection.closed and self._connection.info.transaction_status != TransactionStatus.IDLE:
            with translated("roll back"):
                self._connection.execute("ROLLBACK")

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Open the transaction when needed; when the database fails inside, roll it all back and end."""
        if self._ended:
            raise StoreError("this writer has ended", hint="open another one with store.write()")
        with translated("write"):
            try:
                if self._connection.info.transaction_status == TransactionStatus.IDLE:
                    self._connection.execute("BEGIN")
                    self._kb = self._registered()
                yield
            except BaseException as error:
                # Refusals come before the first statement that changes anything. Everything else may have stopped
                # half way through a change, and that must never be committed.
                if not isinstance(error, _REFUSALS) or isinstance(error, StoreCorruptError):
                    self._abandon()
                raise

    def _abandon(self) -> None:
        self._ended = True
        if not self._connection.broken:
            self._connection.execute("ROLLBACK")

    def _registered(self) -> int:
        self._connection.execute(
            "INSERT INTO seamline.kbs (workspace, name) VALUES (%s, %s) ON CONFLICT DO NOTHING", self._names
        )
        row = self._connection.execute(
            "SELECT id FROM seamline.kbs WHERE workspace = %s AND name = %s", self._names
        ).fetchone()
        if row is None:
            raise StoreError(f"kb {self._names[1]!r} was deleted while it was opened", hint="try again")
        return int(row[0])

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
        require_storable(f"chunk {chunk.id!r}", chunk.id, chunk.language, item.text_sha256)
        for name, vector in item.vectors.items():
            check_vector(vector, dimension, f"{name} of {chunk.id!r}")
        try:
            "\n".join(item.terms).encode("utf-8")
        except UnicodeEncodeError as error:
            raise IntegrityError(
                f"a term of chunk {chunk.id!r} is not valid Unicode: {error}", hint="nothing was changed"
            ) from error
        vectors = tuple(
            (name, vector_text(vector, self._dtype, f"{name} of {chunk.id!r}")) for name, vector in item.vectors.items()
        )
        return _Packed(item, chunk_to_json(chunk), vectors)

    def _refuse_taken(self, document: Document, ids: Sequence[str]) -> None:
        twice = sorted(key for key, count in Counter(ids).items() if count > 1)
        taken = self._connection.execute(
            "SELECT c.id, d.id FROM seamline.chunks c JOIN seamline.documents d ON d.number = c.document"
            " WHERE c.kb = %s AND c.id = ANY(%s) AND d.id <> %s ORDER BY c.id LIMIT 1",
            (self._kb, list(ids), document.id),
        ).fetchone()
        why = "is given twice" if twice else f"belongs to document {taken[1]!r}" if taken else None
        if why is not None:
            chunk_id = twice[0] if twice else taken[0] if taken else ""
            raise IntegrityError(
                f"chunk id {chunk_id!r} of document {document.id!r} {why}",
                hint="chunk ids must be unique in the kb; nothing was changed",
            )

    def _put_document(self, document: Document, payload: str, metadata: Sequence[tuple[bytes, bytes]]) -> int:
        access = None if document.readable_by is None else sorted(document.readable_by)
        key = (self._kb, document.id)
        self._connection.execute(
            "DELETE FROM seamline.chunks WHERE document = "
            "(SELECT number FROM seamline.documents WHERE kb = %s AND id = %s)",
            key,
        )
        row = self._connection.execute(
            "INSERT INTO seamline.documents (kb, id, language, readable_by, payload) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT (kb, id) DO UPDATE SET language = excluded.language, readable_by = excluded.readable_by,"
            " payload = excluded.payload RETURNING number",
            (*key, document.language, access, payload),
        ).fetchone()
        if row is None:
            raise StoreError(f"document {document.id!r} was not stored", hint="check the database's row-level policies")
        self._connection.execute("DELETE FROM seamline.metadata WHERE document = %s", row)
        for name, value in metadata:
            self._connection.execute(
                "INSERT INTO seamline.metadata VALUES (%s, %s, %s, %s)", (row[0], self._kb, name, value)
            )
        return int(row[0])

    def _insert_chunks(self, document: int, packed: Sequence[_Packed]) -> None:
        chunks = [item.item.chunk for item in packed]
        rows = self._connection.execute(
            "INSERT INTO seamline.chunks (kb, document, id, language, length, text_sha256, payload, search_text)"
            " SELECT %s, %s, * FROM unnest(%s::text[], %s::text[], %s::int[], %s::text[], %s::text[], %s::text[])"
            " RETURNING id, number",
            (
                self._kb,
                document,
                [chunk.id for chunk in chunks],
                [chunk.language for chunk in chunks],
                [len(item.item.terms) for item in packed],
                [item.item.text_sha256 for item in packed],
                [item.payload for item in packed],
                [_searched(item.item) for item in packed],
            ),
        ).fetchall()
        number_of: dict[str, int] = dict(rows)
        postings = [
            (number_of[item.item.chunk.id], term.encode("utf-8"), count)
            for item in packed
            for term, count in Counter(item.item.terms).items()
        ]
        self._connection.execute(
            "INSERT INTO seamline.postings (kb, chunk, term, frequency)"
            " SELECT %s, * FROM unnest(%s::bigint[], %s::bytea[], %s::int[])",
            (self._kb, *map(list, zip(*postings, strict=True))) if postings else (self._kb, [], [], []),
        )
        vectors = [(number_of[item.item.chunk.id], name, text) for item in packed for name, text in item.vectors]
        column, kind = ("half", "halfvec") if self._dtype == "float16" else ("single", "vector")
        self._connection.execute(
            f"INSERT INTO seamline.vectors (kb, chunk, name, {column})"
            f" SELECT %s, number, name, data::{kind} FROM unnest(%s::bigint[], %s::text[], %s::text[])"
            " AS given(number, name, data)",
            (self._kb, *map(list, zip(*vectors, strict=True))) if vectors else (self._kb, [], [], []),
        )

    def _binding(self) -> Binding | None:
        row = self._connection.execute("SELECT binding FROM seamline.kbs WHERE id = %s", (self._kb,)).fetchone()
        return None if row is None or row[0] is None else binding_from_json(row[0])

    def _has_chunks(self) -> bool:
        row = self._connection.execute("SELECT chunk_count > 0 FROM seamline.kbs WHERE id = %s", (self._kb,)).fetchone()
        return row is not None and bool(row[0])


def _searched(item: IndexedChunk) -> str:
    """What PostgreSQL's own full-text search sees: title, headings and text, without what it cannot hold."""
    chunk = item.chunk
    return "\n".join((chunk.title or "", *chunk.heading_path, chunk.text)).replace("\x00", " ")
