"""One committed state of a kb: every read of it, through the scope first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seamline.errors import NotFoundError, QueryError, StoreCorruptError
from seamline.folding import holds_phrases
from seamline.store.digest import digest
from seamline.store.embedded import topk
from seamline.store.embedded.forward import terms_by_row
from seamline.store.embedded.rows import unpack_chunk, unpack_document
from seamline.store.embedded.vectors import check_vector, decoded
from seamline.store.records import state_from_json
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
    from seamline.store.embedded.index import Index
    from seamline.store.embedded.masks import Admitted
    from seamline.store.embedded.postings import PostingsCache
    from seamline.store.embedded.session import Session
    from seamline.store.embedded.vectors import VectorTable

_PAGE = 64


@dataclass(frozen=True, slots=True)
class Engine:
    """What the snapshots of one store share. ``threads`` is ``None`` when the scan is not split."""

    folder: Path
    workspace: str
    kb: str
    cache: PostingsCache
    threads: ThreadPoolExecutor | None
    split: int


class EmbeddedSnapshot:
    """A read transaction together with the index of its generation."""

    def __init__(self, session: Session, index: Index, engine: Engine) -> None:
        self._session = session
        self._index = index
        self._engine = engine

    def statistics(self, scope: Scope) -> KbStatistics:
        """Counts of what the scope admits; ``average_length`` in terms a chunk, 0.0 without chunks."""
        admitted = self._admitted(scope)
        if not admitted.counted:
            # A second thread that counts meanwhile finds the same: which one is kept does not matter.
            admitted.counted.append(self._counted(admitted))
        return admitted.counted[0]

    def _counted(self, admitted: Admitted) -> KbStatistics:
        index = self._index
        lengths = index.lengths[admitted.rows]
        tags = Counter(index.chunks.language_of[admitted.rows].tolist())
        return KbStatistics(
            documents=int(admitted.documents.sum()),
            chunks=len(admitted.rows),
            vectors=self._vector_count(admitted),
            generation=index.generation,
            average_length=float(lengths.sum() / len(lengths)) if len(lengths) else 0.0,
            languages={index.language_names[tag] or "und": count for tag, count in tags.items()},
        )

    def documents(self, scope: Scope) -> Iterator[Document]:
        """Every admitted document, by id, read 64 at a time."""
        places = np.flatnonzero(self._admitted(scope).documents).tolist()
        return (
            document for start in range(0, len(places), _PAGE) for document in self._read(places[start : start + _PAGE])
        )

    def document(self, scope: Scope, document_id: DocumentId) -> Document:
        """One document; raises ``NotFoundError``, in the same words when it is absent and when not admitted."""
        (document,) = self._read([self._place(scope, document_id)])
        return document

    def chunks(self, scope: Scope, ids: Sequence[ChunkId]) -> list[Chunk]:
        """The admitted ones of these chunks, in the order of ``ids``."""
        rows = [row for row in self._rows(scope, ids).tolist() if row >= 0]
        read = dict(zip(rows, self._payloads(rows), strict=True))
        return [read[row] for row in rows]

    def chunks_of(self, scope: Scope, document_id: DocumentId) -> list[Chunk]:
        """A document's chunks by ``chunk_index``, then id; raises ``NotFoundError``."""
        place = self._place(scope, document_id)
        chunks = self._payloads(np.flatnonzero(self._index.document_of_row == place).tolist())
        return sorted(chunks, key=lambda chunk: (chunk.chunk_index, chunk.id))

    def dense_pool(self, scope: Scope, vector: Vector, depth: int | None, name: VectorName = "child") -> list[Hit]:
        """Nearest chunks by exact cosine; a zero vector has cosine 0 with everything."""
        _check_depth(depth)
        admitted = self._admitted(scope)
        table = self._table(vector, name)
        if table is None or not len(admitted.rows):
            return []
        engine = self._engine
        mask = None if admitted.everything else admitted.mask
        return self._hits(*table.pool(vector, depth, mask, engine.threads, engine.split))

    def cosines(
        self, scope: Scope, vector: Vector, ids: Sequence[ChunkId], name: VectorName = "child"
    ) -> list[float | None]:
        """The cosine that ``dense_pool`` gives each chunk."""
        rows = self._rows(scope, ids)
        table = self._table(vector, name)
        if table is None or not self._index.size:
            return [None] * len(ids)
        held, scores = table.cosines(vector, rows)
        return [float(score) if ok else None for ok, score in zip(held & (rows >= 0), scores, strict=True)]

    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        """Best chunks with a score above 0, every phrase and none of the excluded terms."""
        _check_depth(depth)
        admitted = self._admitted(scope)
        if not query.terms or not len(admitted.rows):
            return []
        scores = self._scores(query)
        for term in query.excluded:
            scores[self._engine.cache.impacts(self._index, self._session.query, term).holders()] = 0.0
        if not admitted.everything:
            scores = scores[admitted.rows]
        found = topk.candidates(scores, None if query.phrases else depth, above=0.0)
        rows = found if admitted.everything else admitted.rows[found]
        order = topk.ranked(scores[found], rows, None if query.phrases else depth)
        if query.phrases:
            order = self._holding(query.phrases, rows, order, depth)
        return self._hits(rows[order], scores[found][order])

    def keyword_scores(self, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> list[float | None]:
        """BM25 of each chunk by its terms alone: phrases and exclusions decide membership of a pool only."""
        rows = self._rows(scope, ids)
        if not self._index.size:
            return [None] * len(ids)
        scores = self._scores(query)[rows]
        return [float(score) if row >= 0 else None for row, score in zip(rows, scores, strict=True)]

    def matched_terms(self, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> list[tuple[str, ...]]:
        """The query's terms that occur in each chunk, sorted; empty outside the scope."""
        rows = self._rows(scope, ids)
        matched: list[list[str]] = [[] for _ in ids]
        for term in sorted(query.terms) if self._index.size else ():
            marks = self._engine.cache.holders(self._index, self._session.query, term)[rows]
            for place in np.flatnonzero((marks > 0) & (rows >= 0)).tolist():
                matched[place].append(term)
        return [tuple(terms) for terms in matched]

    def binding(self, scope: Scope) -> Binding | None:
        """What the kb was derived with."""
        self._admitted(scope)
        return self._index.binding

    def states(self, scope: Scope, source: str | None = None) -> dict[DocumentId, IngestState]:
        """States by document id; of several sources' states for one id, that of the first source by name.

        A principal who is not the owner sees only states of documents that the scope admits.
        """
        admitted = self._admitted(scope)
        found: dict[DocumentId, IngestState] = {}
        sql = "SELECT payload FROM states WHERE source = coalesce(?, source) ORDER BY source, document_id"
        for state in (state_from_json(payload) for (payload,) in self._session.query(sql, (source,))):
            place = self._index.document(state.document_id)
            if scope.principal.owner or (place is not None and admitted.documents[place]):
                found.setdefault(state.document_id, state)
        return found

    def known_vectors(self, scope: Scope, text_hashes: Sequence[str]) -> dict[str, Vector]:
        """Stored ``child`` vectors of admitted chunks by the hash of the embedded text."""
        admitted = self._admitted(scope)
        binding = self._index.binding
        if binding is None:
            return {}
        sql = "SELECT text_sha256, ordinal, data FROM vectors WHERE name = 'child' AND text_sha256 IN"
        stored = list(self._session.query_each(sql, list(dict.fromkeys(text_hashes))))
        rows = self._index.rows_of(np.array([ordinal for _, ordinal, _ in stored], dtype=np.int64))
        seen = [item for item, row in zip(stored, rows, strict=True) if row >= 0 and admitted.mask[row]]
        vectors = decoded([data for _, _, data in seen], binding.space.dimension)
        return {key: vector for (key, _, _), vector in zip(seen, vectors, strict=True)}

    def digest(self, scope: Scope) -> str:
        """The digest of all that the scope admits (see :mod:`seamline.store.digest`).

        Holds the term frequencies of the whole kb while it works, about six bytes a posting.
        """
        return digest(self.documents(scope), self._derived(self._admitted(scope)))

    # --- below: rows in, rows out ---

    def _admitted(self, scope: Scope) -> Admitted:
        engine = self._engine
        if (scope.principal.workspace, scope.kb) != (engine.workspace, engine.kb):
            raise NotFoundError(
                f"no kb {scope.kb!r} in workspace {scope.principal.workspace!r}",
                hint="`seamline kb list` shows those that there are",
            )
        return self._index.masks.admitted(scope)

    def _place(self, scope: Scope, document_id: DocumentId) -> int:
        admitted = self._admitted(scope)
        place = self._index.document(document_id)
        if place is None or not admitted.documents[place]:
            raise NotFoundError(
                f"no document {document_id!r}",
                hint="`seamline status --documents` lists those you may read",
            )
        return place

    def _rows(self, scope: Scope, ids: Sequence[ChunkId]) -> NDArray[np.int64]:
        """The row of each admitted chunk, -1 for every other."""
        mask = self._admitted(scope).mask
        rows = [self._index.row(key) for key in ids]
        return np.array([row if row is not None and mask[row] else -1 for row in rows], dtype=np.int64)

    def _read(self, places: list[int]) -> Iterator[Document]:
        documents = self._index.documents
        numbers = documents.numbers[places].tolist()
        sql = "SELECT number, payload FROM document_payloads WHERE number IN"
        payloads = dict(self._session.query_each(sql, numbers))
        for place, number in zip(places, numbers, strict=True):
            yield unpack_document(
                _present(payloads, number, "document"), documents.readable_by[place], documents.metadata[place]
            )

    def _payloads(self, rows: list[int]) -> list[Chunk]:
        ordinals = self._index.chunks.ordinals[rows].tolist() if rows else []
        sql = "SELECT ordinal, payload FROM chunk_payloads WHERE ordinal IN"
        payloads = dict(self._session.query_each(sql, list(dict.fromkeys(ordinals))))
        return [unpack_chunk(_present(payloads, ordinal, "chunk")) for ordinal in ordinals]

    def _table(self, vector: Vector, name: VectorName) -> VectorTable | None:
        if self._index.binding is None:
            return None
        check_vector(vector, self._index.binding.space.dimension, "of the question")
        return self._index.vectors(self._session.query, name, self._engine.folder)

    def _scores(self, query: KeywordQuery) -> NDArray[np.float32]:
        return self._engine.cache.scores(self._index, self._session.query, query.counted())

    def _holding(
        self, phrases: tuple[str, ...], rows: NDArray[Any], order: NDArray[np.intp], depth: int | None
    ) -> NDArray[np.intp]:
        """Those of the ranked positions whose chunk holds every phrase, until there are ``depth`` of them."""
        held: list[int] = []
        for start in range(0, len(order), _PAGE):
            page = order[start : start + _PAGE]
            chunks = self._payloads(rows[page].tolist())
            held += [int(place) for place, chunk in zip(page, chunks, strict=True) if holds_phrases(chunk, phrases)]
            if depth is not None and len(held) >= depth:
                break
        return np.array(held[:depth], dtype=np.intp)

    def _hits(self, rows: NDArray[Any], scores: NDArray[np.float32]) -> list[Hit]:
        ids, language = self._index.chunks.ids, self._index.language
        return [
            Hit(ChunkId(ids[row]), score, language(row))
            for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
        ]

    def _vector_count(self, admitted: Admitted) -> int:
        if admitted.everything:
            ((count,),) = self._session.query("SELECT count(*) FROM vectors", ())
            return int(count)
        stored = self._session.query("SELECT ordinal FROM vectors", ())
        rows = self._index.rows_of(np.fromiter((ordinal for (ordinal,) in stored), np.int64, len(stored)))
        return int(admitted.mask[rows[rows >= 0]].sum())

    def _derived(self, admitted: Admitted) -> Iterator[tuple[Chunk, dict[str, int], dict[VectorName, Vector]]]:
        terms = terms_by_row(self._index, self._session.query)
        binding = self._index.binding
        sql = "SELECT ordinal, name, data FROM vectors WHERE ordinal IN"
        for start in range(0, len(admitted.rows), _PAGE):
            rows = admitted.rows[start : start + _PAGE].tolist()
            ordinals = self._index.chunks.ordinals[rows].tolist()
            vectors: dict[int, dict[VectorName, Vector]] = {ordinal: {} for ordinal in ordinals}
            for ordinal, name, data in self._session.query_each(sql, ordinals) if binding is not None else ():
                vectors[ordinal][name] = decoded([data], binding.space.dimension)[0]  # type: ignore[union-attr]
            for row, ordinal, chunk in zip(rows, ordinals, self._payloads(rows), strict=True):
                yield chunk, terms(row), vectors[ordinal]


def _check_depth(depth: int | None) -> None:
    if depth is not None and depth <= 0:
        raise QueryError(f"a pool of depth {depth} was asked for", hint="depth is at least 1, or None for all")


def _present(payloads: dict[int, bytes], key: int, what: str) -> bytes:
    if key not in payloads:
        raise StoreCorruptError(
            f"a {what} has no payload", hint="restore a backup, or index the sources again; `seamline doctor` says more"
        )
    return payloads[key]
