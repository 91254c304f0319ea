"""From blocks to what chunks are packed from: sections of a heading tree, each a row of units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile

from seamline.chunk.cutting import trim
from seamline.chunk.families import Node, families
from seamline.chunk.graphemes import boundary_at_or_after, boundary_at_or_before
from seamline.types import Block, Document

_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")


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
    """A heading with what stands under it, up to the next heading of any level; or several such, joined.

    ``first`` and ``last`` number the sections of the document that it is made of.
    """

    path: tuple[str, ...]
    first: int = 0
    last: int = 0
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
        section.first = section.last = number
    return shown


def whole_subtrees(found: list[Section], most: int) -> Iterator[Section]:
    """Sections in order, those of one subtree joined into one where they are at most ``most`` characters together."""
    nodes = [Node(section.start, section.end, section.path) for section in found]
    for first, last in families(nodes, most):
        if last - first == 1:
            yield found[first]
        else:
            whole = Unit(found[first].start, found[last - 1].end)
            yield Section(shared_path(section.path for section in found[first:last]), first, last - 1, [whole])


def shared_path(paths: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The headings that all paths begin with."""
    return tuple(names[0] for names in takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False)))


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
        end = boundary_at_or_after(text, max(start, block.char_end))
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
        yield from _paragraph(text, begin, gap.start())
        begin = gap.end()
    yield from _paragraph(text, begin, end)


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
