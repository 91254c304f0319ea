"""Small bugs, each noticed by one conformance test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from contract.broken_stores.planted import BrokenStore
from seamline.conformance.store_case import DIMENSION, binding
from seamline.store.memory import MemoryWriter
from seamline.store.memory_snapshot import MemorySnapshot, State
from seamline.types import ChunkId, Document, DocumentId, Finding, Hit, KbStatistics, KeywordQuery, Scope, VectorName

if TYPE_CHECKING:
    from seamline.ports import IndexedChunk, Vector


class _IgnoresExclusions(MemorySnapshot):
    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        return super().keyword_pool(scope, replace(query, excluded=()), depth)


class ExclusionsIgnored(BrokenStore):
    """``-term`` does nothing."""

    snapshot = _IgnoresExclusions
    fails = frozenset({"test_excluded_terms_keep_chunks_out_of_the_pool", "test_rule_15_text_is_never_syntax"})


class _AllTerms(MemorySnapshot):
    def matched_terms(self, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> list[tuple[str, ...]]:
        return [query.terms if terms else () for terms in super().matched_terms(scope, query, ids)]


class MatchedTermsAreTheQuerys(BrokenStore):
    """A chunk with one of the terms is said to have them all."""

    snapshot = _AllTerms
    fails = frozenset({"test_matched_terms_are_those_that_occur"})


class _PhraseOnly(MemorySnapshot):
    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        hits = super().keyword_pool(scope, query, depth)
        if query.terms or not query.phrases:
            return hits
        return [Hit(row.chunk.id, 1.0, row.chunk.language) for row in self._rows(scope)][:depth]


class PhrasesWithoutTerms(BrokenStore):
    """A question without terms finds every chunk."""

    snapshot = _PhraseOnly
    fails = frozenset({"test_no_terms_no_pool"})


class _RelativeScores(MemorySnapshot):
    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        hits = super().keyword_pool(scope, query, depth)
        if depth is None or not hits:
            return hits
        return [replace(hit, score=float(np.float32(hit.score - hits[-1].score))) for hit in hits]


class ScoresRelativeToThePool(BrokenStore):
    """The scores of a pool depend on where it was cut."""

    snapshot = _RelativeScores
    fails = frozenset(
        {
            "test_rule_18_a_pool_is_a_prefix_of_a_deeper_one",
            "test_rule_09_filtering_is_ranking_then_dropping",
            "test_excluded_terms_keep_chunks_out_of_the_pool",
        }
    )


class _AnyDepth(MemorySnapshot):
    def dense_pool(self, scope: Scope, vector: Vector, depth: int | None, name: VectorName = "child") -> list[Hit]:
        return super().dense_pool(scope, vector, None, name)[: depth if depth is None or depth > 0 else 0]


class DepthZeroIsEmpty(BrokenStore):
    """A depth that makes no sense gives an empty pool."""

    snapshot = _AnyDepth
    fails = frozenset({"test_a_depth_below_one_is_refused"})


class _FillsLanguages(MemorySnapshot):
    def statistics(self, scope: Scope) -> KbStatistics:
        found = super().statistics(scope)
        return replace(found, languages={key: count for key, count in found.languages.items() if key != "und"})


class UnknownLanguagesAreNotCounted(BrokenStore):
    """Chunks without a language are left out of the count by language."""

    snapshot = _FillsLanguages
    fails = frozenset({"test_statistics_count_languages"})


class _BytesOnly(MemoryWriter):
    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        super().put(document, [replace(item, terms=[term.strip("'%_*") for term in item.terms]) for item in chunks])


class TermsAreCleaned(BrokenStore):
    """What looks like syntax is stripped from terms."""

    writer = _BytesOnly
    fails = frozenset({"test_rule_15_text_is_never_syntax"})


class _SkipsSilent(MemoryWriter):
    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        super().put(document, [item for item in chunks if item.terms])


class ChunksWithoutTermsAreLost(BrokenStore):
    """A chunk whose analysis yields nothing is not stored."""

    writer = _SkipsSilent
    fails = frozenset({"test_chunks_without_terms_count_but_never_score"})


class _Adopts(MemoryWriter):
    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        super().put(document, [replace(item, chunk=replace(item.chunk, document_id=document.id)) for item in chunks])


class AdoptsChunksOfOthers(BrokenStore):
    """A chunk that names another document is stored as if it did not."""

    writer = _Adopts
    fails = frozenset({"test_a_chunk_of_another_document_is_refused"})


class _BindsItself(MemoryWriter):
    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        if self._draft.binding is None:
            self._draft.binding = binding()
        super().put(document, chunks)


class UnboundPutIsTaken(BrokenStore):
    """Vectors of no known space are stored."""

    writer = _BindsItself
    fails = frozenset({"test_put_before_bind_is_refused"})


class _AccessOnce(MemoryWriter):
    def set_access(self, document_id: DocumentId, readable_by: frozenset[str] | None) -> None:
        super().set_access(document_id, readable_by)
        self._draft.rows[document_id] = ()


class AccessChangeLosesChunks(BrokenStore):
    """A document must be put anew after its access list changed."""

    writer = _AccessOnce
    fails = frozenset({"test_access_changes_without_a_new_put", "test_access_lists_name_principals_and_groups"})


class _Immortal(MemoryWriter):
    def close(self) -> None:
        """Stays open."""


class WriterOutlivesItsContext(BrokenStore):
    """A writer works on after the lock was given back."""

    writer = _Immortal
    fails = frozenset({"test_a_writer_ends_with_its_context"})


class CheckSeesNothing(BrokenStore):
    """``check`` finds every store in order."""

    fails = frozenset({"test_a_wrong_span_does_not_pass_unnoticed"})

    def check(self) -> list[Finding]:
        return []


class NeverCloses(BrokenStore):
    """A closed store reads on."""

    fails = frozenset({"test_a_closed_store_says_so"})

    def _require_open(self) -> None:
        """Lets everything pass."""


class _CountsGenerations(MemorySnapshot):
    def digest(self, scope: Scope) -> str:
        return f"{super().digest(scope)}-{self._state.generation}"


class DigestCountsGenerations(BrokenStore):
    """The digest changes with every commit."""

    snapshot = _CountsGenerations
    fails = frozenset(
        {
            "test_rule_07_ingesting_twice_gives_the_same_digest",
            "test_rule_05_a_removed_document_is_nowhere",
            "test_rule_13_a_canary_of_another_tenant_is_in_no_read",
            "test_rule_17_scores_forget_what_was_removed",
            "test_bad_vectors_are_refused",
            "test_a_chunk_of_another_document_is_refused",
            "test_duplicate_chunk_ids_are_refused",
            "test_every_read_honours_filters",
            "test_what_cannot_be_stored_exactly_is_refused",
        }
    )


class _TextOnly(MemorySnapshot):
    def digest(self, scope: Scope) -> str:
        return "|".join(document.text_sha256 for document in self._documents(scope).values())


class DigestOfTextsOnly(BrokenStore):
    """The digest does not see terms, vectors or access lists."""

    snapshot = _TextOnly
    fails = frozenset({"test_digest_tells_indexes_apart"})


class _FailsEmpty(MemorySnapshot):
    def dense_pool(self, scope: Scope, vector: Vector, depth: int | None, name: VectorName = "child") -> list[Hit]:
        matrix = np.stack(
            [np.zeros(DIMENSION), *(row.vectors[name] for row in self._rows(scope) if name in row.vectors)]
        )
        assert len(matrix) > 1 or self._state.generation, "an index was expected"
        return super().dense_pool(scope, vector, depth, name)


class NewStoreIsBroken(BrokenStore):
    """A kb that was never written cannot be searched."""

    snapshot = _FailsEmpty
    fails = frozenset({"test_a_new_store_is_empty_not_broken"})


class ReadsAnotherKb(BrokenStore):
    """A kb whose name begins like another's reads that one's documents."""

    fails = frozenset({"test_two_kbs_share_nothing"})
    states_of_k: ClassVar[list[State]] = []

    @contextmanager
    def read(self) -> Iterator[MemorySnapshot]:
        self._require_open()
        state = self._state if self._kb == "k" else self.states_of_k[-1]
        yield MemorySnapshot(state, self._options, workspace=self._workspace, kb=self._kb)

    @contextmanager
    def write(self, *, timeout: float = 10.0) -> Iterator[MemoryWriter]:
        with super().write(timeout=timeout) as writer:
            yield writer
        if self._kb == "k":
            self.states_of_k.append(self._state)
