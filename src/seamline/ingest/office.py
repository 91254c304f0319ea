"""What parsers of zip-based documents share: opening, bounds, and the result."""

from __future__ import annotations

from collections.abc import Mapping

from seamline.ingest.archives import Archive, ArchiveError, EncryptedArchiveError
from seamline.ingest.layout import Layout
from seamline.ingest.quality import measure
from seamline.ports import Parsed
from seamline.types import MetadataValue, ParseStatus


class OfficeParser:
    """A parser whose subclass lays an archive out. Damage is a status, never an exception."""

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract; ``corrupt`` for a container that cannot or must not be expanded, ``encrypted`` for a locked one."""
        layout = Layout()
        try:
            title, metadata = self._lay_out(Archive(data), layout)
        except EncryptedArchiveError as error:
            return Parsed(text="", media_type=media_type, status=ParseStatus.ENCRYPTED, reason=str(error))
        except ArchiveError as error:
            return Parsed(text="", media_type=media_type, status=ParseStatus.CORRUPT, reason=str(error))
        return laid_out(layout, media_type, title=title, metadata=metadata)

    def _lay_out(self, archive: Archive, layout: Layout) -> tuple[str | None, Mapping[str, MetadataValue]]:
        """Lay the content out; the title and the metadata."""
        raise NotImplementedError


def laid_out(
    layout: Layout,
    media_type: str,
    *,
    title: str | None = None,
    metadata: Mapping[str, MetadataValue] | None = None,
    decoder: str | None = None,
    reason: str | None = None,
) -> Parsed:
    """A layout as a parser's result, ``truncated`` with a ``reason``; the title falls back to the first heading."""
    text = layout.text
    headings = (block.title for block in layout.blocks if block.level == 1)
    return Parsed(
        text=text,
        media_type=media_type,
        blocks=tuple(layout.blocks),
        pages=tuple(layout.places),
        title=title or next(headings, None),
        metadata=dict(metadata or {}),
        decoder=decoder,
        quality=measure(text, controls=layout.controls),
        status=ParseStatus.OK if reason is None else ParseStatus.TRUNCATED,
        reason=reason,
    )
