"""Markdown. The text is the source itself, without front matter, so that a citation quotes what is written."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

from seamline.ingest.clean import clean
from seamline.ingest.decode import decode
from seamline.ingest.front_matter import split_front_matter
from seamline.ingest.markdown_blocks import markdown_blocks
from seamline.ingest.quality import measure
from seamline.ports import Parsed


class MarkdownParser:
    """CommonMark with tables, footnotes and front matter."""

    name = "markdown"
    media_types = frozenset({"text/markdown"})

    def __init__(self) -> None:
        self.version = f"1+pyromark-{version('pyromark')}"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract; the title is the front matter's, else the first heading of level 1."""
        decoded, decoder = decode(data)
        cleaned = clean(decoded)
        metadata, text = split_front_matter(cleaned.text)
        blocks = markdown_blocks(text)
        headings = (block.title for block in blocks if block.kind == "heading" and block.level == 1)
        title = metadata.get("title") or next(headings, None)
        language = metadata.get("lang") or metadata.get("language")
        return Parsed(
            text=text,
            media_type=media_type,
            blocks=blocks,
            title=str(title) if title is not None else None,
            language=language if isinstance(language, str) else None,
            metadata=metadata,
            decoder=decoder,
            quality=measure(text, controls=cleaned.controls),
        )


def create(settings: Mapping[str, object]) -> MarkdownParser:  # noqa: ARG001
    """The Markdown parser; it has no settings."""
    return MarkdownParser()
