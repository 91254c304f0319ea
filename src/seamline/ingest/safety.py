"""What a sync must refuse before it changes anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seamline.errors import IdCollisionError, MassDeletionError, VersionConflictError
from seamline.types import DocumentId, IngestState, SourceEntry, SyncOptions


def refuse_collisions(
    entries: Sequence[SourceEntry], states: Mapping[DocumentId, IngestState], source_name: str
) -> None:
    """Raise ``IdCollisionError`` when an entry has the id of another source's document; both are named."""
    for entry in entries:
        other = states.get(entry.id)
        if other is not None and other.source != source_name:
            raise IdCollisionError(
                f"{entry.id!r} of {source_name!r} is already the id of a document of {other.source!r}",
                hint="index a folder above both, or use another --kb",
            )


def refuse_mass_deletion(gone: Sequence[DocumentId], known: int, options: SyncOptions) -> None:
    """Raise ``MassDeletionError`` when ``gone`` of ``known`` documents are more than the options allow."""
    if options.allow_mass_delete or len(gone) <= options.mass_delete_floor:
        return
    if len(gone) > options.mass_delete_share * known:
        raise MassDeletionError(
            f"this sync would remove {len(gone)} of {known} documents; nothing was changed",
            hint="check the path; if they are really gone, repeat with --allow-mass-delete",
        )


def refuse_version_conflict(state: IngestState, known: IngestState | None) -> None:
    """Raise ``VersionConflictError`` when a version that is known came with other bytes."""
    if known is None or state.version is None or known.version != state.version:
        return
    if known.content_sha256 is not None and known.content_sha256 != state.content_sha256:
        raise VersionConflictError(
            f"{state.document_id}: version {state.version!r} came with other bytes than before",
            hint="give changed content a new version",
        )
