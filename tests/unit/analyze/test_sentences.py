"""Sentence spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamline.analyze.sentences import SentencexSplitter
from seamline.ports import SentenceSplitter

SPLITTER = SentencexSplitter()


def split(text: str, language: str | None = "en") -> list[str]:
    return [text[start:end] for start, end in SPLITTER.sentences(text, language)]


def test_it_is_a_sentence_splitter() -> None:
    assert isinstance(SPLITTER, SentenceSplitter)


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["Dr. Smith paid $3.50 to Mr. Jones.", "He left at 5 p.m. on Monday.", "Why?"]),
        ("en", ["See Fig. 3, e.g. J. R. Roe et al. 2020.", "It rose approx. 3.5 percent.", "Version 2.1.3 is out!"]),
        ("en", ["The U.S. Army came 😀.", "It left."]),
        ("fr", ["M. Dupont est là.", "Mme. Roux arrive le 3 janv. 2020.", "C'est fini."]),
        ("de", ["Das ist z. B. gut.", "Am 3. Oktober kam Nr. 5.", "Ende."]),
        ("es", ["El Sr. López vive en EE. UU. desde ayer.", "¿Qué?", "¡Hola!"]),
        ("ru", ["Это стр. 5.", "Потом он ушел."]),
        ("hi", ["यह किताब है।", "वह कलम है।"]),
        ("ar", ["هذا كتاب.", "هل هذا قلم؟"]),
    ],
)
def test_abbreviations_and_decimals_do_not_end_a_sentence(language: str, sentences: list[str]) -> None:
    assert split(" ".join(sentences), language) == sentences


@pytest.mark.parametrize("language", ["ja", "zh", "en", None, "xx"])
def test_ideographic_full_stops_end_a_sentence_in_any_language(language: str | None) -> None:
    assert split("これは本です。あれはペンです。本当?", language) == ["これは本です。", "あれはペンです。", "本当?"]


def test_thai_is_split_at_its_lines_only() -> None:
    assert split("สวัสดีครับ ผมชื่อ\n\nลาก่อน", "th") == ["สวัสดีครับ ผมชื่อ", "ลาก่อน"]


def test_a_long_text_without_punctuation_is_one_sentence() -> None:
    text = "word " * 20_000
    assert SPLITTER.sentences(text, "en") == [(0, len(text) - 1)]


@pytest.mark.timeout(20)
def test_many_unclosed_quotes_take_linear_time() -> None:
    text = "“a " * 100_000
    assert SPLITTER.sentences(text, "en") == [(0, len(text) - 1)]


def test_a_very_long_run_is_split_as_a_short_one() -> None:
    sentences = ["“Is it?” he asked.", "It is!", "«Oui», dit-il.", "He said so, don’t you see."]
    assert split(" ".join(sentences)) == sentences
    assert split(" ".join(sentences * 500)) == sentences * 500


def test_line_structure_always_ends_a_sentence() -> None:
    text = (
        "# A title\nProse that goes on\nover a line. And again\n\nnew paragraph\n- first item\n  that goes on\n"
        "- second item\n1. numbered\n2) also\n| a. B | c |\n|---|---|\nafter the table\nUnderlined\n=====\nlast"
    )
    assert split(text) == [
        "# A title",
        "Prose that goes on\nover a line.",
        "And again",
        "new paragraph",
        "- first item\n  that goes on",
        "- second item",
        "1. numbered",
        "2) also",
        "| a. B | c |",
        "|---|---|",
        "after the table\nUnderlined",
        "=====",
        "last",
    ]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\u2029"])
def test_line_ends_of_any_kind(line_end: str) -> None:
    assert split(f"one{line_end}{line_end}two{line_end}| a |{line_end}three") == ["one", "two", "| a |", "three"]


@pytest.mark.parametrize("blank", ["", " ", "\n\n\t\n"])
def test_a_blank_text_has_no_sentences(blank: str) -> None:
    assert split(blank) == []


@given(
    st.text(max_size=120) | st.text(alphabet="ab. A1.?!。\n\r|-*#😀é\u0301 M", max_size=120),
    st.sampled_from(["en", "fr", "ja", "th", None, "zz"]),
)
def test_spans_are_ordered_and_hold_every_visible_character_once(text: str, language: str | None) -> None:
    end_before = 0
    for start, end in SPLITTER.sentences(text, language):
        assert end_before <= start < end
        assert text[end_before:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        end_before = end
    assert text[end_before:].strip() == ""


def test_rows_of_a_table_without_outer_bars_stand_alone() -> None:
    text = "Code | Meaning\nE-402 | wind above its limit\nE-550 | level sensor faulty"
    assert [text[start:end] for start, end in SentencexSplitter().sentences(text, "en")] == text.split("\n")
