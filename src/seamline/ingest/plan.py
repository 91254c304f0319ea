"""What a sync works on: the plan that it starts from, and documents on their way into the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
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


INSIDE = "!/"
"""Stands between the id of a document and the name of a file inside it."""


def inside(id_: DocumentId, known: Iterable[DocumentId]) -> list[DocumentId]:
    """The known documents that are files inside a document, at any depth."""
    return [other for other in known if other.startswith(f"{id_}{INSIDE}")]


def gone_from(known: Iterable[DocumentId], listed: Set[DocumentId]) -> list[DocumentId]:
    """What is known and no longer listed; a file inside a listed document is not gone."""
    return sorted(id_ for id_ in known if id_ not in listed and not _roots(id_) & listed)


def _roots(id_: DocumentId) -> set[DocumentId]:
    parts = id_.split(INSIDE)
    return {DocumentId(INSIDE.join(parts[:count])) for count in range(1, len(parts))}
