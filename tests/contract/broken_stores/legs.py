"""Bugs in the legs: scores, order, and where the pool is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from contract.broken_stores.planted import BrokenStore
from seamline.errors import EmbeddingError
from seamline.folding import holds_phrases
from seamline.store.memory import MemoryStore, MemoryWriter
from seamline.store.memory_snapshot import MemorySnapshot, Row
from seamline.types import ChunkId, DocumentId, Finding, Hit, KeywordQuery, Principal, Scope, VectorName

if TYPE_CHECKING:
    from seamline.ports import Vector


class _DotProduct(MemorySnapshot):
    def _cosines(self, rows: Sequence[Row], vector: Vector, name: VectorName) -> dict[ChunkId, float]:
        known = super()._cosines(rows, vector, name)
        return {
            row.chunk.id: float(np.float32(np.dot(row.vectors[name].astype(np.float32), vector)))
            for row in rows
            if row.chunk.id in known
        }


class CosineNotNormalised(BrokenStore):
    """The dot product of the vectors as they are."""

    snapshot = _DotProduct
    fails = frozenset(
        {
            "test_dense_pool_is_the_exact_cosine_ranking",
            "test_cosines_stay_in_their_range",
            "test_named_vectors_are_kept_apart",
            "test_put_does_not_keep_the_callers_objects",
        }
    )


class _EmptyOnError(MemorySnapshot):
    def dense_pool(self, scope: Scope, vector: Vector, depth: int | None, name: VectorName = "child") -> list[Hit]:
        try:
            return super().dense_pool(scope, vector, depth, name)
        except EmbeddingError:
            return []


class ErrorsAreEmptyPools(BrokenStore):
    """A question that cannot be searched for finds nothing, instead of failing."""

    snapshot = _EmptyOnError
    fails = frozenset({"test_bad_question_vectors_are_refused"})


class _InsertionOrder(MemorySnapshot):
    def dense_pool(self, scope: Scope, vector: Vector, depth: int | None, name: VectorName = "child") -> list[Hit]:
        super().dense_pool(scope, vector, depth, name)
        return self._by_score(super().dense_pool(scope, vector, None, name))[:depth]

    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        super().keyword_pool(scope, query, depth)
        return self._by_score(super().keyword_pool(scope, query, None))[:depth]

    def _by_score(self, hits: list[Hit]) -> list[Hit]:
        known = {hit.chunk_id: hit for hit in hits}
        stored = [row.chunk.id for rows in self._state.rows.values() for row in rows]
        return sorted((known[key] for key in stored if key in known), key=lambda hit: -hit.score)


class TiesByInsertion(BrokenStore):
    """Equal scores in the order in which the chunks were put."""

    snapshot = _InsertionOrder
    fails = frozenset({"test_ties_are_ordered_by_chunk_id"})


class _FilterAfterCut(MemorySnapshot):
    def dense_pool(self, scope: Scope, vector: Vector, depth: int | None, name: VectorName = "child") -> list[Hit]:
        admitted = self._by_id(scope)
        everything = Scope(principal=_owner_of(scope), kb=scope.kb)
        return [hit for hit in super().dense_pool(everything, vector, depth, name) if hit.chunk_id in admitted]


class DenseFilterAfterCut(BrokenStore):
    """The scope is applied to the pool that was cut, so that a narrow scope finds too little."""

    snapshot = _FilterAfterCut
    fails = frozenset({"test_rule_09_filtering_is_ranking_then_dropping"})


class _KeywordUnfiltered(MemorySnapshot):
    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        self._check(scope)
        return super().keyword_pool(Scope(principal=scope.principal, kb=scope.kb), query, depth)


class KeywordIgnoresFilters(BrokenStore):
    """Access lists are honoured, filters are not, on the keyword leg."""

    snapshot = _KeywordUnfiltered
    fails = frozenset(
        {
            "test_rule_09_filtering_is_ranking_then_dropping",
            "test_metadata_values_match_as_the_scope_says",
            "test_filters_see_the_last_put",
            "test_access_lists_name_principals_and_groups",
        }
    )


class _PhrasesAfterCut(MemorySnapshot):
    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        hits = super().keyword_pool(scope, replace(query, phrases=()), depth)
        rows = self._by_id(scope)
        return [hit for hit in hits if holds_phrases(rows[hit.chunk_id].chunk, query.phrases)]


class PhrasesAfterCut(BrokenStore):
    """Phrases are looked for among the best chunks only."""

    snapshot = _PhrasesAfterCut
    fails = frozenset({"test_phrases_hold_exactly"})


class _KeepsPostings(MemoryWriter):
    def _drop(self, document_id: DocumentId) -> bool:
        rows = self._draft.rows.get(document_id, ())
        dropped = super()._drop(document_id)
        if rows:
            self._draft.rows[DocumentId(f"removed {document_id}")] = rows
        return dropped


class StaleFrequencies(BrokenStore):
    """Removed chunks still count in document frequencies and the average length."""

    writer = _KeepsPostings
    fails = frozenset({"test_rule_17_scores_forget_what_was_removed", "test_rule_05_a_removed_document_is_nowhere"})

    def check(self) -> list[Finding]:
        sound = MemoryStore(self._options, workspace=self._workspace, kb=self._kb)
        sound._state = self._state.copy()
        sound._state.rows = {key: rows for key, rows in sound._state.rows.items() if key in sound._state.documents}
        return sound.check()


class _ScopedStatistics(MemorySnapshot):
    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        narrowed = self._state.copy()
        narrowed.documents = self._documents(scope)
        narrowed.rows = {key: self._state.rows[key] for key in narrowed.documents}
        inner = MemorySnapshot(narrowed, self._options, workspace=self._workspace, kb=self._kb)
        return inner.keyword_pool(scope, query, depth)


class ScoresDependOnWhoAsks(BrokenStore):
    """BM25's statistics are those of the scope."""

    snapshot = _ScopedStatistics
    fails = frozenset({"test_scores_do_not_depend_on_who_asks", "test_rule_09_filtering_is_ranking_then_dropping"})


class _Conjunctive(MemorySnapshot):
    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        hits = super().keyword_pool(scope, query, depth)
        matched = self.matched_terms(scope, query, [hit.chunk_id for hit in hits])
        return [hit for hit, terms in zip(hits, matched, strict=True) if len(terms) == len(query.terms)]


class KeywordLegIsConjunctive(BrokenStore):
    """A question is silently turned into AND."""

    snapshot = _Conjunctive
    fails = frozenset(
        {
            "test_keyword_pool_is_bm25",
            "test_completed_scores_are_those_of_the_pools",
            "test_pools_are_ordered_by_the_scores_that_they_show",
            "test_put_replaces_all_chunks_of_a_document",
            "test_access_lists_name_principals_and_groups",
        }
    )


class _CountsTermsOnce(MemorySnapshot):
    def _keyword_scores(self, query: KeywordQuery) -> dict[ChunkId, float]:
        return super()._keyword_scores(replace(query, counts=()))


class RepeatedTermsCountOnce(BrokenStore):
    """How often a question holds a term makes no difference."""

    snapshot = _CountsTermsOnce
    fails = frozenset({"test_keyword_pool_is_bm25"})


def _owner_of(scope: Scope) -> Principal:
    return replace(scope.principal, owner=True)
