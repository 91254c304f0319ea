"""One committed state of the reference store, and every read of it computed the plain way.

It defines what the other stores must return. Nothing is indexed: document frequencies are counted and cosines
computed anew at each read, so that there is no derived state that could go stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from seamline.errors import EmbeddingError, NotFoundError, QueryError
from seamline.folding import holds_phrases
from seamline.store import bm25
from seamline.store.digest import digest
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
    from numpy.typing import NDArray

    from seamline.ports import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``vector_dtype`` is the stored precision of vectors; ``bm25_k1`` and ``bm25_b`` are those of BM25."""

    vector_dtype: Literal["float16", "float32"]
    bm25_k1: float
    bm25_b: float


@dataclass(frozen=True, slots=True)
class Row:
    """One stored chunk: its terms counted, its vectors in the stored precision."""

    chunk: Chunk
    text_sha256: str
    terms: Counter[str]
    vectors: Mapping[VectorName, NDArray[Any]]


@dataclass(slots=True)
class State:
    """All that one generation holds. A writer changes a copy; a published state is never changed."""

    generation: int = 0
    binding: Binding | None = None
    documents: dict[DocumentId, Document] = field(default_factory=dict)
    rows: dict[DocumentId, tuple[Row, ...]] = field(default_factory=dict)
    owners: dict[ChunkId, DocumentId] = field(default_factory=dict)
    entries: dict[tuple[str, DocumentId], IngestState] = field(default_factory=dict)

    def copy(self) -> State:
        """A state that can be changed without changing this one."""
        return replace(
            self,
            documents=dict(self.documents),
            rows=dict(self.rows),
            owners=dict(self.owners),
            entries=dict(self.entries),
        )


