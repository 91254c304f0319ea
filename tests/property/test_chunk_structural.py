from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from seamline.chunk.graphemes import is_boundary
from seamline.chunk.sizes import ChunkSizes
from seamline.chunk.structural import StructuralChunker
from seamline.types import Block, BlockKind, Document
from support.ingest import document

PIECES = st.sampled_from(
    ["word ", "a", ". ", "\n", "\n\n", " ", "\t", "文", "。", "e\u0301", "\u0301", "👩‍👩‍👧", "👍🏽", "🇩🇪", "\u200d",
     "각", "ᄀ", "ᅡ", "क्ष", "กำ", "\u0600", "\u2028", "\u0085", "\xa0", "x" * 40, " " * 60, "\u0301" * 60, "One. "]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=400), st.lists(PIECES, max_size=120).map("".join))
KINDS: st.SearchStrategy[BlockKind] = st.sampled_from(
    ["heading", "paragraph", "list_item", "table_row", "code", "quote", "html"]
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    blocks = []
    for start, end in pairwise(edges):
        if draw(st.booleans()):
            kind = draw(KINDS)
            level = draw(st.integers(1, 4)) if kind == "heading" else None
            blocks.append(
                Block(kind=kind, char_start=start, char_end=end, level=level, group=draw(st.none() | st.integers(0, 2)))
            )
    return document(text, blocks)


@st.composite
def sizes(draw: st.DrawFn) -> ChunkSizes:
    target = draw(st.integers(20, 200))
    most = draw(st.integers(target, 2 * target))
    return ChunkSizes(
        target=target, overlap=draw(st.integers(0, target // 2)), least=draw(st.integers(1, target)), most=most
    )


@settings(deadline=None)
@given(documents(), sizes())
def test_rule_08_spans_are_exact_ids_unique_and_ordinals_dense(source: Document, chosen: ChunkSizes) -> None:
    made = StructuralChunker(chosen).chunk(source).children
    assert all(source.text[chunk.char_start : chunk.char_end] == chunk.text for chunk in made)
    assert [chunk.chunk_index for chunk in made] == list(range(len(made)))
    assert len({chunk.id for chunk in made}) == len(made)
    assert all(chunk.text.strip() for chunk in made)


@settings(deadline=None)
@given(documents(), sizes())
def test_every_visible_character_is_in_a_chunk_and_none_is_too_long(source: Document, chosen: ChunkSizes) -> None:
    made = StructuralChunker(chosen).chunk(source).children
    covered = {index for chunk in made for index in range(chunk.char_start, chunk.char_end)}
    missing = [index for index, char in enumerate(source.text) if not char.isspace() and index not in covered]
    assert not missing
    assert all(len(chunk.text) <= chosen.most for chunk in made)
    starts = [chunk.char_start for chunk in made]
    assert starts == sorted(starts)


@settings(deadline=None)
@given(documents(), sizes())
def test_no_grapheme_cluster_is_divided_that_fits(source: Document, chosen: ChunkSizes) -> None:
    for chunk in StructuralChunker(chosen).chunk(source).children:
        for edge in (chunk.char_start, chunk.char_end):
            if not is_boundary(source.text, edge):
                assert _cluster_length(source.text, edge) > chosen.target - chosen.overlap


def _cluster_length(text: str, inside: int) -> int:
    start, end = inside, inside
    while not is_boundary(text, start):
        start -= 1
    while not is_boundary(text, end):
        end += 1
    return end - start


@settings(deadline=None)
@given(TEXTS, sizes())
def test_a_chunk_is_under_the_minimum_only_where_a_neighbour_cannot_take_it(text: str, chosen: ChunkSizes) -> None:
    made = StructuralChunker(chosen).chunk(document(text)).children
    for index, chunk in enumerate(made):
        if len(chunk.text) < chosen.least:
            for other in (*made[max(0, index - 1) : index], *made[index + 1 : index + 2]):
                span = max(chunk.char_end, other.char_end) - min(chunk.char_start, other.char_start)
                assert span > chosen.target


@settings(deadline=None)
@given(documents(), sizes())
def test_chunking_is_a_function_of_its_input(source: Document, chosen: ChunkSizes) -> None:
    assert StructuralChunker(chosen).chunk(source) == StructuralChunker(chosen).chunk(source)
