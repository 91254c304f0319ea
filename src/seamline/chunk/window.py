"""The published recipe ``window-1000-200``: character windows exactly as the rag-connector package cuts them.

Windows of ``size`` characters, each shortened to the last pause in its last fifth, each beginning ``overlap``
characters before the end of the one before; spans are those of the text without the whitespace around it. What it
promises is its algorithm, exact spans and determinism; it may divide a grapheme cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from seamline.chunk.making import stated
from seamline.chunk.packing import Draft
from seamline.errors import SettingsError
from seamline.fingerprint import fingerprint
from seamline.types import Chunked, ChunkId, Document, Fingerprint

NAME = "window-1000-200"
SIZE, OVERLAP = 1000, 200
_PAUSES = ("\n\n", "\n", ". ", "? ", "! ", " ")
_SEARCHED_FROM = 0.8


@dataclass(frozen=True, slots=True)
class WindowChunker:
    """Chunks of one size and overlap, with positional ids: they name other texts once the document changes."""

    size: int = SIZE
    overlap: int = OVERLAP

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.size:
            raise SettingsError(
                f"windows of {self.size} characters cannot overlap by {self.overlap}",
                hint="the overlap is at least 0 and smaller than the size",
            )

    @property
    def fingerprint(self) -> Fingerprint:
        """Identity of the published algorithm and its sizes."""
        return fingerprint("recipe", {"chunker": "window/1", "size": self.size, "overlap": self.overlap})

    def chunk(self, document: Document) -> Chunked:
        """Children with the ids ``<document id, case folded>:chunk-<n>``; no parents."""
        drafts = [Draft(start, end, (), 0, 0) for start, end in window_spans(document.text, self.size, self.overlap)]
        prefix = document.id.casefold()
        return Chunked(children=stated(document, drafts, [window_id(prefix, n) for n in range(len(drafts))]))


def window_id(identity: str, number: int) -> ChunkId:
    """The published form of a chunk's id."""
    return ChunkId(f"{identity}:chunk-{number}")


def window_spans(text: str, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """The spans of the windows; one that adds nothing to its predecessor is left out."""
    at = 0
    last = (-1, -1)
    while at < len(text):
        stop = _stop(text, at, size)
        window = text[at:stop]
        begin = at + len(window) - len(window.lstrip())
        finish = begin + len(window.strip())
        if begin < finish and not (begin >= last[0] and finish <= last[1]):
            last = (begin, finish)
            yield last
        at = stop - overlap if stop - overlap > at else stop


def _stop(text: str, at: int, size: int) -> int:
    stop = min(at + size, len(text))
    if stop == len(text):
        return stop
    floor = at + int(size * _SEARCHED_FROM)
    for pause in _PAUSES:
        found = text.rfind(pause, floor, stop)
        if found > floor:
            return found + len(pause)
    return stop


def create(settings: Mapping[str, object], **_: object) -> WindowChunker:  # noqa: ARG001 (the recipe is the setting)
    """The published recipe; no setting changes it."""
    return WindowChunker()
