"""Text laid out piece by piece, with blocks and places as ranges of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from seamline.ingest.clean import clean
from seamline.types import Block, BlockKind, Page, PlaceUnit


class Layout:
    """Gathers cleaned pieces: those of one group on lines of their own, a blank line between others.

    ``full`` is true once more than ``most`` characters are laid out; a parser then stops and says so.
    """

    def __init__(self, most: int = 50_000_000) -> None:
        self.blocks: list[Block] = []
        self.places: list[Page] = []
        self.controls = 0
        self.position = 0
        self._most = most
        self._parts: list[str] = []
        self._previous: tuple[BlockKind, int | None] | None = None
        self._groups = 0

    @property
    def text(self) -> str:
        """All pieces, joined."""
        return "".join(self._parts)

    @property
    def full(self) -> bool:
        """Whether the limit is passed."""
        return self.position > self._most

    def group(self) -> int:
        """A number that no other list, table or quote of this text has."""
        self._groups += 1
        return self._groups

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int | None = None,
        group: int | None = None,
        title: str | None = None,
    ) -> None:
        """Lay one piece out, without the whitespace around it; a blank one is nothing, a heading is its own title."""
        cleaned = clean(text)
        self.controls += cleaned.controls
        piece = cleaned.text.strip()
        if not piece:
            return
        if self._previous is not None:
            together = group is not None and self._previous == (kind, group)
            self._append("\n" if together else "\n\n")
        start = self.position
        self._append(piece)
        title = title or (" ".join(piece.split()) if level else None)
        self.blocks.append(
            Block(kind=kind, char_start=start, char_end=self.position, level=level, title=title, group=group)
        )
        self._previous = (kind, group)

    @contextmanager
    def place(self, unit: PlaceUnit, label: str | None) -> Iterator[None]:
        """A page, slide, or whatever the unit is: what is laid out meanwhile lies on it. An empty one still counts."""
        index = self._places_begun
        self._places_begun += 1
        begin = len(self.blocks)
        yield
        if len(self.blocks) > begin:
            start = self.blocks[begin].char_start
            self.places.append(Page(index=index, label=label, char_start=start, char_end=self.position, unit=unit))

    _places_begun = 0

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self.position += len(text)
