"""The invariants of every mode, on arbitrary Unicode under arbitrary structure."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from seamline.chunk.graphemes import is_boundary
from seamline.chunk.sizes import ChunkSizes, ParentSizes
from seamline.chunk.window import WindowChunker
from seamline.types import Chunk, Document
from support.chunk import MODES, TEXTS, chunker, cluster_length, documents, parent_sizes, sizes, uncovered
from support.ingest import document

every_mode = pytest.mark.parametrize("mode", MODES)
NO_OVERLAP = ParentSizes(target=300, overlap=0)


def exact(source: Document, chunks: tuple[Chunk, ...]) -> bool:
    return (
        all(source.text[chunk.char_start : chunk.char_end] == chunk.text and chunk.text.strip() for chunk in chunks)
        and [chunk.chunk_index for chunk in chunks] == list(range(len(chunks)))
        and len({chunk.id for chunk in chunks}) == len(chunks)
    )


@every_mode
@settings(deadline=None, max_examples=60)
@given(source=documents(), chosen=sizes(), above=parent_sizes())
def test_rule_08_children_and_parents_are_exact_with_unique_ids(
    mode: str, source: Document, chosen: ChunkSizes, above: ParentSizes
) -> None:
    made = chunker(mode, chosen, above).chunk(source)
    assert exact(source, made.children)
    assert exact(source, made.parents)
    assert not uncovered(source, made.children)
    assert not uncovered(source, made.parents)


@every_mode
@settings(deadline=None, max_examples=60)
@given(source=documents(), chosen=sizes(), above=parent_sizes())
def test_a_child_lies_inside_the_parent_that_it_names(
    mode: str, source: Document, chosen: ChunkSizes, above: ParentSizes
) -> None:
    made = chunker(mode, chosen, above).chunk(source)
    parents = {parent.id: parent for parent in made.parents}
    for child in made.children:
        assert child.parent_id is not None
        parent = parents[child.parent_id]
        assert parent.char_start <= child.char_start <= child.char_end <= parent.char_end
    assert {child.parent_id for child in made.children} == parents.keys()
    for parent in made.parents:
        children = [child for child in made.children if child.parent_id == parent.id]
        assert len(parent.text) <= above.target or len(children) == 1


@every_mode
@settings(deadline=None, max_examples=60)
@given(source=documents(), chosen=sizes())
def test_no_chunk_is_too_long_and_no_cluster_that_fits_is_divided(
    mode: str, source: Document, chosen: ChunkSizes
) -> None:
    made = chunker(mode, chosen, NO_OVERLAP).chunk(source).children
    assert all(len(chunk.text) <= chosen.most for chunk in made)
    starts = [chunk.char_start for chunk in made]
    assert starts == sorted(starts)
    for edge in {edge for chunk in made for edge in (chunk.char_start, chunk.char_end)}:
        if not is_boundary(source.text, edge):
            assert cluster_length(source.text, edge) > (chosen.target - chosen.overlap) // 2


@every_mode
@settings(deadline=None, max_examples=60)
@given(text=TEXTS, chosen=sizes())
def test_a_chunk_is_under_the_minimum_only_where_a_neighbour_cannot_take_it(
    mode: str, text: str, chosen: ChunkSizes
) -> None:
    made = chunker(mode, chosen, NO_OVERLAP).chunk(document(text)).children
    for index, chunk in enumerate(made):
        if len(chunk.text) < chosen.least:
            for other in (*made[max(0, index - 1) : index], *made[index + 1 : index + 2]):
                span = max(chunk.char_end, other.char_end) - min(chunk.char_start, other.char_start)
                assert span > chosen.target


@every_mode
@settings(deadline=None, max_examples=30)
@given(source=documents(), other=documents(), chosen=sizes(), above=parent_sizes())
def test_chunking_is_a_function_of_its_document_alone(
    mode: str, source: Document, other: Document, chosen: ChunkSizes, above: ParentSizes
) -> None:
    one, two = chunker(mode, chosen, above), chunker(mode, chosen, above)
    two.chunk(other)
    assert one.chunk(source) == two.chunk(source)
    assert one.fingerprint == two.fingerprint


@settings(deadline=None)
@given(source=documents())
def test_the_published_recipe_keeps_its_own_promises(source: Document) -> None:
    made = WindowChunker(size=50, overlap=10).chunk(source)
    assert exact(source, made.children)
    assert not uncovered(source, made.children)
    assert made == WindowChunker(size=50, overlap=10).chunk(source)
    assert made.parents == ()
    assert all(len(chunk.text) <= 50 for chunk in made.children)
    assert [chunk.id for chunk in made.children] == [f"doc.md:chunk-{n}" for n in range(len(made.children))]
