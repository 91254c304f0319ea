"""The structural chunker: whole paragraphs, items, tables and code blocks, packed within their section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from seamline.chunk.making import chunked
from seamline.chunk.packing import Draft, joined, packed
from seamline.chunk.sections import sections, whole_subtrees
from seamline.chunk.sizes import ChunkSizes, ParentSizes
from seamline.fingerprint import fingerprint
from seamline.ports import SentenceSplitter
from seamline.types import Chunked, Document, Fingerprint

_ALGORITHM = "structural/2"


class StructuralChunker:
    """Cuts along headings first, then along blocks, and inside a block only where it is too long.

    A heading with all its subsections is one chunk where they fit the target together.
    """

    def __init__(
        self, sizes: ChunkSizes, splitter: SentenceSplitter | None = None, parents: ParentSizes | None = None
    ) -> None:
        """Without a ``splitter``, long blocks are cut by a boundary search of our own; without sizes, no parents."""
        self._sizes = sizes
        self._splitter = splitter
        self._parents = parents

    @property
    def fingerprint(self) -> Fingerprint:
        """Identity of the algorithm, its sizes and its sentence splitter."""
        splitter = None if self._splitter is None else type(self._splitter).__qualname__
        sizes = {"sizes": asdict(self._sizes), "parents": self._parents and asdict(self._parents)}
        return fingerprint("recipe", {"chunker": _ALGORITHM, "splitter": splitter, **sizes})

    def chunk(self, document: Document) -> Chunked:
        """Children with exact spans that together hold every visible character, and their parents."""
        return chunked(document, self._drafts(document), self._parents)

    def _drafts(self, document: Document) -> list[Draft]:
        drafts = [
            draft
            for section in whole_subtrees(sections(document), self._sizes.target)
            for draft in packed(document, section, self._sizes, self._splitter)
        ]
        return joined(document, drafts, self._sizes)


def create(settings: Mapping[str, object], splitter: SentenceSplitter | None = None, **_: object) -> StructuralChunker:
    """The chunker for these settings: ``chunk_chars``, overlap, minimum and maximum, and those of parents."""
    return StructuralChunker(ChunkSizes.of(settings), splitter, ParentSizes.of(settings))
