"""The shipped sample corpus and its golden set keep the promises of evals/README.md."""

import re
from collections import Counter
from pathlib import Path

import pytest

from seamline.evaluation.golden import GoldenSet, check_documents, read_golden, unmatched_evidence

EVALS = Path(__file__).parents[2] / "evals"
TAGS = {
    "exact-token",
    "paraphrase",
    "multi-document",
    "french",
    "table",
    "procedure",
    "unanswerable",
    "near-miss",
}
WORD = re.compile(r"\w{4,}")


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    corpus = EVALS / "corpus"
    return {
        path.relative_to(corpus).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(corpus.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def golden() -> GoldenSet:
    return read_golden(EVALS / "golden" / "queries.jsonl")


def test_documents_are_many_short_and_in_two_languages(texts: dict[str, str]) -> None:
    assert len(texts) >= 44
    assert {name.rpartition(".")[2] for name in texts} == {"md", "txt", "html"}
    assert sum(name.startswith("fr/") for name in texts) >= 8
    lengths = {name: len(text.split()) for name, text in texts.items()}
    assert {name: length for name, length in lengths.items() if not 150 <= length <= 700} == {}


def test_every_error_code_of_the_corpus_is_defined_in_one_table(texts: dict[str, str]) -> None:
    rows = re.compile(r"^(?:\| |<tr><td>)(E-\d{3})\b", re.MULTILINE)
    defined = Counter(code for text in texts.values() for code in rows.findall(text))
    used = {code for text in texts.values() for code in re.findall(r"\bE-[1-9]\d{2}\b", text)}
    headings = {f"E-{number}" for century in range(100, 600, 100) for number in (century, century + 99)}
    assert used - set(defined) <= headings
    assert [code for code, count in defined.items() if count > 1] == []


def test_labels_name_existing_documents_and_quotes_occur(texts: dict[str, str], golden: GoldenSet) -> None:
    assert check_documents(golden, texts).missing == ()
    assert unmatched_evidence(golden, texts) == []
    for query in golden.judged:
        assert query.answer, query.id
        assert {evidence.document for evidence in query.evidence} == set(query.relevance), query.id


def test_quotes_survive_extraction(golden: GoldenSet) -> None:
    quotes = [evidence.quote for query in golden.judged for evidence in query.evidence]
    assert [quote for quote in quotes if "<" in quote or "&" in quote or "\n" in quote] == []


def test_kinds_of_question_are_balanced(golden: GoldenSet) -> None:
    counts = Counter(tag for query in golden.queries for tag in query.tags)
    assert len(golden.queries) >= 110
    assert len(golden.judged) >= 85
    assert counts["exact-token"] >= 15
    assert counts["paraphrase"] >= 25
    assert counts["multi-document"] >= 8
    assert sum(query.language == "fr" for query in golden.judged) >= 12
    assert counts["unanswerable"] >= 24
    assert 2 * counts["near-miss"] >= counts["unanswerable"]
    assert set(counts) <= TAGS


def test_tags_agree_with_the_labels(golden: GoldenSet) -> None:
    for query in golden.queries:
        assert ("unanswerable" in query.tags) == query.unanswerable, query.id
        assert ("french" in query.tags) == (query.language == "fr"), query.id
        assert ("multi-document" in query.tags) == (len(query.relevance) > 1), query.id
        assert query.unanswerable or "near-miss" not in query.tags, query.id


def test_questions_are_not_asked_twice(golden: GoldenSet) -> None:
    asked = Counter(query.query.casefold() for query in golden.queries)
    assert [text for text, count in asked.items() if count > 1] == []


def test_paraphrases_share_few_words_with_the_passage_that_answers_them(golden: GoldenSet) -> None:
    shares = []
    for query in golden.judged:
        if "paraphrase" in query.tags:
            words = set(WORD.findall(query.query.casefold()))
            quoted = {word for evidence in query.evidence for word in WORD.findall(evidence.quote.casefold())}
            shares.append(len(words & quoted) / len(words))
            assert shares[-1] <= 0.5, (query.id, words & quoted)
    assert sum(shares) / len(shares) < 0.2
