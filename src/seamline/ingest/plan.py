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
    within: Mapping[DocumentId, Sequence[DocumentId]]
    """The known documents that are files inside a document, at any depth."""


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


def same_content(state: IngestState, known: IngestState | None) -> bool:
    """Whether a document stands in the kb with these bytes, by this recipe, under this version.

    A new version of the same bytes is read again, so that the document says so; its vectors are reused.
    """
    return (
        known is not None
        and indexed(known)
        and (known.content_sha256, known.recipe, known.version) == (state.content_sha256, state.recipe, state.version)
    )


INSIDE = "!/"
"""Stands between the id of a document and the name of a file inside it."""


def within(known: Iterable[DocumentId]) -> dict[DocumentId, list[DocumentId]]:
    """For each document that holds files, those among ``known``, at any depth."""
    found: dict[DocumentId, list[DocumentId]] = {}
    for id_ in known:
        for holder in _roots(id_) if INSIDE in id_ else ():
            found.setdefault(holder, []).append(id_)
    return found


def gone_from(known: Iterable[DocumentId], listed: Set[DocumentId]) -> list[DocumentId]:
    """What is known and no longer listed; a file inside a listed document is not gone."""
    return sorted(id_ for id_ in known if id_ not in listed and not _roots(id_) & listed)


def _roots(id_: DocumentId) -> set[DocumentId]:
    parts = id_.split(INSIDE)
    return {DocumentId(INSIDE.join(parts[:count])) for count in range(1, len(parts))}
