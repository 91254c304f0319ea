from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamline.errors import UsageError
from seamline.evaluation.answers import (
    AnsweredQuery,
    best_threshold,
    covers,
    cross_validated,
    evaluate_answers,
    risk_coverage,
    shares,
    token_f1,
)
from seamline.evaluation.golden import Evidence, GoldenQuery, GoldenSet
from seamline.types import Answer, ChunkId, Citation, DocumentId

TEXT = "Bees dance. The waggle dance tells the way. Bees dance."


def cite(start: int, end: int, document: str = "d", quote: str | None = None) -> Citation:
    return Citation(
        number=1,
        document_id=DocumentId(document),
        chunk_id=ChunkId("c"),
        char_start=start,
        char_end=end,
        quote=TEXT[start:end] if quote is None else quote,
        document_sha256="x",
        answer_start=0,
        answer_end=1,
        support="supported",
    )


def row(name: str, answerable: bool, right: bool, score: float, abstained: bool = False) -> AnsweredQuery:
    return AnsweredQuery(
        id=name,
        answerable=answerable,
        abstained=abstained,
        right=right,
        score=score,
        token_f1=None,
        characters=0,
        citations=0,
        resolved=0,
    )


SEPARABLE = [row(f"a{n}", True, True, 1.0 + n / 10) for n in range(10)] + [
    row(f"u{n}", False, False, 0.5 - n / 10) for n in range(10)
]


def test_evidence_is_covered_by_spans_of_its_own_document() -> None:
    quote = Evidence(document="d", quote="The waggle dance tells the way.")
    assert covers([cite(12, 43)], quote, TEXT)
    assert covers([cite(12, 28), cite(28, 43)], quote, TEXT)
    assert not covers([cite(12, 28)], quote, TEXT)
    assert not covers([cite(12, 43, document="other")], quote, TEXT)
    assert not covers([cite(12, 43)], quote, None)
    assert covers([cite(44, 55)], Evidence(document="d", quote="Bees dance."), TEXT), "any occurrence counts"


def test_a_threshold_that_separates_is_found_and_holds_on_held_out_questions() -> None:
    assert best_threshold(SEPARABLE) == 1.0
    held = cross_validated(SEPARABLE, seed=1)
    assert held.abstains == 1.0
    assert held.evidence is not None
    assert held.evidence >= 0.9


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.floats(-1, 1)), min_size=12, max_size=30))
def test_rule_11_no_threshold_is_better_than_the_chosen_one(drawn: list[tuple[bool, bool, float]]) -> None:
    rows = [row(str(place), kind, kind and right, score) for place, (kind, right, score) in enumerate(drawn)]

    def smaller(threshold: float) -> float:
        found = shares(rows, [(item.score or 0.0) >= threshold for item in rows])
        return min(found.evidence or 0.0, found.abstains or 0.0)

    best = smaller(best_threshold(rows))
    assert all(smaller(score) <= best for _, _, score in drawn)


def test_risk_grows_with_what_is_answered() -> None:
    found = risk_coverage(SEPARABLE)
    assert (found["at 50%"], found["at 100%"]) == (0.0, 0.5)


@pytest.mark.parametrize(
    ("said", "gold", "expected"), [("30 weeks", "30 weeks.", 1.0), ("x", "y", 0.0), ("a b", "b c", 0.5), ("", "a", 0.0)]
)
def test_token_f1(said: str, gold: str, expected: float) -> None:
    assert token_f1(said, gold) == expected


GOLDEN = GoldenSet(
    name="g",
    queries=(
        GoldenQuery(
            id="q1", query="way?", relevance={"d": 1}, evidence=(Evidence(document="d", quote=TEXT[12:43]),), answer="x"
        ),
        GoldenQuery(id="q2", query="string?", relevance={"d": 1}, answer="Waggle"),
        GoldenQuery(id="q3", query="none?", unanswerable=True),
    ),
)


def say(question: str, citations: Sequence[Citation] = (), abstained: bool = False, score: float = 1.0) -> Answer:
    return Answer(
        question=question, text="t", citations=tuple(citations), provider="p", abstained=abstained, score=score
    )


def test_a_report_judges_what_is_said_and_what_would_have_been_said() -> None:
    def ask(question: str) -> Answer:
        return say(question, [cite(12, 43)]) if question == "way?" else say(question, abstained=True, score=0.1)

    report = evaluate_answers(
        GOLDEN,
        ask=ask,
        ask_anyway=lambda question: say(question, [cite(12, 43)], score=0.4 if question == "string?" else 0.2),
        text_of={"d": TEXT}.get,
        seed=1,
    )
    assert [item.right for item in report.rows] == [True, True, False]
    assert (report.configured.evidence, report.configured.abstains) == (0.5, 1.0)
    assert report.threshold == 0.4
    assert report.chosen is not None
    assert (report.chosen.evidence, report.chosen.abstains) == (1.0, 1.0)
    assert (report.citations, report.resolved) == (1, 1)
    assert report.to_dict()["configured"] == {"evidence": 0.5, "abstains": 1.0}


def test_a_citation_that_does_not_resolve_is_counted() -> None:
    forged = replace(cite(12, 43), quote="The waggle dance tells nothing")
    report = evaluate_answers(
        GOLDEN,
        ask=lambda question: say(question, [forged]),
        ask_anyway=None,
        text_of=lambda document: TEXT if document == "d" else None,
        seed=1,
    )
    assert (report.citations, report.resolved) == (3, 0)


def test_a_question_without_any_gold_is_refused() -> None:
    blind = GoldenSet(name="g", queries=(GoldenQuery(id="q9", query="?", relevance={"d": 1}),))
    with pytest.raises(UsageError, match="q9"):
        evaluate_answers(blind, ask=say, ask_anyway=None, text_of=lambda _: TEXT, seed=1)
