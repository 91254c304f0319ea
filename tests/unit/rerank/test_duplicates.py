from __future__ import annotations

from dataclasses import replace

import pytest

from seamline.rerank.duplicates import Kept, Match
from seamline.rerank.words import words_of
from seamline.types import Chunk
from support.retrieve import chunk

LONG = " ".join(f"word{i}" for i in range(40))
CHINESE = "水闸每天早晨六点开启晚上八点关闭维修期间除外请参阅港口手册第七章"


def match(first: Chunk, second: Chunk, threshold: float = 0.9) -> Match | None:
    kept = Kept(threshold)
    assert kept.match_or_keep(first) is None
    return kept.match_or_keep(second)


@pytest.mark.parametrize("other", ["  same  TEXT\n", "ＳＡＭＥ text", "Same text"])
def test_rule_33_equal_folded_text_is_one(other: str) -> None:
    assert match(chunk("a", "same text"), chunk("b", other)) == Match(kept=chunk("a", "").id)


@pytest.mark.parametrize("text", [LONG, CHINESE * 2])
def test_rule_33_nearly_equal_text_is_one(text: str) -> None:
    found = match(chunk("a", text), chunk("b", text + " end"))
    assert found is not None
    assert found.jaccard is not None
    assert 0.9 <= found.jaccard < 1


def test_jaccard_by_hand() -> None:
    """40 words have 36 shingles; one more word adds one: 36 / 37."""
    found = match(chunk("a", LONG), chunk("b", LONG + " more"))
    assert found == Match(kept=chunk("a", "").id, jaccard=36 / 37)
    assert match(chunk("a", LONG), chunk("b", LONG + " more"), threshold=0.98) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("the gate opens at six in the morning", "the gate opens at seven in the morning"),
        ("six", "seven"),
        ("?!", "..."),
        (CHINESE, CHINESE.replace("六", "七").replace("八", "九").replace("第七", "第五")),
        ("word " * 4, "word " * 3),
    ],
)
def test_texts_that_differ_in_what_they_say_are_two(first: str, second: str) -> None:
    assert match(chunk("a", first), chunk("b", second)) is None


@pytest.mark.parametrize(("start", "duplicate"), [(0, True), (49, True), (50, False), (51, False), (200, False)])
def test_rule_33_spans_that_overlap_by_more_than_half_are_one(start: int, duplicate: bool) -> None:
    first = replace(chunk("a", "first", document="d"), char_start=0, char_end=100)
    second = replace(chunk("b", "second", document="d"), char_start=start, char_end=start + 100)
    assert (match(first, second) is not None) == duplicate
    assert match(first, replace(second, document_id=chunk("x", "").document_id)) is None


def test_rule_33_a_span_inside_another_is_one_however_short() -> None:
    outer = replace(chunk("a", "outer", document="d"), char_start=0, char_end=1000)
    inner = replace(chunk("b", "inner", document="d"), char_start=400, char_end=420)
    assert match(outer, inner) == Match(kept=outer.id)
    assert match(inner, outer) == Match(kept=inner.id)


def test_the_best_placed_of_several_absorbs() -> None:
    kept = Kept(0.9)
    first = replace(chunk("a", "first", document="d"), char_start=0, char_end=100)
    for one in (first, chunk("b", LONG)):
        assert kept.match_or_keep(one) is None
    third = replace(chunk("c", LONG, document="d"), char_start=10, char_end=110)
    assert kept.match_or_keep(third) == Match(kept=first.id)


def test_what_was_absorbed_absorbs_nothing() -> None:
    kept = Kept(0.9)
    chain = [LONG, LONG + " a1 a2", LONG + " a1 a2 a3 a4 a5"]
    assert [kept.match_or_keep(chunk(str(i), text)) is None for i, text in enumerate(chain)] == [True, False, True]


def test_words_of_scripts_without_spaces_are_characters() -> None:
    assert words_of("Die Größe, v2.1: 水闸 ประตู") == ["die", "grösse", "v2", "1", "水", "闸", *"ประตู"]
