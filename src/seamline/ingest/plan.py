"""What a sync works on: the plan that it starts from, and documents on their way into the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seamline.types import (
    Binding,
    Chunk,
    Document,
    DocumentId,
    IngestState,
    IngestStatus,
    SourceEntry,
)


@dataclass(frozen=True, slots=True)
class Work:
    """An entry that is not known to be unchanged, and its last state."""

    entry: SourceEntry
    known: IngestState | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sync starts from: the listing, what is known of it, and what is gone."""

    entries: Sequence[SourceEntry]
    known: Mapping[DocumentId, IngestState]
    gone: Sequence[DocumentId]
    bound: Binding | None


@dataclass(frozen=True, slots=True)
class Ready:
    """A document that is parsed and chunked, waiting for its vectors."""

    document: Document
    chunks: tuple[Chunk, ...]
    state: IngestState
    is_new: bool


def indexed(state: IngestState | None) -> bool:
    """Whether a document stands in the kb by its last state."""
    return state is not None and state.status in (IngestStatus.COMMITTED, IngestStatus.SKIPPED)