class MemorySnapshot:
    """One committed state. Every read goes through the scope first."""

    def __init__(self, state: State, options: Options, *, workspace: str, kb: str) -> None:
        self._state = state
        self._options = options
        self._workspace = workspace
        self._kb = kb

    def statistics(self, scope: Scope) -> KbStatistics:
        """Counts of what the scope admits; ``average_length`` in terms a chunk, 0.0 without chunks."""
        rows = self._rows(scope)
        return KbStatistics(
            documents=len(self._documents(scope)),
            chunks=len(rows),
            vectors=sum(len(row.vectors) for row in rows),
            generation=self._state.generation,
            average_length=sum(row.terms.total() for row in rows) / len(rows) if rows else 0.0,
            languages=dict(Counter(row.chunk.language or "und" for row in rows)),
        )

    def documents(self, scope: Scope) -> Iterator[Document]:
        """Every admitted document, by id."""
        return iter(self._documents(scope).values())

    def document(self, scope: Scope, document_id: DocumentId) -> Document:
        """One document; raises ``NotFoundError``, in the same words when it is absent and when not admitted."""
        document = self._documents(scope).get(document_id)
        if document is None:
            raise not_found(document_id)
        return document

    def chunks(self, scope: Scope, ids: Sequence[ChunkId]) -> list[Chunk]:
        """The admitted ones of these chunks, in the order of ``ids``."""
        rows = self._by_id(scope)
        return [rows[key].chunk for key in ids if key in rows]

    def chunks_of(self, scope: Scope, document_id: DocumentId) -> list[Chunk]:
        """A document's chunks by ``chunk_index``, then id; raises ``NotFoundError``."""
        self.document(scope, document_id)
        chunks = [row.chunk for row in self._state.rows[document_id]]
        return sorted(chunks, key=lambda chunk: (chunk.chunk_index, chunk.id))

    def dense_pool(self, scope: Scope, vector: Vector, depth: int | None, name: VectorName = "child") -> list[Hit]:
        """Nearest chunks by cosine; a zero vector has cosine 0 with everything."""
        rows = self._rows(scope)
        return _pool(rows, self._cosines(rows, vector, name), depth)

    def cosines(
        self, scope: Scope, vector: Vector, ids: Sequence[ChunkId], name: VectorName = "child"
    ) -> list[float | None]:
        """The cosine that ``dense_pool`` gives each chunk."""
        rows = self._by_id(scope)
        known = self._cosines(list(rows.values()), vector, name)
        return [known.get(key) for key in ids]

    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        """Best chunks with a score above 0, every phrase and none of the excluded terms."""
        rows = [
            row
            for row in self._rows(scope)
            if not any(term in row.terms for term in query.excluded) and holds_phrases(row.chunk, query.phrases)
        ]
        scores = self._keyword_scores(query)
        return _pool(rows, {key: score for key, score in scores.items() if score > 0}, depth)

    def keyword_scores(self, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> list[float | None]:
        """BM25 of each chunk by its terms alone: phrases and exclusions decide membership of a pool only."""
        rows = self._by_id(scope)
        scores = self._keyword_scores(query)
        return [scores.get(key, 0.0) if key in rows else None for key in ids]

    def matched_terms(self, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> list[tuple[str, ...]]:
        """The query's terms that occur in each chunk, sorted; empty outside the scope."""
        rows = self._by_id(scope)
        return [
            tuple(sorted(term for term in query.terms if term in rows[key].terms)) if key in rows else () for key in ids
        ]

    def binding(self, scope: Scope) -> Binding | None:
        """What the kb was derived with."""
        self._check(scope)
        return self._state.binding

    def states(self, scope: Scope, source: str | None = None) -> dict[DocumentId, IngestState]:
        """States by document id; of several sources' states for one id, that of the first source by name.

        A principal who is not the owner sees only states of documents that the scope admits.
        """
        documents = self._documents(scope)
        found: dict[DocumentId, IngestState] = {}
        for (of, document_id), state in sorted(self._state.entries.items()):
            visible = scope.principal.owner or document_id in documents
            if visible and source in (None, of):
                found.setdefault(document_id, state)
        return found

    def known_vectors(self, scope: Scope, text_hashes: Sequence[str]) -> dict[str, Vector]:
        """Stored ``child`` vectors of admitted chunks by the hash of the embedded text."""
        wanted = set(text_hashes)
        return {
            row.text_sha256: row.vectors["child"].astype(np.float32)
            for row in self._rows(scope)
            if row.text_sha256 in wanted and "child" in row.vectors
        }

    def digest(self, scope: Scope) -> str:
        """The digest of all that the scope admits (see :mod:`seamline.store.digest`)."""
        rows = self._rows(scope)
        return digest(self.documents(scope), ((row.chunk, row.terms, row.vectors) for row in rows))

    def _check(self, scope: Scope) -> None:
        if (scope.principal.workspace, scope.kb) != (self._workspace, self._kb):
            raise NotFoundError(
                f"no kb {scope.kb!r} in workspace {scope.principal.workspace!r}",
                hint="check the names of the kb and the workspace",
            )

    def _documents(self, scope: Scope) -> dict[DocumentId, Document]:
        self._check(scope)
        return {
            key: document
            for key, document in sorted(self._state.documents.items())
            if scope.admits(key, document.readable_by, document.metadata)
        }

    def _rows(self, scope: Scope) -> list[Row]:
        rows = (row for key in self._documents(scope) for row in self._state.rows[key])
        return sorted(rows, key=lambda row: row.chunk.id)

    def _by_id(self, scope: Scope) -> dict[ChunkId, Row]:
        return {row.chunk.id: row for row in self._rows(scope)}

    def _cosines(self, rows: Sequence[Row], vector: Vector, name: VectorName) -> dict[ChunkId, float]:
        query = np.asarray(vector, dtype=np.float64)
        binding = self._state.binding
        if binding is not None:
            _check_vector(query, binding.space.dimension, "the query")
        unit = _normalised(query)
        return {
            row.chunk.id: float(np.float32(np.clip((_normalised(row.vectors[name]) * unit).sum(), -1.0, 1.0)))
            for row in rows
            if name in row.vectors
        }

    def _keyword_scores(self, query: KeywordQuery) -> dict[ChunkId, float]:
        """Scores of all live chunks that hold a term: statistics are the kb's, whoever asks."""
        live = [row for rows in self._state.rows.values() for row in rows]
        lengths = np.array([row.terms.total() for row in live])
        scores = np.zeros(len(live), dtype=np.float32)
        for term, count in query.counted():
            tf = np.array([row.terms[term] for row in live])
            (holding,) = tf.nonzero()
            if len(holding):
                scores[holding] += np.float32(count) * bm25.impacts(
                    tf[holding],
                    lengths[holding],
                    idf=float(bm25.idf(len(live), len(holding))),
                    average_length=float(lengths.mean()),
                    k1=self._options.bm25_k1,
                    b=self._options.bm25_b,
                )
        return {row.chunk.id: float(score) for row, score in zip(live, scores, strict=True)}


def _pool(rows: Sequence[Row], scores: Mapping[ChunkId, float], depth: int | None) -> list[Hit]:
    if depth is not None and depth <= 0:
        raise QueryError(f"a pool of depth {depth} was asked for", hint="depth is at least 1, or None for all")
    hits = [Hit(row.chunk.id, scores[row.chunk.id], row.chunk.language) for row in rows if row.chunk.id in scores]
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:depth]


def stored_vector(vector: Vector, dimension: int, dtype: np.dtype[Any], what: str) -> NDArray[Any]:
    """A vector as it is kept; raises ``EmbeddingError`` for a wrong dimension or a value that is not finite."""
    _check_vector(vector, dimension, what)
    with np.errstate(over="ignore"):
        stored = np.array(vector, dtype=dtype)
    if not np.isfinite(stored).all():
        raise EmbeddingError(
            f"the vector {what} has values beyond the range of {dtype}", hint="set vector_dtype to float32"
        )
    return stored


def _check_vector(vector: NDArray[Any], dimension: int, what: str) -> None:
    if vector.shape != (dimension,):
        raise EmbeddingError(
            f"the vector {what} has shape {vector.shape}, the kb's space has dimension {dimension}",
            hint="embed with the model that the kb was indexed with",
        )
    if not np.isfinite(vector).all():
        raise EmbeddingError(f"the vector {what} has a value that is not finite", hint="the embedder is at fault")


def _normalised(vector: NDArray[Any]) -> NDArray[np.float64]:
    wide = vector.astype(np.float64)
    norm = float(np.sqrt((wide * wide).sum()))
    return wide / norm if norm > 0 else wide


def not_found(document_id: DocumentId) -> NotFoundError:
    """The error for a document that is absent, and for one that may not be read."""
    return NotFoundError(f"no document {document_id!r}", hint="check the id, and who is asking")
