"""From blocks to what chunks are packed from: sections of a heading tree, each a row of units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

from seamline.chunk.cutting import trim
from seamline.chunk.graphemes import boundary_at_or_after, boundary_at_or_before
from seamline.types import Block, Document

_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
_UNWRAPPED = re.compile(r"[^\n]{241}")
"""Text whose lines are broken to fit a page has none this long: such a line is a paragraph."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A range that is kept whole where it fits. ``rows`` are the places where a table or code may be cut."""

    start: int
    end: int
    heading: bool = False
    rows: tuple[tuple[int, int], ...] = ()
    whole: bool = False

    @property
    def length(self) -> int:
        """In characters."""
        return self.end - self.start


@dataclass(slots=True)
class Section:
    """A heading with what stands under it, up to the next heading of any level; ``number`` counts them."""

    path: tuple[str, ...]
    number: int = 0
    units: list[Unit] = field(default_factory=list)

    @property
    def start(self) -> int:
        """Where its first unit begins."""
        return self.units[0].start

    @property
    def end(self) -> int:
        """Where its last unit ends."""
        return self.units[-1].end


def sections(document: Document) -> list[Section]:
    """The document's sections in order; their units cover every visible character and do not overlap."""
    found = [Section(())]
    path: list[tuple[int, str]] = []
    for unit, block in _units(document):
        if block.kind == "heading":
            level = block.level or 1
            path = [entry for entry in path if entry[0] < level]
            path.append((level, _title(document.text, block)))
            found.append(Section(tuple(title for _, title in path)))
        found[-1].units.append(unit)
    shown = [section for section in found if section.units]
    for number, section in enumerate(shown):
        section.number = number
    return shown


def _title(text: str, block: Block) -> str:
    return block.title or " ".join(text[block.char_start : block.char_end].split())


def _units(document: Document) -> Iterator[tuple[Unit, Block]]:
    """Units with the block that they begin with. The rows of one table are one unit."""
    for _, members in groupby(_spans(document), key=lambda member: _kept_together(member[0])):
        blocks, spans = zip(*members, strict=True)
        first: Block = blocks[0]
        yield (
            Unit(
                start=spans[0][0],
                end=spans[-1][1],
                heading=first.kind == "heading",
                rows=spans if first.kind == "table_row" else (),
                whole=first.kind in ("code", "table_row"),
            ),
            first,
        )


def _kept_together(block: Block) -> object:
    return ("table", block.group) if block.kind == "table_row" and block.group is not None else block.char_start


def _spans(document: Document) -> Iterator[tuple[Block, tuple[int, int]]]:
    """Blocks with their visible range, its edges moved off the inside of grapheme clusters."""
    text = document.text
    position = 0
    for block in _covering(document):
        start = max(position, block.char_start)
        start = boundary_at_or_before(text, start, position) or position
        end = boundary_at_or_after(text, max(start, block.char_end), len(text))
        span = trim(text, start, end)
        if span is not None:
            yield block, span
        position = end


def _covering(document: Document) -> Iterator[Block]:
    """The document's blocks, and paragraphs for the text that none covers."""
    position = 0
    for block in document.blocks:
        yield from _paragraphs(document.text, position, block.char_start)
        yield block
        position = max(position, block.char_end)
    yield from _paragraphs(document.text, position, len(document.text))


def _paragraphs(text: str, start: int, end: int) -> Iterator[Block]:
    begin = start
    for gap in _BLANK_LINES.finditer(text, start, end):
        yield from _lines(text, begin, gap.start())
        begin = gap.end()
    yield from _lines(text, begin, end)


def _lines(text: str, start: int, end: int) -> Iterator[Block]:
    """One paragraph; or one a line, where a line is longer than any that was wrapped."""
    if not _UNWRAPPED.search(text, start, end):
        yield from _paragraph(text, start, end)
        return
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        yield from _paragraph(text, start, stop)
        start = stop


def _paragraph(text: str, start: int, end: int) -> Iterator[Block]:
    if text[start:end].strip():
        yield Block(kind="paragraph", char_start=start, char_end=end)


def glued(units: list[Unit]) -> list[Unit]:
    """Each heading joined to what follows it: a heading alone says nothing about what it heads."""
    joined: list[Unit] = []
    for unit in units:
        if joined and joined[-1].heading:
            heading = joined.pop()
            rows = ((heading.start, unit.rows[0][1]), *unit.rows[1:]) if unit.rows else ()
            joined.append(replace(unit, start=heading.start, rows=rows))
        else:
            joined.append(unit)
    return joined
