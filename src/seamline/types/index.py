"""What the store records about a knowledge base beside its documents: binding, states and statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from seamline.types.documents import DocumentId, EmbeddingSpace, Fingerprint, Metadata


class IngestStatus(StrEnum):
    """Where a source's entry stands. Every path ends in one of the last four, or is resumed."""

    QUEUED = "queued"
    PARSING = "parsing"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    COMMITTED = "committed"
    SKIPPED = "skipped"
    FAILED = "failed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """One thing that a source lists. ``revision`` is cheap (size and mtime, an ETag) and changes with it."""

    id: DocumentId
    uri: str
    revision: str
    size: int | None = None
    media_type: str | None = None
    readable_by: frozenset[str] | None = None
    metadata: Metadata = field(default_factory=dict)
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file inside a file, to be read as a document of its own; ``name`` has no folders."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestState:
    """What the last sync made of one entry of one source; kept so that a sync can skip and resume.

    ``readable_by`` is kept of a document that failed, so that it does not return as everyone's. ``recipe`` is
    the fingerprint of parser, chunker, analyzer and space: an entry is unchanged only when both its bytes and
    its recipe are.
    """

    document_id: DocumentId
    source: str
    status: IngestStatus
    revision: str
    content_sha256: str | None = None
    recipe: Fingerprint | None = None
    version: str | None = None
    reason: str | None = None
    retryable: bool = False
    readable_by: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """A short text with its vector, stored to notice a model that changed under the same name."""

    text: str
    vector: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What a knowledge base was derived with. Checked on open: a mismatch is refused, not noticed later."""

    space: EmbeddingSpace
    space_fingerprint: Fingerprint
    chunker_fingerprint: Fingerprint
    analyzer_fingerprint: Fingerprint
    canaries: tuple[Canary, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KbStatistics:
    """Counts of what a scope can see. ``languages`` maps a tag (or ``und``) to its number of chunks."""

    documents: int
    chunks: int
    vectors: int
    generation: int
    average_length: float
    languages: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One result of ``doctor``: what is wrong (or merely worth knowing), and the remedy."""

    severity: str
    check: str
    message: str
    remedy: str | None = None
    samples: tuple[str, ...] = ()
