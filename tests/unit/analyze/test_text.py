"""Keyword analysis: words, identifiers, languages and query syntax."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamline.analyze import text as text_module
from seamline.analyze.languages import STEMMERS, stop_words
from seamline.analyze.text import TextAnalyzer, create
from seamline.ports import Analyzer
from seamline.types import KeywordQuery

ANALYZER = create({})
LANGUAGES: list[str | None] = [None, "en", "fr", "de", "tr", "ja", "th", "hi", "ar", "ru", "xx"]


def terms(text: str, language: str | None = "en") -> list[str]:
    return ANALYZER.terms(text, language)


def ask(text: str, *languages: str | None) -> KeywordQuery:
    return ANALYZER.query(text, languages or ["en"])


def test_it_is_an_analyzer() -> None:
    assert isinstance(ANALYZER, Analyzer)


def test_english_is_stemmed_stopped_and_repeated_in_order() -> None:
    assert terms("The pumps are pumping; a pump's pump.") == ["pump", "pump", "pump", "pump"]
    assert terms("Retrieval over documents") == ["retriev", "over", "document"]


@pytest.mark.parametrize("text", ["", " \n", "???", "— … !", "the of and"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert terms(text) == []
    assert ask(text) == KeywordQuery(terms=())


@pytest.mark.parametrize(
    ("text", "whole", "parts"),
    [
        ("ERR_CONN-42", "err_conn-42", ["err", "conn", "42"]),
        ("rank_constant", "rank_constant", ["rank", "constant"]),
        ("v2.1.3", "v2.1.3", ["v2", "1", "3"]),
        ("AX-200/7", "ax-200/7", ["ax", "200", "7"]),
        ("foo.bar.baz", "foo.bar.baz", ["foo", "bar", "baz"]),
        ("jane.roe@example.org", "jane.roe@example.org", ["jane", "roe", "exampl", "org"]),
        ("R&D", "r&d", ["r", "d"]),
        ("src/seamline/ports.py", "src/seamline/ports.py", ["src", "seamlin", "port", "py"]),
        ("AX\u2010200", "ax-200", ["ax", "200"]),
        ("AX\u2011200", "ax-200", ["ax", "200"]),
    ],
)
def test_rule_16_identifiers_are_kept_whole_and_in_parts(text: str, whole: str, parts: list[str]) -> None:
    assert terms(f"see ({text}), please")[1:-1] == [whole, *parts]
    assert set(ask(f"what is {text}?").terms) >= {whole, *parts}
    assert whole in terms(text, "fr")
    assert whole in terms(text, None)


def test_rule_16_an_exact_identifier_is_told_from_its_neighbours() -> None:
    question = set(ask("ERR_CONN-42").terms)
    assert len(question & set(terms("fails with ERR_CONN-42 at start"))) == 4
    assert len(question & set(terms("fails with ERR_CONN-43 at start"))) == 2


def test_a_hyphenated_word_is_whole_in_documents_and_asked_by_its_parts() -> None:
    assert terms("boundary-layer flow") == ["boundary-layer", "boundari", "layer", "flow"]
    assert ask("boundary-layer").terms == ("boundari", "layer")
    assert ask("flow -boundary-layer").excluded == ("boundary-layer",)


def test_camel_case_is_taken_apart_in_documents_and_found_either_way() -> None:
    assert terms("getHTTPResponse") == ["gethttprespons", "get", "http", "respons"]
    assert ask("getHTTPResponse").terms == ask("gethttpresponse").terms == ("gethttprespons",)
    assert set(ask("http response").terms) <= set(terms("getHTTPResponse"))


@pytest.mark.parametrize(
    "question", ["Which pump leaks", "AX-200/7 error", "où est l'école", "Straße 5", "Ελλάδα ΟΔΟΣ"]
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_rule_34_case_space_and_trailing_punctuation_do_not_matter(question: str, language: str | None) -> None:
    plain = ask(question, language)
    for variant in (
        question.upper(),
        question.lower(),
        question.title(),
        f"  {question}\n",
        question.replace(" ", "  "),
    ):
        assert ask(variant, language) == plain, variant
    for end in ("?", "!", ".", "...", " ?", "?!", "…", "。", "？", "-", "'", "_", "/"):
        assert ask(question + end, language) == plain, end


@given(st.text(alphabet="abcXYZ \t\n.,;:!?-_/'\"“”«»@&0159éßñ日本กำ\u0301", max_size=40), st.sampled_from(LANGUAGES))
def test_rule_34_any_question_in_another_case(question: str, language: str | None) -> None:
    assert ask(question.upper(), language) == ask(question.lower(), language)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("fr", "l'école été", "ECOLE"),
        ("fr", "aujourd'hui", "aujourd\u2019hui"),
        ("fr", "chevaux", "cheval"),
        ("es", "canción", "canciones"),
        ("es", "canción", "cancion"),
        ("it", "dell'arte", "arte"),
        ("pt", "açúcar", "acucar"),
        ("de", "Häuser", "Häusern"),
        ("de", "Straße", "STRASSE"),
        ("ru", "ёлка", "елка"),
        ("ru", "документы", "документов"),
        ("el", "οδός", "ΟΔΟΣ"),
        ("hi", "किताबें", "किताब"),
        ("ar", "الكتاب", "كِتَاب"),
        ("en", "café", "cafe"),
        ("en", "don\u2019t", "DON'T"),
        ("en", "ﬁle Ｎo", "file no"),
        ("en", "co\u00adoperate", "cooperate"),
        ("ar", "٤٢", "42"),
        ("tr", "İstanbul", "istanbul"),
    ],
)
def test_forms_of_one_word_meet(language: str, one: str, other: str) -> None:
    assert set(ask(other, language).terms) & set(terms(one, language))


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [("es", "año", "ano"), ("sv", "för", "for"), ("cs", "řada", "rada"), ("vi", "má", "mà")],
)
def test_letters_that_are_other_letters_stay_apart(language: str, one: str, other: str) -> None:
    assert not set(terms(one, language)) & set(terms(other, language))


@pytest.mark.parametrize(
    ("language", "document", "question"),
    [
        ("zh", "北京是中国的首都。", "首都"),
        ("ja", "東京タワーは港区にあります。", "東京タワー"),
        ("ja", "猫が好き", "猫"),
        ("ko", "서울은 대한민국의 수도이다", "대한민국"),
        ("th", "กรุงเทพเป็นเมืองหลวงของประเทศไทย", "เมืองหลวง"),
        ("km", "ភ្នំពេញជារាជធានី", "ភ្នំពេញ"),
        ("lo", "ວຽງຈັນແມ່ນນະຄອນຫຼວງ", "ນະຄອນ"),
        ("my", "ရန်ကုန်မြို့", "ရန်ကုန်"),
        ("hi", "भारत की राजधानी नई दिल्ली है", "राजधानी"),
        ("he", "ירושלים היא בירת ישראל", "בירת"),
        ("ta", "சென்னை தமிழ்நாட்டின் தலைநகரம்", "தலைநகரம்"),
    ],
)
def test_rule_14_every_script_has_terms_that_meet(language: str, document: str, question: str) -> None:
    for tag in (language, None):
        asked = set(ask(question, tag).terms)
        assert asked
        assert asked <= set(terms(document, tag))


def test_rule_14_pairs_of_characters() -> None:
    assert terms("東京都", "ja") == ["東京", "京都", "東", "京", "都"]
    assert ask("東京都", "ja").terms == ("京都", "東京")
    assert ask("東", "ja").terms == ("東",)
    assert terms("型番AX-200/7を使用", "ja")[2:8] == ["番", "ax-200/7", "ax", "200", "7", "を使"]


def test_rule_14_thai_signs_stay_with_their_consonant() -> None:
    assert terms("ที่นี่", "th") == ["ที่นี่"]
    assert terms("เมือง", "th") == ["เมือ", "อง"]


def test_rule_14_vowel_signs_do_not_split_words() -> None:
    assert terms("विद्यालय", "hi") == terms("विद्यालय", None)
    assert len(terms("विद्यालय", "hi")) == 1


def test_terms_of_a_question_are_the_sorted_union_of_its_languages() -> None:
    # "for" is a stop word of the first language, and so silent in the second one too.
    both = ask("running for die Häuser", "en", "de").terms
    assert "for" in ask("running for die Häuser", "de").terms
    assert both == tuple(
        sorted({*ask("running for die Häuser", "en").terms, *ask("running for die Häuser", "de").terms} - {"for"})
    )
    assert ask("running").terms == ANALYZER.query("running", []).terms
    assert terms("running", "en-GB") == terms("running", "EN_us") == ["run"]


def test_a_question_counts_a_repeated_word_as_often_as_it_says_it() -> None:
    query = ask("retrieval of information, information retrieval and information")
    assert dict(query.counted()) == {"inform": 3, "retriev": 2}
    assert ask("information retrieval").counts == ()
    # In two languages a word is not said twice.
    assert dict(ask("gate gate", "en", "de").counted())["gate"] == 2


def test_question_words_ask_for_nothing_unless_alone() -> None:
    assert ask("How does the gate open, and who could close it?").terms == ("close", "gate", "open")
    assert ask("The Who").terms == ("who",)
    assert "who" in terms("The Who played", "en")
    assert "who" in ask("who", "de").terms


@pytest.mark.parametrize("quoted", ['"Boundary  Layer"', "“Boundary Layer”", "„Boundary Layer“", "«Boundary Layer»"])
def test_phrases_are_folded_and_their_words_are_terms(quoted: str) -> None:
    query = ask(f"flow {quoted} theory?")
    assert query.phrases == ("boundary layer",)
    assert query.terms == ("boundari", "flow", "layer", "theori")


@pytest.mark.parametrize(
    ("text", "terms_", "excluded"),
    [
        ("jaguar -cars", ("jaguar",), ("car",)),
        ("-cars", (), ("car",)),
        ("-ERR_CONN-42 fault", ("fault",), ("err_conn-42",)),
        ("below -40 degrees", ("40", "below", "degre"), ()),
        ("well-known", ("known", "well"), ()),
        ("a - b", ("b",), ()),
        ("--verbose", ("verbos",), ()),
        ("x -the", ("x",), ()),
        ("pages 3-5", ("3", "3-5", "5", "page"), ()),
    ],
)
def test_exclusions(text: str, terms_: Sequence[str], excluded: Sequence[str]) -> None:
    query = ask(text)
    assert (query.terms, query.excluded) == (terms_, excluded)


def test_an_exclusion_that_is_no_single_term_is_plain_text() -> None:
    assert ask("首都 -東京", "ja").excluded == ("東京",)
    query = ask("首都 -東京都庁", "ja")
    assert query.excluded == ()
    assert "都庁" in query.terms


@pytest.mark.parametrize("text", ['5" pipe and 6" bolt', 'an open "quote', '""', '" "', "“”", 'O"Neil'])
def test_quotes_that_enclose_nothing_are_plain_text(text: str) -> None:
    assert ask(text).phrases == ()


@pytest.mark.parametrize(
    "text",
    [
        "a AND b OR NOT c",
        "title:foo",
        "foo*",
        "NEAR(a, 5)",
        "a^2 ~b",
        "(((",
        "'; DROP TABLE chunks; --",
        "[1 TO 2]",
        "%_\\",
    ],
)
def test_rule_15_operators_of_other_engines_are_plain_text(text: str) -> None:
    query = ask(text)
    assert query.phrases == query.excluded == ()
    assert all(term.strip() == term and " " not in term for term in query.terms)


@given(st.text(max_size=80) | st.text(st.characters(), max_size=80), st.sampled_from(LANGUAGES))
def test_rule_15_no_text_breaks_the_analysis(text: str, language: str | None) -> None:
    query = ask(text, language)
    assert list(query.terms) == sorted(set(query.terms))
    for term in (*query.terms, *query.excluded, *terms(text, language)):
        assert term
        assert not any(character.isspace() for character in term)


@given(
    st.lists(
        st.sampled_from(
            ["AX-200/7", "the", "pumps", "café", "l'eau", "東京都", "เมือง", "बड़ी", "getHTTPResponse", "v2.1", "-x"]
        ),
        max_size=8,
    )
)
def test_a_text_holds_the_terms_of_its_own_words(words: list[str]) -> None:
    text = ". ".join(words)
    query = ask(text)
    assert set(query.terms) <= set(terms(text))


@given(st.text(max_size=60))
def test_a_cached_token_analyses_as_a_new_one(text: str) -> None:
    assert terms(text) == TextAnalyzer().terms(text, "en")


def test_threads_share_an_analyzer() -> None:
    shared = TextAnalyzer()
    texts = [" ".join(f"{word}{ending}" for ending in ("s", "ing", "ed", "er")) for word in "abcdefghij" * 20]
    barrier = threading.Barrier(4)

    def work(_: int) -> list[list[str]]:
        barrier.wait()
        return [shared.terms(text, "en") for text in texts]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(4)))
    assert all(result == [terms(text) for text in texts] for result in results)


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "_CACHED_TOKENS", 10)
    analyzer = TextAnalyzer()
    analyzer.terms(" ".join(f"word{number}" for number in range(100)), "en")
    assert all(len(table) <= 10 for table in analyzer._tables.values())
    analyzer.terms("x" * 1000, "en")
    assert "x" * 1000 not in analyzer._tables["en", False]


def test_the_fingerprint_changes_with_the_algorithm_and_the_stop_words(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ANALYZER.fingerprint
    assert before.startswith("recipe:")
    assert before == TextAnalyzer().fingerprint
    monkeypatch.setattr(text_module, "ALGORITHM_VERSION", 999)
    assert (changed := ANALYZER.fingerprint) != before
    monkeypatch.setattr(text_module, "stop_words", lambda: {"en": frozenset({"x"})})
    assert ANALYZER.fingerprint not in (before, changed)


def test_stop_words_are_in_the_form_that_they_are_compared_in() -> None:
    for tag, words in stop_words().items():
        assert tag in STEMMERS
        for word in words:
            assert text_module._fold(word) == word


def test_every_named_stemmer_exists() -> None:
    assert set(STEMMERS.values()) <= text_module._SNOWBALL
