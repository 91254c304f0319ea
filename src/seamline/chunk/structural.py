"""The structural chunker: whole paragraphs, items, tables and code blocks, packed within their section."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import takewhile

from seamline.chunk.ids import ChunkIds
from seamline.chunk.packing import Draft, joined, packed
from seamline.chunk.sections import sections
from seamline.chunk.sizes import ChunkSizes
from seamline.fingerprint import fingerprint
from seamline.ports import SentenceSplitter
from seamline.types import Chunk, Chunked, Document, Fingerprint, Page

_ALGORITHM = "structural/1"


class StructuralChunker:
    """Cuts along headings first, then along blocks, and inside a block only where it is too long."""

    def __init__(self, sizes: ChunkSizes, splitter: SentenceSplitter | None = None) -> None:
        """Without a ``splitter``, long blocks are cut by a boundary search of our own."""
        self._sizes = sizes
        self._splitter = splitter

    @property
    def fingerprint(self) -> Fingerprint:
        """Identity of the algorithm, its sizes and its sentence splitter."""
        splitter = None if self._splitter is None else type(self._splitter).__qualname__
        return fingerprint("recipe", {"chunker": _ALGORITHM, "sizes": asdict(self._sizes), "splitter": splitter})

    def chunk(self, document: Document) -> Chunked:
        """Children with exact spans that together hold every visible character; no parents."""
        drafts = [
            draft
            for number, section in enumerate(sections(document))
            for draft in packed(document, section, number, self._sizes, self._splitter)
        ]
        return Chunked(children=tuple(_chunks(document, joined(document, drafts, self._sizes))))


def _chunks(document: Document, drafts: list[Draft]) -> Iterator[Chunk]:
    ids = ChunkIds(document.id)
    ends = [page.char_end for page in document.pages]
    for index, draft in enumerate(drafts):
        text = document.text[draft.start : draft.end]
        yield Chunk(
            id=ids.next(text, draft.path),
            document_id=document.id,
            text=text,
            char_start=draft.start,
            char_end=draft.end,
            chunk_index=index,
            heading_path=draft.path,
            title=document.title,
            language=document.language,
            pages=_pages(document, ends, draft),
            source_uri=document.provenance.source_uri,
            document_sha256=document.text_sha256,
        )


def _pages(document: Document, ends: list[int], draft: Draft) -> tuple[Page, ...]:
    first = bisect_left(ends, draft.start + 1)
    return tuple(takewhile(lambda page: page.char_start < draft.end, document.pages[first:]))


def create(settings: Mapping[str, object], splitter: SentenceSplitter | None = None) -> StructuralChunker:
    """The chunker for these settings (``chunk_chars``, overlap, minimum and maximum)."""
    return StructuralChunker(ChunkSizes.of(settings), splitter)
