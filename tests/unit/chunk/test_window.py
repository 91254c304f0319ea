"""The published recipe; scripts/frozen-acceptance compares with the package itself."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from seamline.chunk.window import WindowChunker, create, window_spans
from seamline.compat import main, published_chunks, published_from_jsonl, published_to_jsonl
from seamline.errors import IdCollisionError, IngestError, ListingError, SettingsError
from support.ingest import document, settings


def test_a_window_ends_at_the_best_pause_of_its_last_fifth() -> None:
    assert list(window_spans("a" * 90 + ". " + "b" * 30, 100, 20)) == [(0, 91), (72, 122)]
    # A blank line wins over a later sentence; a pause at the very beginning of the fifth does not count.
    assert next(window_spans("a" * 85 + "\n\n" + "b. " * 20, 100, 20)) == (0, 85)
    assert next(window_spans("a" * 80 + " " + "b" * 60, 100, 20)) == (0, 100)


def test_a_window_inside_its_predecessor_is_left_out() -> None:
    assert list(window_spans("a" * 100, 100, 20)) == [(0, 100)]
    assert list(window_spans("a" * 100 + " " * 30, 100, 20)) == [(0, 100)]
    assert list(window_spans(" \n", 100, 20)) == []


def test_ids_are_folded_paths_and_positions() -> None:
    made = create(settings()).chunk(document("word " * 500, id_="Sub/File.MD")).children
    assert [chunk.id for chunk in made] == [f"sub/file.md:chunk-{n}" for n in range(len(made))]
    assert len(made) == 3


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, -5), (10, 10)])
def test_sizes_that_would_lose_text_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(SettingsError):
        WindowChunker(size, overlap)


def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / ".hidden").mkdir(parents=True)
    (root / ".hidden" / "x.txt").write_text("no", encoding="utf-8")
    (root / "b.txt").write_bytes("\ufeffOne\u2028two\u2029three\u0085four\r\nfive\rsix".encode())
    (root / "A.md").write_bytes(b"hello\n")
    (root / "other.csv").write_bytes(b"no")
    return root


def test_records_have_the_published_form_and_read_back(tmp_path: Path) -> None:
    records = published_chunks(folder(tmp_path))
    assert [record["source_file"] for record in records] == ["A.md", "b.txt"]
    assert records[0]["metadata"]["source_fingerprint"] == (
        "f10ceb22bbec0ab828e814ea218827f5ba000f51cf020d26b66a3c171c1fcc56"
    )
    assert records[1]["text"] == "One\u2028two\u2029three\u0085four\nfive\nsix"
    lines = list(published_to_jsonl(records))
    assert lines[0].startswith('{"chunk_id": "a.md:chunk-0", "doc_id": "a.md", "source_file": "A.md", "doc_chunk')
    assert "\u2028" in lines[1]
    (tmp_path / "out.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")
    assert list(published_from_jsonl(tmp_path / "out.jsonl")) == records
    assert list(published_to_jsonl([])) == ["\n"]


@pytest.mark.parametrize("line", ["{", "[]", "{}", json.dumps({"chunk_id": "x"})])
def test_a_line_that_is_no_record_is_named(line: str) -> None:
    with pytest.raises(IngestError, match="line 2"):
        list(published_from_jsonl(["\n", line]))


def test_an_unknown_key_is_named(tmp_path: Path) -> None:
    record = published_chunks(folder(tmp_path))[0] | {"colour": "red"}
    with pytest.raises(IngestError, match="colour"):
        list(published_from_jsonl(published_to_jsonl([record])))


def test_colliding_ids_are_an_error_that_names_both_files(tmp_path: Path) -> None:
    root = folder(tmp_path)
    os.symlink(root / "b.txt", root / "link.txt")
    with pytest.raises(IdCollisionError, match=r"b\.txt.*link\.txt"):
        published_chunks(root)
    (root / "link.txt").unlink()
    (root / "B.TXT").write_text("other", encoding="utf-8")
    if (root / "b.txt").read_text(encoding="utf-8") != "other":  # file systems that fold case have one file here
        with pytest.raises(IdCollisionError, match=r"B\.TXT.*b\.txt"):
            published_chunks(root)


def test_what_the_recipe_does_not_cover_is_refused(tmp_path: Path) -> None:
    root = folder(tmp_path)
    (root / "c.pdf").write_bytes(b"%PDF-")
    with pytest.raises(IngestError, match=r"c\.pdf"):
        published_chunks(root)
    (root / "c.pdf").unlink()
    (root / "latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(IngestError, match="not UTF-8"):
        published_chunks(root)
    with pytest.raises(ListingError):
        published_chunks(root / "absent")


def test_the_command_prints_hash_bytes_and_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder(tmp_path)), "--write", str(tmp_path / "out.jsonl")]) == 0
    _, size, lines = capsys.readouterr().out.split()
    assert (int(size), lines) == ((tmp_path / "out.jsonl").stat().st_size, "2")
    assert main([]) == 2
