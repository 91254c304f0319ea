"""Paragraphs of plain text, as blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seamline.types import Block, BlockKind

_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")


def paragraphs(text: str, start: int = 0, end: int | None = None, kind: BlockKind = "paragraph") -> Iterator[Block]:
    """The pieces of ``text[start:end]`` between blank lines, without the whitespace around them."""
    end = len(text) if end is None else end
    position = start
    for gap in _BLANK_LINES.finditer(text, start, end):
        yield from trimmed(text, position, gap.start(), kind)
        position = gap.end()
    yield from trimmed(text, position, end, kind)


def trimmed(text: str, start: int, end: int, kind: BlockKind) -> Iterator[Block]:
    """One block without the whitespace around it; none when there is nothing else."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    if left < len(piece):
        yield Block(kind=kind, char_start=start + left, char_end=start + len(piece.rstrip()))
