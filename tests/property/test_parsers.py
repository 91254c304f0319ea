"""Whatever the bytes: every parser ends, and what it hands over is clean text with blocks in order."""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import entry_points
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seamline.ingest.extract import by_media_type, extract
from seamline.ingest.wire import from_parsed, to_parsed
from seamline.ports import Parser
from seamline.types import ParseStatus
from support.ingest import pdf
from support.made_files import docx, epub, msg, odt, paragraph, pptx, shape, xlsx

ORDINARY = "The pump of the northern harbour is closed at night, and nobody knows why it leaks. "
WILD = ORDINARY + "A\x02\x00 b\x0cc \ud800 \ufeff \u202e 😀"
SEEDS: dict[str, bytes] = {
    "a.txt": b"Plain\x00 text\x02\x0c.",
    "a.md": b"# Title\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "a.html": b"<html><body><h1>Title</h1><p>Text &#2; &#0;</p><table><tr><td>a<td>b</table></body></html>",
    "a.pdf": pdf(["One page", "Another"]),
    "a.docx": docx(paragraph("Heading", "berschrift1") + paragraph("Text &#xFFFD;")),
    "a.pptx": pptx([shape("Title", "title") + shape("a\nb")]),
    "a.xlsx": xlsx({"S": [["a", "b"], [1, 2.5]]}),
    "a.csv": f"a,b\n1,\x02{ORDINARY}\n".encode(),
    "a.json": json.dumps({"title": WILD, "a": [WILD, {"b": 1}]}).encode(),
    "a.yaml": b"a: [1, 2]\nb: {c: text}\n",
    "a.xml": b"<r><a b='c'>text</a></r>",
    "a.ipynb": json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": WILD}]}).encode(),
    "a.odt": odt("<text:p>text</text:p>"),
    "a.epub": epub({"c.xhtml": "<p>text</p>"}, ["c.xhtml"]),
    "a.eml": b"From: a\r\nSubject: =?utf-8?q?=02=00?=\r\n\r\ntext\x02\x00\r\n",
    "a.msg": msg("Subject", "Body\x02"),
    "a.rtf": b"{\\rtf1 " + ORDINARY.encode() + rb"\u2?\u-10179?\'00\par}",
}


@cache
def parsers() -> dict[str, Parser]:
    return by_media_type(point.load()({}) for point in entry_points(group="seamline.parsers"))


def check(name: str, data: bytes) -> None:
    parsed = extract(data, name, None, parsers(), most_chars=1_000_000).parsed
    text = parsed.text
    said = [text, parsed.title or "", *(str(value) for value in parsed.metadata.values())]
    said += [item.name for item in parsed.attachments]
    for words in said:
        assert not {"\x00", "\x02", "\x0c", "\ufeff"} & set(words)
        assert not any("\ud800" <= character <= "\udfff" for character in words)
    for ranges in (
        [(b.char_start, b.char_end) for b in parsed.blocks],
        [(p.char_start, p.char_end) for p in parsed.pages],
    ):
        assert all(0 <= start < end <= len(text) for start, end in ranges)
        assert all(before[1] <= after[0] for before, after in pairwise(ranges))
    assert parsed.status is ParseStatus.OK or parsed.reason
    back = to_parsed(*from_parsed(parsed))
    assert (back.text, back.blocks, back.pages, back.attachments) == (
        text,
        parsed.blocks,
        parsed.pages,
        parsed.attachments,
    )


@pytest.mark.parametrize("name", SEEDS)
def test_the_files_that_are_mutated_below_are_read(name: str) -> None:
    check(name, SEEDS[name])
    assert extract(SEEDS[name], name, None, parsers(), most_chars=1_000_000).parsed.status is ParseStatus.OK


@settings(max_examples=400)
@given(
    st.sampled_from(sorted(SEEDS)),
    st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=4), st.integers(0, 8)), max_size=6),
    st.floats(0, 1),
)
def test_mutated_files_end_in_clean_text_or_a_status(
    name: str, edits: list[tuple[float, bytes, int]], cut: float
) -> None:
    data = bytearray(SEEDS[name])
    for place, put, removed in edits:
        start = int(place * len(data))
        data[start : start + removed] = put
    check(name, bytes(data[: len(data) if cut > 0.3 else int(cut * 3 * len(data))]))


@settings(max_examples=150)
@given(st.sampled_from(sorted(SEEDS)), st.binary(max_size=300))
def test_any_bytes_under_any_name(name: str, data: bytes) -> None:
    check(name, data)
