from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from seamline.chunk.jsonl import chunks_from_jsonl, chunks_to_jsonl
from seamline.errors import IngestError, UsageError
from seamline.kit import chunk_loaded_documents
from seamline.types import Page, ParseStatus
from support.ingest import document

TEXT = 'One\u2028line\u2029that\u0085has "separators" and é\n\n' + "word " * 300


def test_chunks_come_back_as_they_were_and_lines_are_canonical(tmp_path: Path) -> None:
    pages = [Page(index=0, label="iv", char_start=0, char_end=100)]
    made = chunk_loaded_documents([document(TEXT, pages=pages, title="T")])
    lines = list(chunks_to_jsonl(made))
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    assert list(chunks_from_jsonl(lines)) == made
    path = tmp_path / "chunks.jsonl"
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    assert list(chunks_from_jsonl(path)) == made
    again = "".join(chunks_to_jsonl(chunks_from_jsonl(path)))
    assert hashlib.sha256(again.encode()).digest() == hashlib.sha256(path.read_bytes()).digest()


@pytest.mark.parametrize("line", ["{", "[]", '{"id": "x"}', '{"unknown": 1}', "3"])
def test_a_line_that_is_no_chunk_is_named(line: str) -> None:
    good = next(chunks_to_jsonl(chunk_loaded_documents([document("text")])))
    with pytest.raises(IngestError, match="line 2"):
        list(chunks_from_jsonl([good, line]))


def test_only_extracted_documents_are_chunked_at_the_given_size() -> None:
    failed = document("text", id_="b.md")
    object.__setattr__(failed, "status", ParseStatus.GARBLED)
    made = chunk_loaded_documents([document("word " * 300), failed], chunk_size=100, chunk_overlap=20)
    assert {chunk.document_id for chunk in made} == {"doc.md"}
    assert max(len(chunk.text) for chunk in made) <= 100
    for options in ({"chunk_size": 10}, {"chunk_size": 100, "chunk_overlap": 51}):
        with pytest.raises(UsageError):
            chunk_loaded_documents([], **options)
