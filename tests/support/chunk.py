"""Documents, sizes and chunkers for tests of the chunk stage."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from seamline.analyze.sentences import SentencexSplitter
from seamline.chunk.fixed import FixedChunker
from seamline.chunk.graphemes import is_boundary
from seamline.chunk.hybrid import HybridChunker
from seamline.chunk.semantic import SemanticChunker, SemanticParts
from seamline.chunk.sizes import ChunkSizes, ParentSizes
from seamline.chunk.structural import StructuralChunker
from seamline.embed.hash import create as create_hash
from seamline.ports import Chunker, Embedder
from seamline.types import Block, BlockKind, Chunk, Document
from support.ingest import document, settings

if TYPE_CHECKING:
    from seamline.ports import Matrix

MODES = ("structural", "fixed", "semantic", "hybrid")

_PIECES = st.sampled_from(
    ["word ", "a", ". ", "\n", "\n\n", " ", "\t", "文", "。", "e\u0301", "\u0301", "👩‍👩‍👧", "👍🏽", "🇩🇪", "\u200d",
     "각", "ᄀ", "ᅡ", "क्ष", "กำ", "\u0600", "\u2028", "\u0085", "\xa0", "x" * 40, " " * 60, "\u0301" * 60, "One. ",
     "مرحبا بك. ", "שלום ", "\u202e", "ประเทศไทย ", "यह एक वाक्य है। ", "# T\n\n", "- i\n"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=400), st.lists(_PIECES, max_size=120).map("".join))
_KINDS: st.SearchStrategy[BlockKind] = st.sampled_from(
    ["heading", "paragraph", "list_item", "table_row", "code", "quote", "html"]
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Any text under any ordered blocks, which need not cover it."""
    text = draw(TEXTS)
    edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    blocks = []
    for start, end in pairwise(edges):
        if draw(st.booleans()):
            kind = draw(_KINDS)
            level = draw(st.integers(1, 4)) if kind == "heading" else None
            blocks.append(
                Block(kind=kind, char_start=start, char_end=end, level=level, group=draw(st.none() | st.integers(0, 2)))
            )
    return document(text, blocks)


@st.composite
def sizes(draw: st.DrawFn) -> ChunkSizes:
    """Small sizes, so that small texts are cut."""
    target = draw(st.integers(20, 200))
    most = draw(st.integers(target, 2 * target))
    return ChunkSizes(
        target=target, overlap=draw(st.integers(0, target // 2)), least=draw(st.integers(1, target)), most=most
    )


@st.composite
def parent_sizes(draw: st.DrawFn) -> ParentSizes:
    """From smaller than a child to larger than most texts."""
    target = draw(st.integers(10, 600))
    return ParentSizes(target=target, overlap=draw(st.integers(0, target // 2)))


class CountingEmbedder:
    """The stand-in embedder, counting what it is asked for."""

    def __init__(self) -> None:
        self._inner: Embedder = create_hash(settings())
        self.texts: list[str] = []
        self.space = self._inner.space
        self.embed_query = self._inner.embed_query

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.texts.extend(texts)
        return self._inner.embed_passages(texts)


def chunker(mode: str, chosen: ChunkSizes, parents: ParentSizes, percentile: float = 80.0) -> Chunker:
    """A chunker of that mode, with the real sentence splitter and the stand-in embedder."""
    splitter = SentencexSplitter()
    parts = SemanticParts(embedder=CountingEmbedder(), splitter=splitter, percentile=percentile)
    made: dict[str, Chunker] = {
        "structural": StructuralChunker(chosen, splitter, parents),
        "fixed": FixedChunker(chosen, parents),
        "semantic": SemanticChunker(chosen, parts, parents),
        "hybrid": HybridChunker(chosen, parts, parents),
    }
    return made[mode]


def uncovered(source: Document, chunks: Sequence[Chunk]) -> list[int]:
    """Visible characters that lie in none of the chunks."""
    covered = {index for chunk in chunks for index in range(chunk.char_start, chunk.char_end)}
    return [index for index, char in enumerate(source.text) if not char.isspace() and index not in covered]


def cluster_length(text: str, inside: int) -> int:
    """Length of the grapheme cluster that ``inside`` lies in the middle of."""
    start, end = inside, inside
    while not is_boundary(text, start):
        start -= 1
    while not is_boundary(text, end):
        end += 1
    return end - start
