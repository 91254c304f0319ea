from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seamline.fingerprint import sha256_text
from seamline.types import ChunkId, Citation, DocumentId
from seamline.verify.resolve import Resolved, resolve

TEXT = "Bees hum. Bees dance. Bees hum."


def cite(start: int, end: int, text: str = TEXT) -> Citation:
    return Citation(
        number=1,
        document_id=DocumentId("d"),
        chunk_id=ChunkId("c"),
        char_start=start,
        char_end=end,
        quote=text[start:end],
        document_sha256=sha256_text(text),
        answer_start=0,
        answer_end=1,
        support="supported",
    )


def test_intact_in_the_same_version() -> None:
    assert resolve(cite(10, 21), TEXT) == Resolved(status="intact", start=10, end=21, same_version=True)


def test_intact_in_a_new_version_that_kept_the_span() -> None:
    assert resolve(cite(10, 21), TEXT + " More.") == Resolved(status="intact", start=10, end=21, same_version=False)


def test_moved_names_the_nearest_place() -> None:
    moved = resolve(cite(22, 31), "New. " + TEXT)
    assert moved == Resolved(status="moved", start=27, end=36, same_version=False)
    assert resolve(cite(0, 9), "New. " + TEXT).start == 5


def test_changed_when_the_quote_is_no_longer_there() -> None:
    assert resolve(cite(10, 21), "Bees hum. Bees danced.").status == "changed"


def test_changed_when_a_citation_contradicts_its_own_version() -> None:
    forged = replace(cite(10, 21), char_start=0, char_end=11)
    assert resolve(forged, TEXT) == Resolved(status="changed", same_version=True)


def test_gone_without_a_document() -> None:
    assert resolve(cite(10, 21), None) == Resolved(status="gone")


@pytest.mark.parametrize(("start", "end"), [(3, 3), (-9, -2), (5, 2)])
def test_an_empty_or_impossible_span_is_never_intact(start: int, end: int) -> None:
    forged = replace(cite(0, 4), char_start=start, char_end=end, quote=TEXT[start:end])
    assert resolve(forged, TEXT).status == "changed"
    assert resolve(replace(forged, quote=""), "Another version.").status == "changed"


@settings(deadline=None)
@given(st.text(max_size=60), st.integers(0, 59), st.integers(1, 20), st.text(max_size=60))
def test_what_is_found_is_the_quote(text: str, start: int, length: int, later: str) -> None:
    end = min(start + length, len(text))
    if start >= end:
        assert text[start:end] == ""
        return
    citation = cite(start, end, text)
    assert resolve(citation, text).status == "intact"
    found = resolve(citation, later)
    assert (found.start is not None) == (citation.quote in later)
    if found.start is not None:
        assert later[found.start : found.end] == citation.quote
