from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seamline.verify.support import check

SOURCE = (
    "The tower was finished in 1889 by the company of Gustave Eiffel. It is 330 metres tall and weighs 7,300 tonnes. "
    "Painters repaint it every 7 years, which takes 18 months. "
    "Maupassant called it “this high and skinny pyramid of iron ladders”. It was not meant to last. "
    "Some 5.9% of visitors climb the stairs."
)


def test_a_verbatim_sentence_is_supported_by_exactly_its_span() -> None:
    sentence = "It is 330 metres tall and weighs 7,300 tonnes."
    support, start, end = check(sentence, SOURCE)
    assert (support, SOURCE[start:end]) == ("supported", sentence)


def test_whitespace_case_and_punctuation_do_not_hide_a_verbatim_sentence() -> None:
    support, start, end = check("it is 330 metres\ntall, and weighs 7,300 tonnes", SOURCE)
    assert support == "supported"
    assert SOURCE[start:end] == "It is 330 metres tall and weighs 7,300 tonnes"


@pytest.mark.parametrize(
    "sentence",
    [
        "The tower was finished in 1889.",
        "Gustave Eiffel's company finished the tower in 1889.",
        "It weighs 7300 tonnes and is 330 metres tall.",
        "Painters repaint the tower every 7 years.",
        "It was called “high and skinny pyramid” by Maupassant.",
        "Of visitors, 5.9 percent climb the stairs.",
    ],
)
def test_what_the_source_says_in_other_order_is_not_unsupported(sentence: str) -> None:
    support, start, end = check(sentence, SOURCE)
    assert support in ("supported", "partial")
    assert SOURCE[start:end].strip() == SOURCE[start:end] != ""


@pytest.mark.parametrize(
    "sentence",
    [
        "The tower was finished in 1890 by the company of Gustave Eiffel.",
        "It is 33 metres tall and weighs 7,300 tonnes.",
        "It is -330 metres tall.",
        "It is 330% tall.",
        "Some 5.9 of visitors climb the stairs.",
        "Some 5 visitors climb the stairs.",
        "The tower was finished in 1889 by the company of Stephen Sauvestre.",
        "Maupassant called it “this ugly pyramid of iron ladders”.",
        'Maupassant called it "a skinny pyramid".',
        "The weather in spring is mild and sunny.",
    ],
)
def test_rule_12_an_invented_number_name_or_quotation_is_unsupported(sentence: str) -> None:
    assert check(sentence, SOURCE)[0] == "unsupported"


@pytest.mark.parametrize(
    "sentence",
    [
        "Zorblax repaint it every 7 years, which takes 18 months.",
        "Some 5.9% of visitors climb the stairway.",
        "The tower was finished in 1889 by the company of Gustav Eiffel.",
        "It was meant to last.",
        "meant to last",
        "The tower was not finished in 1889 by the company of Gustave Eiffel.",
        "Maupassant: it was called “this high and skinny pyramid",
        "Painters repaint it every 7 years, which takes 1889 months.",
    ],
)
def test_what_words_cannot_settle_is_at_most_partial(sentence: str) -> None:
    assert check(sentence, SOURCE)[0] in ("partial", "unsupported")


@pytest.mark.parametrize(
    ("sentence", "source", "expected"),
    [
        ("北京有21个公园。", "上海有9个公园。北京有21个公园。", "supported"),
        ("南京有21个公园。", "上海有9个公园。北京有21个公园。", "partial"),
        ("北京有22个公园。", "上海有9个公园。北京有21个公园。", "unsupported"),
        ("富士山の高さは3776メートルです。", "富士山は山です。富士山の高さは３７７６メートルです。", "supported"),
        ("หอคอยสูง 330 เมตร", "หอคอยสูง 330 เมตร สร้างในปี 1889", "supported"),
        ("Москва основана в 1147 году.", "Москва основана в 1147 году.", "supported"),
        ("Москва основана в 1148 году.", "Москва основана в 1147 году.", "unsupported"),
        ("ارتفاعه ٣٣٠ متر", "ارتفاعه 330 متر", "supported"),
        (
            "Der Turm wurde 1889 von Gustave Eiffels Firma gebaut.",
            "Der Turm wurde 1889 von Eiffel gebaut.",
            "unsupported",
        ),
    ],
)
def test_every_script_is_checked(sentence: str, source: str, expected: str) -> None:
    support, start, end = check(sentence, source)
    assert support == expected
    assert 0 <= start < end <= len(source)


@pytest.mark.parametrize(
    ("sentence", "source"),
    [
        ("The low was 5 degrees.", "The low was -5 degrees."),
        ("The low was 5 degrees.", "The low was −5 degrees."),
        ("It grew by 5.", "It grew by 5% in May."),
        ("It grew by 1", "It grew by 1.5 in May."),
    ],
)
def test_rule_12_a_number_cut_out_of_another_is_not_in_the_source(sentence: str, source: str) -> None:
    assert check(sentence, source)[0] == "unsupported"


def test_the_shortest_of_equal_spans_is_cited() -> None:
    source = "Bees hum. Bees dance in the hive. Bees hum."
    _, start, end = check("In the hive bees dance.", source)
    assert source[start:end] == "Bees dance in the hive."


@pytest.mark.parametrize("sentence", ["", "   ", "...", "[]"])
def test_a_sentence_without_words_is_unsupported(sentence: str) -> None:
    assert check(sentence, SOURCE) == ("unsupported", 0, 0)


def test_nothing_supports_from_an_empty_source() -> None:
    assert check("Bees dance.", "") == ("unsupported", 0, 0)


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=200))
def test_any_texts_give_a_span_inside_the_source(sentence: str, source: str) -> None:
    support, start, end = check(sentence, source)
    assert support in ("supported", "partial", "unsupported")
    assert 0 <= start <= end <= len(source)
    assert start < end or support == "unsupported"
