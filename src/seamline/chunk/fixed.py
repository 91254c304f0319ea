"""The fixed chunker: windows of characters over the whole text, each ended where a reader would pause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from seamline.chunk.cutting import Span, next_stop, trim
from seamline.chunk.making import chunked
from seamline.chunk.packing import Draft, joined, overlapped
from seamline.chunk.sizes import ChunkSizes, ParentSizes
from seamline.fingerprint import fingerprint
from seamline.types import Chunked, Document, Fingerprint

_ALGORITHM = "fixed/1"


class FixedChunker:
    """Takes no notice of structure: for texts that have none, and as the baseline of the others."""

    def __init__(self, sizes: ChunkSizes, parents: ParentSizes | None = None) -> None:
        self._sizes = sizes
        self._parents = parents

    @property
    def fingerprint(self) -> Fingerprint:
        """Identity of the algorithm and its sizes."""
        sizes = {"sizes": asdict(self._sizes), "parents": self._parents and asdict(self._parents)}
        return fingerprint("recipe", {"chunker": _ALGORITHM, **sizes})

    def chunk(self, document: Document) -> Chunked:
        """Children with exact spans, each beginning up to the overlap before the end of the last, and parents."""
        drafts = [Draft(start, end, (), 0, 0) for start, end in windows(document.text, self._sizes)]
        return chunked(document, joined(document, drafts, self._sizes), self._parents)


def windows(text: str, sizes: ChunkSizes) -> Iterator[Span]:
    """Windows of at most ``sizes.target`` characters that together hold every visible character. Linear."""
    position, begin = 0, 0
    while position < len(text):
        stop = next_stop(text, begin, len(text), sizes.target, sizes.least)
        span = trim(text, begin, stop)
        if span is not None and span[1] > position:
            yield span
        # An overlap that would not leave room for anything new is dropped.
        following = overlapped(text, stop, begin + 1, sizes.overlap) if stop < len(text) else stop
        position, begin = stop, following if stop - following < sizes.target // 2 else stop


def create(settings: Mapping[str, object], **_: object) -> FixedChunker:
    """The chunker for these settings: ``chunk_chars``, overlap, minimum and maximum, and those of parents."""
    return FixedChunker(ChunkSizes.of(settings), ParentSizes.of(settings))
