"""One committed state of a kb. Every read has its scope as a condition of its statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seamline.errors import NotFoundError, QueryError
from seamline.store.digest import digest
from seamline.store.memory_snapshot import not_found
from seamline.store.postgres import keyword
from seamline.store.postgres.kb import Kb
from seamline.store.postgres.options import Options
from seamline.store.postgres.rows import VECTOR, check_vector, cosines_of, storable, unpack_document, vector_from
from seamline.store.postgres.scoping import condition
from seamline.store.postgres.session import Session
from seamline.store.records import chunk_from_json, state_from_json
from seamline.types import (
    Binding,
    Chunk,
    ChunkId,
    Document,
    DocumentId,
    Hit,
    IngestState,
    KbStatistics,
    KeywordQuery,
    Scope,
    VectorName,
)

if TYPE_CHECKING:
    from seamline.ports import Vector

_PAGE = 256
_DENSE_MARGIN = 32
"""Rows fetched beyond a pool's depth: pgvector ranks in float32, the pool is ranked in double precision."""


class PostgresSnapshot:
    """One committed state; usable from several threads."""

    def __init__(self, session: Session, kb: Kb, options: Options) -> None:
        self._session = session
        self._kb = kb
        self._options = options

    def statistics(self, scope: Scope) -> KbStatistics:
        """Counts of what the scope admits; ``average_length`` in terms a chunk, 0.0 without chunks."""
        ((documents,),) = self._rows(scope, "SELECT count(*) FROM seamline.documents d WHERE {scope}")
        ((vectors,),) = self._rows(scope, f"SELECT count(*) FROM seamline.vectors v {_OF_VECTOR}")
        languages = self._rows(
            scope,
            "SELECT coalesce(c.language, 'und'), count(*), sum(c.length)"
            f" FROM seamline.chunks c {_OF_CHUNK} GROUP BY 1 ORDER BY 1",
        )
        chunks = sum(count for _, count, _ in languages)
        return KbStatistics(
            documents=documents,
            chunks=chunks,
            vectors=vectors,
            generation=self._kb.generation,
            average_length=sum(int(terms) for _, _, terms in languages) / chunks if chunks else 0.0,
            languages={tag: count for tag, count, _ in languages},
        )

    def documents(self, scope: Scope) -> Iterator[Document]:
        """Every admitted document, by id, read in pages."""
        self._check(scope)
        return self._documents(scope)

    def document(self, scope: Scope, document_id: DocumentId) -> Document:
        """One document; raises ``NotFoundError``, in the same words when it is absent and when not admitted."""
        rows = self._rows(
            scope,
            "SELECT d.payload, d.language, d.readable_by FROM seamline.documents d WHERE {scope} AND d.id = %(one)s",
            one=document_id if storable(document_id) else None,
        )
        if not rows:
            raise not_found(document_id)
        return unpack_document(*rows[0])

    def chunks(self, scope: Scope, ids: Sequence[ChunkId]) -> list[Chunk]:
        """The admitted ones of these chunks, in the order of ``ids``."""
        rows = self._rows(
            scope, f"SELECT c.id, c.payload FROM seamline.chunks c {_OF_CHUNK} AND {_THESE}", ids=_storable(ids)
        )
        found = {key: chunk_from_json(payload) for key, payload in rows}
        return [found[key] for key in ids if key in found]

    def chunks_of(self, scope: Scope, document_id: DocumentId) -> list[Chunk]:
        """A document's chunks by ``chunk_index``, then id; raises ``NotFoundError``."""
        self.document(scope, document_id)
        rows = self._rows(
            scope, f"SELECT c.payload FROM seamline.chunks c {_OF_CHUNK} AND d.id = %(one)s", one=document_id
        )
        chunks = [chunk_from_json(payload) for (payload,) in rows]
        return sorted(chunks, key=lambda chunk: (chunk.chunk_index, chunk.id))

    def dense_pool(self, scope: Scope, vector: Vector, depth: int | None, name: VectorName = "child") -> list[Hit]:
        """Nearest chunks by exact cosine; a zero vector has cosine 0 with everything."""
        _check_depth(depth)
        self._check(scope)
        query = self._query_vector(vector)
        order = ""
        if depth is not None:
            order = (
                " ORDER BY coalesce(nullif(coalesce(v.half::vector, v.single) <=> %(query)s::vector, 'NaN'), 1), c.id"
                " LIMIT %(fetched)s"
            )
        rows = self._rows(
            scope,
            f"SELECT c.id, c.language, {VECTOR} FROM seamline.vectors v {_OF_VECTOR} AND v.name = %(name)s{order}",
            name=name,
            query="[" + ",".join(map(repr, query.tolist())) + "]",
            fetched=None if depth is None else depth + max(_DENSE_MARGIN, depth // 4),
        )
        scores = cosines_of({row[0]: vector_from(row[2], row[3]) for row in rows}, query)
        hits = [Hit(row[0], scores[row[0]], row[1]) for row in rows]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:depth]

    def cosines(
        self, scope: Scope, vector: Vector, ids: Sequence[ChunkId], name: VectorName = "child"
    ) -> list[float | None]:
        """The cosine that ``dense_pool`` gives each chunk."""
        self._check(scope)
        query = self._query_vector(vector)
        rows = self._rows(
            scope,
            f"SELECT c.id, {VECTOR} FROM seamline.vectors v {_OF_VECTOR} AND v.name = %(name)s AND {_THESE}",
            name=name,
            ids=_storable(ids),
        )
        known = cosines_of({row[0]: vector_from(row[1], row[2]) for row in rows}, query)
        return [known.get(key) for key in ids]

    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        """Best chunks with a score above 0, every phrase and none of the excluded terms."""
        _check_depth(depth)
        self._check(scope)
        return keyword.pool(self._session, self._kb, self._options, scope, query, depth)

    def keyword_scores(self, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> list[float | None]:
        """The score of each chunk by its terms alone: phrases and exclusions decide membership of a pool only."""
        admitted = self._rows(scope, f"SELECT c.id FROM seamline.chunks c {_OF_CHUNK} AND {_THESE}", ids=_storable(ids))
        inside = {key for (key,) in admitted}
        scores = keyword.scores(self._session, self._kb, self._options, scope, query, sorted(inside))
        return [scores.get(key, 0.0) if key in inside else None for key in ids]

    def matched_terms(self, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> list[tuple[str, ...]]:
        """The query's terms that occur in each chunk, sorted; empty outside the scope."""
        rows = self._rows(
            scope,
            "SELECT c.id, array_agg(p.term ORDER BY p.term) FROM seamline.chunks c"
            f" JOIN seamline.postings p ON p.chunk = c.number {_OF_CHUNK} AND {_THESE}"
            " AND p.kb = %(kb)s AND p.term = ANY(%(terms)s::bytea[]) GROUP BY c.id",
            ids=_storable(ids),
            terms=keyword.encoded(query.terms),
        )
        found = {key: tuple(sorted(term.decode("utf-8") for term in terms)) for key, terms in rows}
        return [found.get(key, ()) for key in ids]

    def binding(self, scope: Scope) -> Binding | None:
        """What the kb was derived with."""
        self._check(scope)
        return self._kb.binding

    def states(self, scope: Scope, source: str | None = None) -> dict[DocumentId, IngestState]:
        """States by document id; of several sources' states for one id, that of the first source by name.

        A principal who is not the owner sees only states of documents that the scope admits.
        """
        visible = (
            ""
            if scope.principal.owner
            else (" AND document_id IN (SELECT d.id FROM seamline.documents d WHERE {scope})")
        )
        rows = self._rows(
            scope,
            "SELECT payload FROM seamline.states WHERE kb = %(kb)s"
            " AND (%(source)s::text IS NULL OR source = %(source)s)"
            f"{visible} ORDER BY source, document_id",
            source=source,
        )
        found: dict[DocumentId, IngestState] = {}
        for (payload,) in rows:
            state = state_from_json(payload)
            found.setdefault(state.document_id, state)
        return found

    def known_vectors(self, scope: Scope, text_hashes: Sequence[str]) -> dict[str, Vector]:
        """Stored ``child`` vectors of admitted chunks by the hash of the embedded text."""
        rows = self._rows(
            scope,
            f"SELECT c.text_sha256, {VECTOR} FROM seamline.vectors v {_OF_VECTOR}"
            " AND v.name = 'child' AND c.text_sha256 = ANY(%(hashes)s::text[])",
            hashes=_storable(text_hashes),
        )
        return {key: vector_from(data, half) for key, data, half in rows}

    def digest(self, scope: Scope) -> str:
        """The digest of all that the scope admits (see :mod:`seamline.store.digest`)."""
        return digest(self.documents(scope), self._derived(scope))

    def _derived(self, scope: Scope) -> Iterator[tuple[Chunk, dict[str, int], dict[VectorName, Vector]]]:
        after: str | None = None
        while page := self._rows(
            scope,
            "SELECT c.id, c.payload, c.number FROM seamline.chunks c"
            f' {_OF_CHUNK} AND (%(after)s::text IS NULL OR c.id > %(after)s COLLATE "C") ORDER BY c.id LIMIT {_PAGE}',
            after=after,
        ):
            numbers = [number for _, _, number in page]
            terms: dict[int, dict[str, int]] = {number: {} for number in numbers}
            vectors: dict[int, dict[VectorName, Vector]] = {number: {} for number in numbers}
            for number, term, count in self._session.query(
                "SELECT chunk, term, frequency FROM seamline.postings WHERE chunk = ANY(%s)", (numbers,)
            ):
                terms[number][term.decode("utf-8")] = count
            for number, name, data, half in self._session.query(
                f"SELECT chunk, name, {VECTOR} FROM seamline.vectors WHERE chunk = ANY(%s)",
                (numbers,),
            ):
                vectors[number][name] = vector_from(data, half)
            for _, payload, number in page:
                yield chunk_from_json(payload), terms[number], vectors[number]
            after = page[-1][0]

    def _documents(self, scope: Scope) -> Iterator[Document]:
        after: str | None = None
        while page := self._rows(
            scope,
            "SELECT d.id, d.payload, d.language, d.readable_by FROM seamline.documents d WHERE {scope}"
            f' AND (%(after)s::text IS NULL OR d.id > %(after)s COLLATE "C") ORDER BY d.id LIMIT {_PAGE}',
            after=after,
        ):
            yield from (unpack_document(*row[1:]) for row in page)
            after = page[-1][0]

    def _rows(self, scope: Scope, sql: str, **parameters: object) -> list[tuple[Any, ...]]:
        """The rows of a statement that has the scope's condition where it says ``{scope}``."""
        self._check(scope)
        admitted, given = condition(scope)
        return self._session.query(sql.replace("{scope}", admitted), {"kb": self._kb.id, **given, **parameters})

    def _query_vector(self, vector: Vector) -> np.ndarray[Any, np.dtype[np.float64]]:
        query = np.asarray(vector, dtype=np.float64)
        if self._kb.binding is not None:
            check_vector(query, self._kb.binding.space.dimension, "the query")
        return query

    def _check(self, scope: Scope) -> None:
        if (scope.principal.workspace, scope.kb) != (self._kb.workspace, self._kb.name):
            raise NotFoundError(
                f"no kb {scope.kb!r} in workspace {scope.principal.workspace!r}",
                hint="check the names of the kb and the workspace",
            )


_OF_CHUNK = "JOIN seamline.documents d ON d.number = c.document WHERE {scope}"
_OF_VECTOR = f"JOIN seamline.chunks c ON c.number = v.chunk {_OF_CHUNK} AND v.kb = %(kb)s"
_THESE = "c.id = ANY(%(ids)s::text[])"


def _storable(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if storable(text)]


def _check_depth(depth: int | None) -> None:
    if depth is not None and depth <= 0:
        raise QueryError(f"a pool of depth {depth} was asked for", hint="depth is at least 1, or None for all")
