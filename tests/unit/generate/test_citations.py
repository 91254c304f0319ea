from __future__ import annotations

import pytest

from seamline.generate.citations import CitationParser, parse_citations


@pytest.mark.parametrize(
    ("text", "expected", "numbers", "removed"),
    [
        ("Bees [1].", "Bees [1].", [(1,)], 0),
        ("Bees [1,2].", "Bees [1][2].", [(1, 2)], 0),
        ("Bees [ 2 ; 1 ].", "Bees [2][1].", [(2, 1)], 0),
        ("Bees [1][3].", "Bees [1][3].", [(1,), (3,)], 0),
        ("Bees [1-3].", "Bees [1][2][3].", [(1, 2, 3)], 0),
        ("Bees [2–2000000000].", "Bees [2][3].", [(2, 3)], 1),
        ("Bees [1, 1].", "Bees [1].", [(1,)], 0),
        ("蜜蜂【1】。", "蜜蜂[1]。", [(1,)], 0),
        ("蜜蜂［１，２］。", "蜜蜂[1][2]。", [(1, 2)], 0),
        ("Bees [٣].", "Bees [3].", [(3,)], 0),
        ("Bees [9].", "Bees.", [], 1),
        ("Bees [0].", "Bees.", [], 1),
        ("Bees [1, 9].", "Bees [1].", [(1,)], 1),
        ("Bees [a] [] [1", "Bees [a] [] [1", [], 0),
        ("Bees [x[1]].", "Bees [x[1]].", [(1,)], 0),
        ("Bees [[9]1].", "Bees […1].", [], 1),
    ],
)
def test_rule_12_marks_are_canonical_and_unknown_numbers_removed(
    text: str, expected: str, numbers: list[tuple[int, ...]], removed: int
) -> None:
    parsed = parse_citations(text, passages=3)
    assert parsed.text == expected
    assert [mark.numbers for mark in parsed.marks] == numbers
    assert parsed.removed == removed


@pytest.mark.parametrize(
    "code",
    [
        "`a[1]`",
        "``a ` [1]``",
        "```python\na[1]\n```\n",
        "~~~\na[1]\n``` [2]\n~~~\n",
        "```\nnever closed [1]",
    ],
)
def test_nothing_in_code_is_a_citation(code: str) -> None:
    parsed = parse_citations(code, passages=3)
    assert parsed.text == code
    assert parsed.marks == ()


def test_text_after_code_is_read_again() -> None:
    parsed = parse_citations("```\na[1]\n```\nBees [2].", passages=3)
    assert [mark.numbers for mark in parsed.marks] == [(2,)]


def test_a_backtick_that_is_never_closed_hides_nothing() -> None:
    parsed = parse_citations("A ` and [1]\nB ` and [9]", passages=3)
    assert [mark.numbers for mark in parsed.marks] == [(1,)]
    assert parsed.removed == 1


def test_partial_marks_are_held_back_and_text_is_not() -> None:
    parser = CitationParser(passages=2)
    assert parser.feed("Bees dance [") == "Bees dance"
    assert parser.feed("1") == ""
    assert parser.feed("]. They") == " [1]. They"
    assert parser.feed(" hum [7") == " hum"
    assert parser.feed("].") == "."
    assert parser.close() == ""
    assert parser.result().removed == 1
