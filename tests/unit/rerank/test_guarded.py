from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from seamline.errors import TransientProviderError
from seamline.rerank import guarded
from seamline.rerank.breaker import Breaker
from seamline.rerank.cache import ScoreCache
from support.retrieve import ScriptedReranker


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_breaker_opens_probes_once_and_heals() -> None:
    clock = Clock()
    breaker = Breaker(failures=3, seconds=30, clock=clock)
    for succeeded in (False, False, True, False, False):
        assert breaker.allow()
        breaker.record(succeeded)
    assert breaker.allow(), "a success in between starts the count anew"
    breaker.record(False)
    assert not breaker.allow()
    clock.now = 29.9
    assert not breaker.allow()
    clock.now = 30
    assert breaker.allow()
    assert not breaker.allow(), "one probe at a time"
    breaker.record(False)
    clock.now = 59.9
    assert not breaker.allow(), "a failed probe opens for as long again"
    clock.now = 60
    assert breaker.allow()
    breaker.record(True)
    assert breaker.allow()
    assert breaker.allow()


def lengths(texts: Sequence[str]) -> list[float]:
    return [float(len(text)) for text in texts]


@given(st.lists(st.lists(st.text("ab", max_size=4), max_size=6), max_size=8), st.integers(0, 6))
def test_cached_scores_are_those_of_a_call_and_bounded(asked: list[list[str]], entries: int) -> None:
    cache = ScoreCache(entries)
    reranker = guarded.Guarded(ScriptedReranker(lengths), Breaker(failures=1, seconds=1), cache)
    for texts in asked:
        result = guarded.run(reranker, "q", texts, timeout_s=10)
        assert result.scores == tuple(lengths(texts))
        assert len(cache) <= entries


def test_only_what_is_not_cached_is_asked_and_another_question_is_another_score() -> None:
    inner = ScriptedReranker(lengths)
    reranker = guarded.Guarded(inner, Breaker(failures=1, seconds=1), ScoreCache(100))
    for query, texts in (("q", ["a", "bb"]), ("q", ["bb", "ccc", "a"]), ("r", ["a"]), ("q", ["a"])):
        assert guarded.run(reranker, query, texts, timeout_s=10).scores == tuple(lengths(texts))
    assert [len(texts) for _, texts in inner.calls] == [2, 1, 1]


def test_a_fault_is_never_cached() -> None:
    answers: list[Exception | list[float]] = [TransientProviderError("down"), [1.0]]

    def answer(texts: Sequence[str]) -> list[float]:
        assert len(texts) == 1
        found = answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    reranker = guarded.Guarded(ScriptedReranker(answer), Breaker(failures=9, seconds=1), ScoreCache(9))
    assert guarded.run(reranker, "q", ["a"], timeout_s=10).reason == "error"
    assert guarded.run(reranker, "q", ["a"], timeout_s=10).scores == (1.0,)
