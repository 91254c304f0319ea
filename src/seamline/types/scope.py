"""Who asks, and within what: the argument of every store read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seamline.types.documents import DocumentId, Metadata, MetadataValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks. ``owner`` is the local owner of the files and reads everything in the workspace."""

    id: str
    groups: frozenset[str] = frozenset()
    workspace: str = "default"
    owner: bool = False

    def may_read(self, readable_by: frozenset[str] | None) -> bool:
        """Whether an access list admits this principal; ``None`` is a list that was never set: everyone."""
        if self.owner or readable_by is None:
            return True
        return self.id in readable_by or not self.groups.isdisjoint(readable_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one read may see: a required argument of every store read.

    ``metadata_filter`` maps a key to the accepted values; a document must match every key.
    """

    principal: Principal
    kb: str
    document_filter: frozenset[DocumentId] | None = None
    metadata_filter: Mapping[str, frozenset[MetadataValue]] = field(default_factory=dict)

    def admits(self, document_id: DocumentId, readable_by: frozenset[str] | None, metadata: Metadata) -> bool:
        """Whether a document is inside this scope. The reference that every store must agree with."""
        if not self.principal.may_read(readable_by):
            return False
        if self.document_filter is not None and document_id not in self.document_filter:
            return False
        return all(key in metadata and metadata[key] in wanted for key, wanted in self.metadata_filter.items())
