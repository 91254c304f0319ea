"""The reranker contract: run on what ships, and proved by rerankers that each break one promise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import pytest

from seamline.conformance.rerankers import RerankerConformance
from seamline.errors import ProviderError
from seamline.ports import Reranker
from seamline.rerank.lexical import LexicalReranker, create
from seamline.types import Fingerprint


class TestLexical(RerankerConformance):
    tolerance = 0.0

    def make_reranker(self) -> Reranker:
        return create({})


class Nameless(LexicalReranker):
    name = ""


class NewIdentity(LexicalReranker):
    made = count()

    def __init__(self) -> None:
        self.number = next(self.made)

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(f"policy:{self.number}")


class Altered(LexicalReranker):
    """Scores as the stand-in, then spoils the result in one way."""

    def __init__(self, spoil: Callable[[list[float], Sequence[str]], list[float]]) -> None:
        self.spoil = spoil

    def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        return self.spoil(super().rerank(query, texts, deadline_s=deadline_s), texts)


class Drifting(LexicalReranker):
    def __init__(self) -> None:
        self.calls = 0

    def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        self.calls += 1
        drift = self.calls * 1e-6
        return [score + drift for score in super().rerank(query, texts, deadline_s=deadline_s)]


class Refusing(LexicalReranker):
    def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        if any("\x1b" in text for text in (query, *texts)):
            raise ProviderError("control characters are not supported")
        return super().rerank(query, texts, deadline_s=deadline_s)


class Greedy(LexicalReranker):
    def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        scores = super().rerank(query, texts, deadline_s=deadline_s)
        if isinstance(texts, list):
            texts.clear()
        return scores


class SharedState(LexicalReranker):
    """Keeps its texts in a field; calls that run at once score each other's. The barrier makes them meet."""

    def __init__(self) -> None:
        self.texts: Sequence[str] = ()
        self.meeting = threading.Barrier(2)
        self.home = threading.current_thread()

    def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        self.texts = texts
        if threading.current_thread() is not self.home:
            self.meeting.wait(20)
        return super().rerank(query, self.texts, deadline_s=deadline_s)


def padded(scores: list[float], texts: Sequence[str]) -> list[float]:
    return [*scores, 0.0] if len(texts) == 3 else scores


def infinite(scores: list[float], texts: Sequence[str]) -> list[float]:
    assert len(scores) == len(texts)
    return [score if score > 0.5 else float("-inf") for score in scores]


def best_first(scores: list[float], texts: Sequence[str]) -> list[float]:
    assert len(scores) == len(texts)
    return sorted(scores, reverse=True)


def negated(scores: list[float], texts: Sequence[str]) -> list[float]:
    assert len(scores) == len(texts)
    return [-score for score in scores]


BROKEN: list[tuple[str, Callable[[], Reranker], set[str]]] = [
    ("nameless", Nameless, {"test_it_names_itself"}),
    ("new identity", NewIdentity, {"test_its_fingerprint_is_stable"}),
    ("wrong count", lambda: Altered(padded), {"test_rule_20_one_score_a_text"}),
    ("infinite", lambda: Altered(infinite), {"test_rule_20_scores_are_finite"}),
    ("sorted", lambda: Altered(best_first), {"test_a_score_belongs_to_its_text"}),
    ("lower is better", lambda: Altered(negated), {"test_higher_is_better"}),
    ("drifting", Drifting, {"test_rule_18_the_same_call_has_the_same_scores"}),
    ("refusing", Refusing, {"test_rule_15_any_text_is_accepted"}),
    ("greedy", Greedy, {"test_its_input_is_left_alone"}),
    ("shared state", SharedState, {"test_it_serves_threads_at_once"}),
]
PROMISES = sorted(name for name in dir(RerankerConformance) if name.startswith("test_"))


@pytest.mark.parametrize(("make", "broken"), [pytest.param(m, b, id=name) for name, m, b in BROKEN])
def test_a_broken_reranker_fails_exactly_its_promise(make: Callable[[], Reranker], broken: set[str]) -> None:
    class Contract(RerankerConformance):
        def make_reranker(self) -> Reranker:
            return make()

    contract: Any = Contract()
    failed: set[str] = set()
    for name in PROMISES:
        try:
            getattr(contract, name)()
        except AssertionError:
            failed.add(name)
    assert failed == broken


def test_every_promise_is_proved_by_a_broken_reranker() -> None:
    assert set().union(*(broken for _, _, broken in BROKEN)) == set(PROMISES)
