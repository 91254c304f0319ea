"""How a sync behaves, how far it is, and what it did."""

from __future__ import annotations

from dataclasses import dataclass, field

from seamline.types.documents import DocumentId
from seamline.types.index import IngestStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOptions:
    """How one sync behaves. ``readable_by=None`` leaves access lists as they are."""

    commit_batch: int
    mass_delete_share: float
    mass_delete_floor: int
    write_timeout_s: float
    allow_mass_delete: bool = False
    dry_run: bool = False
    strict: bool = False
    readable_by: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One document that is not indexed, with the reason and whether trying again may help."""

    document_id: DocumentId
    reason: str
    retryable: bool


@dataclass(slots=True, kw_only=True)
class SyncReport:
    """What a sync did. ``embedded`` counts texts sent to the model; ``reused`` those found in the store."""

    source: str
    dry_run: bool = False
    added: list[DocumentId] = field(default_factory=list)
    replaced: list[DocumentId] = field(default_factory=list)
    skipped: list[DocumentId] = field(default_factory=list)
    removed: list[DocumentId] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    access_changed: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    truncated: int = 0
    window_cuts: int = 0
    clamped: int = 0
    uncovered_chunks: int = 0
    languages: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    generation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a sync stands: entries done of all listed, and what it is doing now."""

    done: int
    total: int
    status: IngestStatus
    document_id: DocumentId | None
    chunks: int
