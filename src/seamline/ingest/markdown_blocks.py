"""The leaves of a Markdown document, from the events of pyromark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from seamline.ingest.blocks import paragraphs, trimmed
from seamline.types import Block, BlockKind

_LEAVES: dict[str, BlockKind] = {
    "Heading": "heading",
    "Paragraph": "paragraph",
    "CodeBlock": "code",
    "HtmlBlock": "html",
    "TableHead": "table_row",
    "TableRow": "table_row",
}
_GROUPS = ("List", "Table", "BlockQuote")


def markdown_blocks(text: str) -> tuple[Block, ...]:
    """Ordered leaves that together cover every visible character of ``text``."""
    import pyromark

    options = (
        pyromark.Options.ENABLE_TABLES
        | pyromark.Options.ENABLE_FOOTNOTES
        | pyromark.Options.ENABLE_TASKLISTS
        | pyromark.Options.ENABLE_STRIKETHROUGH
    )
    collector = _Collector()
    for event, span in pyromark.events_with_range(text, options=options):
        collector.take(event, span["start"], span["end"])
    return tuple(_covering(text, _in_code_points(text, collector.leaves)))


@dataclass(slots=True)
class _Collector:
    """Follows the nesting of containers and keeps the leaves, in bytes.

    A tight list item has no paragraph of its own: its text is a leaf from ``open_item`` until something nested
    begins. Where something nested comes first, the item's marker goes to that (``filled`` is false).
    """

    leaves: list[Block] = field(default_factory=list)
    containers: list[tuple[str, int]] = field(default_factory=list)
    groups: int = 0
    open_item: int | None = None
    filled: bool = False
    heading: list[str] | None = None

    def take(self, event: Any, start: int, end: int) -> None:  # noqa: ANN401 (the events are a union of 40 shapes)
        if not isinstance(event, dict):
            self._break(event)
        elif "Start" in event:
            self._start(_tag(event["Start"]), event["Start"], start, end)
        elif "End" in event:
            self._end(_tag(event["End"]), end)
        else:
            self.filled = True
            self._inline(event)

    def _inline(self, event: dict[str, str]) -> None:
        if self.heading is not None and (piece := event.get("Text") or event.get("Code")):
            self.heading.append(piece)

    def _break(self, event: str) -> None:
        if self.heading is not None and event in ("SoftBreak", "HardBreak"):
            self.heading.append(" ")

    def _start(self, tag: str, payload: Any, start: int, end: int) -> None:  # noqa: ANN401
        if tag in _LEAVES or tag in _GROUPS:
            if self.open_item is not None and not self.filled:
                start = self.open_item
            if tag in _LEAVES or self.filled:
                self._close_item(start)
        if tag in _GROUPS:
            self.groups += 1
            self.containers.append((tag, self.groups))
        elif tag == "Item":
            if self.open_item is None or self.filled:
                self.open_item = start
            self.filled = False
        elif tag in _LEAVES:
            level = int(payload["Heading"]["level"][1:]) if tag == "Heading" else None
            self.leaves.append(self._leaf(_LEAVES[tag], start, end, level))
            self.heading = [] if tag == "Heading" else None
        else:
            self.filled = True

    def _end(self, tag: str, end: int) -> None:
        if tag == "Heading" and self.heading is not None:
            title = " ".join("".join(self.heading).split())
            self.leaves[-1] = replace(self.leaves[-1], title=title)
            self.heading = None
        elif tag == "Item":
            self._close_item(end)
        elif tag in _GROUPS:
            self.containers.pop()

    def _close_item(self, end: int) -> None:
        if self.open_item is not None and end > self.open_item:
            self.leaves.append(self._leaf("list_item", self.open_item, end, None))
        self.open_item = None

    def _leaf(self, kind: BlockKind, start: int, end: int, level: int | None) -> Block:
        names = [name for name, _ in self.containers]
        if kind == "paragraph" and names:
            kind = "list_item" if "List" in names else "quote"
        # A table is its own group; all else belongs to the outermost list or quote.
        group = (self.containers[-1] if kind == "table_row" else self.containers[0])[1] if names else None
        return Block(kind=kind, char_start=start, char_end=end, level=level, group=group)


def _tag(payload: object) -> str:
    return payload if isinstance(payload, str) else next(iter(payload))  # type: ignore[call-overload]


def _in_code_points(text: str, leaves: list[Block]) -> Iterator[Block]:
    """Byte offsets become code points; leaves are in order, so that one pass over the bytes is enough."""
    if text.isascii():
        yield from leaves
        return
    encoded = text.encode()
    byte = point = 0
    for leaf in leaves:
        start = point + len(encoded[byte : leaf.char_start].decode())
        end = start + len(encoded[leaf.char_start : leaf.char_end].decode())
        yield replace(leaf, char_start=start, char_end=end)
        byte, point = leaf.char_end, end


def _covering(text: str, leaves: Iterator[Block]) -> Iterator[Block]:
    """Give what lies between leaves (markers, delimiter rows, definitions, rules) to a leaf or make it one."""
    previous: Block | None = None
    position = 0
    for leaf in leaves:
        line = max(position, text.rfind("\n", position, leaf.char_start) + 1)
        gap, leaf = text[position:line], replace(leaf, char_start=line)
        if gap.strip():
            if previous is not None and not any(map(str.isalnum, gap)):
                previous = replace(previous, char_end=line)
            else:
                yield from _tidy(text, previous)
                yield from paragraphs(text, position, line)
                previous = None
        yield from _tidy(text, previous)
        previous, position = leaf, leaf.char_end
    yield from _tidy(text, previous)
    yield from paragraphs(text, position)


def _tidy(text: str, block: Block | None) -> Iterator[Block]:
    if block is not None:
        for tight in trimmed(text, block.char_start, block.char_end, block.kind):
            yield replace(block, char_start=tight.char_start, char_end=tight.char_end)
