"""The words that a chunk lacks are the user's words, language by language."""

from __future__ import annotations

import pytest

from seamline.analyze.text import TextAnalyzer
from seamline.retrieve.missing import missing_words

ANALYZER = TextAnalyzer()


def missing(question: str, text: str, *languages: str | None) -> tuple[str, ...]:
    asked = ANALYZER.query(question, languages).terms
    held = {term for language in languages or (None,) for term in ANALYZER.terms(text, language)}
    return missing_words(ANALYZER, question, languages, asked, [term for term in asked if term in held])


@pytest.mark.parametrize(
    ("language", "question", "text", "expected"),
    [
        ("en", "How are the Bearings, lubricated?", "The bearing is noisy.", ("lubricated",)),
        ("en", "bearings Bearings?", "A valve.", ("bearings",)),
        ("en", "Is ERR_CONN-42 raised?", "raised: ERR_CONN", ()),
        ("en", "Is ERR_CONN-42 raised?", "It is raised.", ("ERR_CONN-42",)),
        ("en", 'the "hot water" valve', "a valve", ("hot", "water")),
        ("en", "valve -pump leaks", "the valve", ("leaks",)),
        ("fr", "Où sont les congés payés ?", "Les conges annuels.", ("payés",)),
        ("fr", "l'eau chaude", "de l'eau froide", ("chaude",)),
        ("de", "Die Häuser brennen?", "Das Haus steht.", ("brennen",)),
        ("ru", "скорость лодки", "скоростью", ("лодки",)),
        ("ar", "سرعة القارب؟", "السرعة", ("القارب",)),
        ("hi", "पंप का दबाव।", "पंप बंद है", ("दबाव",)),
        ("zh", "水泵压力过高", "水泵坏了", ("压力过高",)),
        ("ja", "ポンプの圧力", "ポンプを止める", ("の圧力",)),
        ("th", "แรงดันปั๊ม", "แรงดัน", ("ปั๊ม",)),
        (None, "pump pressure", "pump", ("pressure",)),
    ],
)
def test_words_of_which_no_form_matched(
    language: str | None, question: str, text: str, expected: tuple[str, ...]
) -> None:
    assert missing(question, text, language) == expected


def test_a_form_of_any_language_is_enough() -> None:
    question, text = "nationales pressures", "nation"
    alone = missing(question, text, "en")
    assert "pressures" in alone
    assert missing_words(
        ANALYZER, question, ("en", "fr"), ("nation", "national", "pressur"), ("nation", "national")
    ) == ("pressures",)


def test_nothing_is_missing_where_all_or_nothing_is_asked() -> None:
    assert missing("the pump", "pumps", "en") == ()
    assert missing_words(ANALYZER, "???", ("en",), (), ()) == ()
