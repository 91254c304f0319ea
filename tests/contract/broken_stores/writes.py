"""Bugs in commits, rollbacks, locks and checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from contract.broken_stores.planted import BrokenStore
from seamline.store.memory import MemoryWriter
from seamline.types import Binding, Document, DocumentId, IngestState

if TYPE_CHECKING:
    from seamline.ports import IndexedChunk


class RollbackKeeps(BrokenStore):
    """Leaving the context commits what was not committed."""

    fails = frozenset({"test_nothing_is_visible_before_commit", "test_an_error_inside_write_rolls_back"})

    @contextmanager
    def write(self, *, timeout: float = 10.0) -> Iterator[MemoryWriter]:
        with super().write(timeout=timeout) as writer:
            try:
                yield writer
            finally:
                writer.commit()


class _DropsFirst(MemoryWriter):
    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        self._drop(document.id)
        super().put(document, chunks)


class RefusedPutLosesTheOldForm(BrokenStore):
    """The old form of a document is dropped before the new one is checked."""

    writer = _DropsFirst
    fails = frozenset(
        {
            "test_bad_vectors_are_refused",
            "test_duplicate_chunk_ids_are_refused",
            "test_what_cannot_be_stored_exactly_is_refused",
        }
    )


class _TakesOver(MemoryWriter):
    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        for item in chunks:
            self._draft.owners.pop(item.chunk.id, None)
        super().put(document, chunks)

    def _drop(self, document_id: DocumentId) -> bool:
        for row in self._draft.rows.get(document_id, ()):
            self._draft.owners.setdefault(row.chunk.id, document_id)
        return super()._drop(document_id)


class ChunkIdsTakenOver(BrokenStore):
    """A chunk id that another document owns is accepted."""

    writer = _TakesOver
    fails = frozenset({"test_duplicate_chunk_ids_are_refused"})


class TwoWritersAtOnce(BrokenStore):
    """The write lock is not held."""

    fails = frozenset({"test_rule_32_a_second_writer_waits_then_is_told_who_writes"})

    @contextmanager
    def write(self, *, timeout: float = 10.0) -> Iterator[MemoryWriter]:
        del timeout
        self._require_open()
        writer = MemoryWriter(self, self._options)
        try:
            yield writer
        finally:
            writer.close()


class _BindsAnything(MemoryWriter):
    def bind(self, binding: Binding) -> None:
        self._draft.binding = binding


class BindsOverAnotherSpace(BrokenStore):
    """A kb with chunks takes the binding of another space."""

    writer = _BindsAnything
    fails = frozenset({"test_a_kb_is_bound_to_one_space"})


class _OneStateADocument(MemoryWriter):
    def record(self, states: Sequence[IngestState]) -> None:
        for state in states:
            for key in [key for key in self._draft.entries if key[1] == state.document_id]:
                del self._draft.entries[key]
        super().record(states)


class SourcesOverwriteEachOther(BrokenStore):
    """The state of one source replaces another's."""

    writer = _OneStateADocument
    fails = frozenset({"test_ingest_states_are_remembered_by_source"})


class _KeepsGeneration(MemoryWriter):
    def commit(self) -> int:
        self._draft.generation -= 1
        return super().commit()


class GenerationStandsStill(BrokenStore):
    """A commit cannot be told from the one before."""

    writer = _KeepsGeneration
    fails = frozenset({"test_several_commits_in_one_write"})
