"""Bugs in what a read lets through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from contract.broken_stores.planted import BrokenStore
from seamline.errors import NotFoundError
from seamline.store.memory import MemoryWriter
from seamline.store.memory_snapshot import MemorySnapshot, State
from seamline.types import Chunk, ChunkId, Document, DocumentId, Scope

if TYPE_CHECKING:
    from seamline.ports import IndexedChunk, Vector


class _ChunksByIdOnly(MemorySnapshot):
    def chunks(self, scope: Scope, ids: Sequence[ChunkId]) -> list[Chunk]:
        self._check(scope)
        rows = {row.chunk.id: row for rows in self._state.rows.values() for row in rows}
        return [rows[key].chunk for key in ids if key in rows]


class LeaksChunksById(BrokenStore):
    """Who knows a chunk's id gets its text."""

    snapshot = _ChunksByIdOnly
    fails = frozenset({"test_rule_13_a_canary_of_another_tenant_is_in_no_read", "test_every_read_honours_filters"})


class _VectorsForAll(MemorySnapshot):
    def known_vectors(self, scope: Scope, text_hashes: Sequence[str]) -> dict[str, Vector]:
        owner = replace(scope, principal=replace(scope.principal, owner=True))
        return super().known_vectors(owner, text_hashes)


class LeaksVectorsByHash(BrokenStore):
    """Who guesses a text learns whether an unreadable document holds it."""

    snapshot = _VectorsForAll
    fails = frozenset({"test_rule_13_a_canary_of_another_tenant_is_in_no_read"})


class _AnyKb(MemorySnapshot):
    def _check(self, scope: Scope) -> None:
        del scope


class ServesAnyKb(BrokenStore):
    """The scope's kb and workspace are not compared with the store's."""

    snapshot = _AnyKb
    fails = frozenset({"test_a_scope_of_another_kb_or_workspace_is_not_found"})


class _SaysForbidden(MemorySnapshot):
    def document(self, scope: Scope, document_id: DocumentId) -> Document:
        try:
            return super().document(scope, document_id)
        except NotFoundError:
            if document_id in self._state.documents:
                raise NotFoundError(f"document {document_id!r} is not readable by you") from None
            raise


class TellsHiddenFromAbsent(BrokenStore):
    """The error for a hidden document differs from that for an absent one."""

    snapshot = _SaysForbidden
    fails = frozenset({"test_an_unreadable_document_is_not_found_in_the_same_words"})


class _KeepsVectors(MemoryWriter):
    def _drop(self, document_id: DocumentId) -> bool:
        rows = self._draft.rows.get(document_id, ())
        dropped = super()._drop(document_id)
        graves = getattr(self._store, "graves", {})
        graves.update({row.text_sha256: row.vectors["child"] for row in rows if "child" in row.vectors})
        self._store.graves = graves  # type: ignore[attr-defined]
        return dropped


class KeepsVectorsOfRemoved(BrokenStore):
    """A cache of vectors by hash that a removal does not reach."""

    writer = _KeepsVectors
    fails = frozenset(
        {"test_rule_05_a_removed_document_is_nowhere", "test_vectors_are_found_by_the_hash_of_their_text"}
    )

    @contextmanager
    def read(self) -> Iterator[MemorySnapshot]:
        with super().read() as snapshot:
            graves = getattr(self, "graves", {})
            plain = snapshot.known_vectors

            def with_graves(scope: Scope, text_hashes: Sequence[str]) -> dict[str, Vector]:
                return {key: graves[key] for key in text_hashes if key in graves} | plain(scope, text_hashes)

            snapshot.known_vectors = with_graves  # type: ignore[method-assign]
            yield snapshot


class _StringMetadata(MemoryWriter):
    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        text = {key: str(value) for key, value in document.metadata.items()}
        super().put(replace(document, metadata=text), chunks)


class MetadataBecomesText(BrokenStore):
    """Metadata values lose their kind."""

    writer = _StringMetadata
    fails = frozenset(
        {
            "test_documents_and_chunks_come_back_unchanged",
            "test_what_cannot_be_stored_exactly_is_refused",
            "test_metadata_values_match_as_the_scope_says",
            "test_rule_09_filtering_is_ranking_then_dropping",
            "test_every_read_honours_filters",
            "test_filters_see_the_last_put",
        }
    )


def live_view(store: BrokenStore) -> type[MemorySnapshot]:
    """A snapshot class whose state is always the store's last one."""

    class Live(MemorySnapshot):
        @property
        def _state(self) -> State:
            return store._state

        @_state.setter
        def _state(self, state: State) -> None:
            del state

    return Live


class LiveReads(BrokenStore):
    """A reader sees the commits that come while it reads."""

    fails = frozenset({"test_a_snapshot_never_changes", "test_both_legs_can_be_read_at_once"})

    @contextmanager
    def read(self) -> Iterator[MemorySnapshot]:
        self._require_open()
        yield live_view(self)(self._state, self._options, workspace=self._workspace, kb=self._kb)
