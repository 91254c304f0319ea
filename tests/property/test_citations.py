from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from seamline.generate.citations import MARK, CitationParser, CitedText, parse_citations

TEXTS = st.lists(
    st.sampled_from(
        [
            "[1]",
            "[2]",
            "[9]",
            "[1, 2]",
            "[1-3]",
            "【2】",
            "［9］",
            "[",
            "]",
            "1",
            "9",
            ",",
            "-",
            " ",
            "\t",
            "\n",
            "`",
            "```",
            "~~~",
            "````",
            "a",
            "Bees.",
            "\n```\n",
            "[٣]",
            "\u00a0",
            "é",
            "[" + "1" * 199 + "]",
            "1" * 201,
        ]
    ),
    max_size=30,
).map("".join)


def feed(text: str, cuts: list[int], passages: int) -> CitedText:
    parser = CitationParser(passages)
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    returned = "".join(parser.feed(text[a:b]) for a, b in pairwise(places))
    returned += parser.close()
    assert returned == parser.result().text
    return parser.result()


@settings(max_examples=600, deadline=None)
@given(TEXTS, st.lists(st.integers(0, 250), max_size=12), st.integers(0, 4))
def test_any_split_gives_the_same_as_at_once(text: str, cuts: list[int], passages: int) -> None:
    assert feed(text, cuts, passages) == parse_citations(text, passages)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.integers(0, 4))
def test_one_character_at_a_time_gives_the_same(text: str, passages: int) -> None:
    assert feed(text, list(range(len(text))), passages) == parse_citations(text, passages)


@settings(max_examples=600, deadline=None)
@given(TEXTS, st.integers(0, 4))
def test_rule_12_no_mark_outside_code_goes_unchecked(text: str, passages: int) -> None:
    parsed = parse_citations(text, passages)
    known = [(mark.start, mark.end) for mark in parsed.marks]
    for found in MARK.finditer(parsed.text):
        in_code = any(start < found.end() and found.start() < end for start, end in parsed.code)
        marked = any(start <= found.start() and found.end() <= end for start, end in known)
        assert marked or in_code or len(found["body"]) > 200
    for mark in parsed.marks:
        assert all(1 <= number <= passages for number in mark.numbers)
        assert parsed.text[mark.start : mark.end] == "".join(f"[{number}]" for number in mark.numbers)
