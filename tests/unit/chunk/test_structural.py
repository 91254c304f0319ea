from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

import pytest

from seamline.chunk.sizes import ChunkSizes
from seamline.chunk.structural import StructuralChunker, create
from seamline.ingest.markdown_blocks import markdown_blocks
from seamline.ports import Chunker
from seamline.types import Chunk, Document, Page
from support.ingest import document, settings

SIZES = ChunkSizes(target=200, overlap=0, least=20, most=10_000)
SENTENCE = "The system retries three times before it gives up. "


def markdown(text: str, **fields: object) -> Document:
    return replace(document(text, markdown_blocks(text)), **fields)  # type: ignore[arg-type]


def chunks(source: Document, sizes: ChunkSizes = SIZES) -> list[Chunk]:
    made = list(StructuralChunker(sizes).chunk(source).children)
    assert all(source.text[chunk.char_start : chunk.char_end] == chunk.text for chunk in made)
    return made


def test_it_is_a_chunker_with_the_settings_of_the_same_names() -> None:
    chunker = create(settings())
    assert isinstance(chunker, Chunker)
    assert chunker.fingerprint == create(settings()).fingerprint
    assert chunker.fingerprint != create(settings(chunk_chars=500)).fingerprint
    assert ChunkSizes.of(settings(chunk_chars=500, child_overlap=0.1)).overlap == 50
    assert ChunkSizes.of(settings(chunk_chars=500, child_overlap=0.1, chunk_overlap_chars=7)).overlap == 7


def test_sections_follow_the_heading_tree() -> None:
    body = SENTENCE * 3
    made = chunks(markdown(f"# A\n\n{body}\n\n## B\n\n{body}\n\n### C\n\n{body}\n\n## D\n\n{body}"))
    assert [chunk.heading_path for chunk in made] == [("A",), ("A", "B"), ("A", "B", "C"), ("A", "D")]
    assert made[1].text.startswith("## B\n\nThe system")
    assert [chunk.chunk_index for chunk in made] == [0, 1, 2, 3]


def test_a_heading_inside_a_fence_is_code_and_a_setext_heading_counts() -> None:
    made = chunks(markdown(f"```\n# no heading, but a comment{'!' * 60}\n```\n\nTitle\n=====\n\n{SENTENCE * 3}"))
    assert [chunk.heading_path for chunk in made] == [(), ("Title",)]


def test_a_fence_or_a_table_is_kept_whole_where_it_fits() -> None:
    code = "```\n" + "x = 1\n" * 40 + "```"
    table = "| a | b |\n|---|---|\n" + "| cell | cell |\n" * 14
    made = chunks(markdown(f"{SENTENCE * 3}\n\n{code}\n\n{SENTENCE * 3}\n\n{table}"))
    assert code in [chunk.text for chunk in made]
    assert table.strip() in [chunk.text for chunk in made]


def test_a_table_that_does_not_fit_is_cut_between_rows() -> None:
    rows = [f"| {number:03} | value of that row |" for number in range(40)]
    made = chunks(markdown("\n".join(["| n | text |", "|---|---|", *rows])))
    assert len(made) > 3
    assert all(chunk.text.startswith("| ") and chunk.text.endswith(" |") for chunk in made[1:])


def test_long_prose_is_cut_at_sentences() -> None:
    made = chunks(document(SENTENCE * 40))
    assert len(made) > 5
    assert all(chunk.text.endswith("gives up.") for chunk in made)
    assert all(len(chunk.text) <= SIZES.target for chunk in made)


def test_an_injected_splitter_decides_where_sentences_end() -> None:
    class Semicolons:
        def sentences(self, text: str, language: str | None) -> list[tuple[int, int]]:
            assert language == "en"
            ends = [index + 1 for index, char in enumerate(text) if char == ";"]
            return list(zip([0, *ends[:-1]], ends, strict=True))

    text = ("a word. " * 8 + "end; ") * 6
    made = StructuralChunker(SIZES, Semicolons()).chunk(replace(document(text), language="en")).children
    assert len(made) > 1
    assert all(chunk.text.endswith("end;") for chunk in made)


def test_overlap_repeats_text_only_where_a_block_was_cut() -> None:
    sizes = replace(SIZES, overlap=40)
    made = chunks(document(SENTENCE * 12), sizes)
    assert all(after.char_start < before.char_end for before, after in pairwise(made))
    assert all(len(chunk.text) <= sizes.target for chunk in made)
    apart = chunks(document(f"{SENTENCE * 3}\n\n{SENTENCE * 3}"), sizes)
    assert apart[0].char_end <= apart[1].char_start


def test_small_sections_join_the_following_one() -> None:
    made = chunks(markdown(f"# Title\n\n## Setup\n\n{SENTENCE * 2}\n\n## Use\n\n{SENTENCE * 3}"))
    assert made[0].text.startswith("# Title\n\n## Setup")
    assert made[0].heading_path == ("Title", "Setup")
    assert made[1].heading_path == ("Title", "Use")


def test_no_section_end_is_left_as_a_scrap() -> None:
    made = chunks(markdown(f"{'x' * 195}\n\nEnd."))
    assert [chunk.text.endswith("End.") for chunk in made] == [True]


def test_chunks_know_the_pages_that_they_overlap() -> None:
    text = "a" * 150 + "\n\n" + "b" * 150 + "\n\n" + "c" * 150
    pages = [Page(index=n, label=None, char_start=n * 152, char_end=n * 152 + 150) for n in range(3)]
    made = chunks(document(text, pages=pages))
    assert [[page.index for page in chunk.pages] for chunk in made] == [[0], [1], [2]]
    straddling = chunks(document(text, pages=pages), replace(SIZES, target=1000))
    assert [page.index for page in straddling[0].pages] == [0, 1, 2]


def test_rule_08_an_edit_leaves_the_ids_of_other_sections_alone() -> None:
    parts = [f"## Section {name}\n\n{SENTENCE * 6}{name}\n\n" for name in "ABCDE"]
    before = {chunk.id for chunk in chunks(markdown("# Doc\n\nIntro words here.\n\n" + "".join(parts)))}
    parts[2] = parts[2].replace("three times", "four times") + "One more paragraph with news.\n\n"
    after = chunks(markdown("# Doc\n\nIntro words here.\n\n" + "".join(parts)))
    changed = [chunk for chunk in after if chunk.id not in before]
    assert changed
    assert all(chunk.heading_path == ("Section C",) or "Section C" in chunk.heading_path for chunk in changed)


def test_rule_07_identical_chunks_get_ids_of_their_own() -> None:
    same = f"## Same\n\n{SENTENCE * 3}\n\n"
    made = chunks(markdown(same * 3))
    assert [chunk.id.removeprefix(made[0].id) for chunk in made] == ["", "-2", "-3"]


@pytest.mark.parametrize("text", ["", " \n\t\n "])
def test_a_blank_document_has_no_chunks(text: str) -> None:
    assert chunks(document(text)) == []


@pytest.mark.parametrize("unit", ["word and word. ", "x", "数据库连接超时。", ".", "\n"])
def test_one_long_line_is_cut_in_linear_time(unit: str) -> None:
    """Four times the text, well under sixteen times the work."""
    chunker = create(settings())

    def work(characters: int) -> float:
        source = document(unit * (characters // len(unit)))
        started = time.process_time()
        made = chunker.chunk(source).children
        spent = time.process_time() - started
        assert all(len(chunk.text) <= 1000 for chunk in made)
        return spent

    assert min(work(2_000_000), work(2_000_000)) < 10 * max(work(500_000), work(500_000)) + 0.01
