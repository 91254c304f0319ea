"""Plain text, logs and source code."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

from seamline.ingest.blocks import paragraphs
from seamline.ingest.clean import clean
from seamline.ingest.decode import decode
from seamline.ingest.quality import measure
from seamline.ingest.sniff import SOURCE_CODE
from seamline.ports import Parsed
from seamline.types import BlockKind


class TextParser:
    """Decodes and cleans; paragraphs are what blank lines separate."""

    name = "text"
    media_types = frozenset({"text/plain", SOURCE_CODE})

    def __init__(self) -> None:
        self.version = f"1+charset-normalizer-{version('charset-normalizer')}"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract; source code becomes ``code`` blocks."""
        text, decoder = decode(data)
        cleaned = clean(text)
        kind: BlockKind = "code" if media_type == SOURCE_CODE else "paragraph"
        return Parsed(
            text=cleaned.text,
            media_type=media_type,
            blocks=tuple(paragraphs(cleaned.text, kind=kind)),
            decoder=decoder,
            quality=measure(cleaned.text, controls=cleaned.controls),
        )


def create(settings: Mapping[str, object]) -> TextParser:  # noqa: ARG001
    """The text parser; it has no settings."""
    return TextParser()
