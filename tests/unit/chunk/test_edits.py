"""What an edit costs: only the chunks that changed are embedded again."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import seamline
from seamline.chunk.clamp import ClampedChunker, by_characters
from seamline.chunk.sizes import ChunkSizes, ParentSizes
from seamline.chunk.structural import StructuralChunker
from seamline.chunkers import chunker_for
from seamline.types import DEFAULT_TEMPLATE
from support.chunk import MODES, CountingEmbedder, chunker, uncovered
from support.ingest import document, settings

SENTENCE = "The gate {} is opened by the second key of the {} cabinet. "


def manual(edited: int | None = None) -> str:
    """200 sections of 1 to 12 sentences, in chapters of ten."""
    parts = ["# Manual\n\nHow the gates of the harbour are kept, by whom, and how often in a year.\n\n"]
    for number in range(200):
        if number % 10 == 0:
            parts.append(f"## Chapter {number // 10}\n\n")
        body = "".join(SENTENCE.format(number, place) for place in range(1 + number % 12))
        news = "It was painted this spring, and is closed on Sundays. " * 9 if number == edited else ""
        parts.append(f"### Section {number}\n\n{news}{body}\n\n")
    return "".join(parts)


def test_rule_08_an_edit_of_one_section_embeds_only_its_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAMLINE_HOME", str(tmp_path / "home"))
    path = tmp_path / "docs" / "manual.md"
    path.parent.mkdir()
    path.write_text(manual(), encoding="utf-8")
    embedder = CountingEmbedder()
    with seamline.open(settings={"embedding_provider": "hash"}) as kb:
        monkeypatch.setattr(kb, "embedder", lambda: embedder)
        first = kb.index(path.parent)
        assert first.chunks >= 200
        embedder.texts.clear()
        path.write_text(manual(edited=117), encoding="utf-8")
        second = kb.index(path.parent)
    assert 1 <= len(embedder.texts) <= 4
    assert all("Section 117" in text for text in embedder.texts)
    assert second.embedded == len(embedder.texts)


def test_parents_are_whole_subtrees_and_children_do_not_depend_on_them() -> None:
    from seamline.ingest.markdown_blocks import markdown_blocks

    text = manual()
    source = document(text, markdown_blocks(text))
    sizes = ChunkSizes(target=300, overlap=0, least=50, most=10_000)
    small = StructuralChunker(sizes, None, ParentSizes(target=600, overlap=60)).chunk(source)
    large = StructuralChunker(sizes, None, ParentSizes(target=9000, overlap=60)).chunk(source)
    assert [child.id for child in small.children] == [child.id for child in large.children]
    chapters = [parent for parent in large.parents if parent.heading_path[-1].startswith("Chapter")]
    assert len(chapters) == 20
    assert all(parent.text.count("### Section") == 10 for parent in chapters)
    assert len(small.parents) > len(large.parents)


@pytest.mark.parametrize("mode", MODES)
def test_a_single_line_takes_linear_time(mode: str) -> None:
    """Four times the text, well under sixteen times the work; `./scripts/bench chunk-speed` says what 5 MB take."""
    # No embedder reads megabytes of sentences quickly.
    word = "x" if mode in ("semantic", "hybrid") else "word and word. "
    made = chunker(mode, ChunkSizes(target=600, overlap=60, least=50, most=10_000), ParentSizes(target=1500, overlap=0))

    def work(characters: int) -> float:
        source = document(word * (characters // len(word)))
        started = time.process_time()
        found = made.chunk(source)
        spent = time.process_time() - started
        assert all(len(child.text) <= 600 for child in found.children)
        return spent

    assert min(work(2_000_000), work(2_000_000)) < 10 * max(work(500_000), work(500_000))


def test_deep_nesting_is_no_recursion() -> None:
    from seamline.types import Block

    text = "".join(f"h{level}\nbody\n" for level in range(3000))
    blocks, at = [], 0
    for level in range(3000):
        name = f"h{level}\n"
        blocks.append(Block(kind="heading", char_start=at, char_end=at + len(name) - 1, level=level + 1))
        at += len(name) + len("body\n")
    made = StructuralChunker(
        ChunkSizes(target=100, overlap=0, least=10, most=1000), None, ParentSizes(target=300, overlap=0)
    )
    source = document(text, blocks)
    assert not uncovered(source, made.chunk(source).children)


def test_a_child_over_the_ceiling_is_divided_and_counted_and_others_keep_their_ids() -> None:
    text = "Short one.\n\n" + "A longer sentence that goes on. " * 20 + "\n\n" + "Word. " * 90
    source = replace(document(text), title="A title")
    inner = StructuralChunker(
        ChunkSizes(target=600, overlap=0, least=5, most=10_000), None, ParentSizes(target=1500, overlap=0)
    )
    plain = inner.chunk(source)
    made = ClampedChunker(inner, by_characters(200), template=DEFAULT_TEMPLATE, ceiling="200 characters").chunk(source)
    over = [child for child in plain.children if len(child.rendered(DEFAULT_TEMPLATE)) > 200]
    assert made.clamped == len(over) > 0
    assert all(len(child.rendered(DEFAULT_TEMPLATE)) <= 200 for child in made.children)
    assert not uncovered(source, made.children)
    kept = {child.id for child in plain.children} - {child.id for child in over}
    assert kept <= {child.id for child in made.children}
    assert len({child.id for child in made.children}) == len(made.children)
    assert [child.chunk_index for child in made.children] == list(range(len(made.children)))
    assert all(before.char_end <= after.char_start for before, after in pairwise(made.children))
    assert made.parents == plain.parents


def test_the_ceiling_is_the_setting_else_the_window_else_512_and_never_the_published_recipe() -> None:
    text = "A sentence that says something. " * 100
    embedder = CountingEmbedder()
    assert max(len(child.text) for child in chunker_for(settings(), embedder).chunk(document(text)).children) <= 512
    told = settings(embed_max_chars=100)
    assert max(len(child.text) for child in chunker_for(told).chunk(document(text)).children) <= 100
    published = chunker_for(settings(chunker="window-1000-200", embed_max_chars=100), embedder).chunk(document(text))
    assert max(len(child.text) for child in published.children) > 900


def test_a_cluster_without_end_is_cut_in_linear_time() -> None:
    made = chunker(
        "fixed", ChunkSizes(target=600, overlap=60, least=50, most=10_000), ParentSizes(target=1500, overlap=100)
    )

    def work(marks: int) -> float:
        source = document("e" + "\u0301" * marks)
        started = time.process_time()
        made.chunk(source)
        return time.process_time() - started

    assert min(work(800_000), work(800_000)) < 10 * max(work(200_000), work(200_000)) + 0.01
