from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from time import monotonic

import pytest

from seamline.errors import TransientProviderError
from seamline.rerank import runner
from support.retrieve import ScriptedReranker

SECRET = "text that no log may show"


def fails(error: BaseException) -> Callable[[Sequence[str]], list[float]]:
    def answer(texts: Sequence[str]) -> list[float]:
        assert texts
        raise error

    return answer


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda texts: [0.5] * (len(texts) - 1), "wrong_score_count"),
        (lambda texts: [0.5] * (len(texts) + 1), "wrong_score_count"),
        (lambda texts: [float("nan")] * len(texts), "not_finite"),
        (lambda texts: [float("-inf")] * len(texts), "not_finite"),
        (lambda _: None, "error"),
        (lambda texts: ["high"] * len(texts), "error"),
        (fails(TransientProviderError(SECRET)), "error"),
        (fails(TimeoutError(SECRET)), "timeout"),
        (fails(SystemExit(1)), "error"),
    ],
)
def test_rule_20_nothing_that_a_reranker_does_is_believed_unchecked(
    answer: Callable[[Sequence[str]], list[float]], reason: str
) -> None:
    result = runner.run(ScriptedReranker(answer), "q", ["a", "b"], timeout_s=10)
    assert (result.scores, result.reason) == (None, reason)


def test_good_scores_pass() -> None:
    result = runner.run(ScriptedReranker(lambda _: [1, -2.5]), "q", ["a", "b"], timeout_s=10)
    assert (result.scores, result.reason) == ((1.0, -2.5), None)


def test_no_texts_need_no_call() -> None:
    reranker = ScriptedReranker(fails(AssertionError("called")))
    assert runner.run(reranker, "q", [], timeout_s=1).scores == ()
    assert reranker.calls == []


def test_rule_20_a_hanging_reranker_costs_its_deadline_and_no_more() -> None:
    release = threading.Event()

    def hang(texts: Sequence[str]) -> list[float]:
        release.wait(60)
        return [0.0] * len(texts)

    started = monotonic()
    result = runner.run(ScriptedReranker(hang), "q", ["a"], timeout_s=0.05)
    elapsed = monotonic() - started
    release.set()
    assert result.reason == "timeout"
    assert 0.05 <= elapsed < 5


def test_rule_20_hanging_calls_are_bounded_and_the_slots_come_back() -> None:
    release, left = threading.Event(), threading.Semaphore(0)

    def hang(texts: Sequence[str]) -> list[float]:
        release.wait(60)
        left.release()
        return [0.0] * len(texts)

    reranker = ScriptedReranker(hang)
    while len(reranker.calls) < runner._CALLS_AT_ONCE:
        assert runner.run(reranker, "q", ["a"], timeout_s=0.05).reason == "timeout"
    for _ in range(3):
        assert runner.run(reranker, "q", ["a"], timeout_s=0.01).reason == "timeout"
    assert len(reranker.calls) == runner._CALLS_AT_ONCE
    release.set()
    assert all(left.acquire(timeout=20) for _ in range(runner._CALLS_AT_ONCE))
    assert runner.run(ScriptedReranker(lambda _: [1.0]), "q", ["a"], timeout_s=20).scores == (1.0,)


def test_rule_20_a_deadline_that_has_passed_makes_no_call() -> None:
    reranker = ScriptedReranker(lambda texts: [1.0] * len(texts))
    assert runner.run(reranker, "q", ["a"], timeout_s=0).reason == "timeout"
    assert reranker.calls == []


def test_rule_20_no_thread_to_be_had_is_an_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError(f"can't start {thread.name}")

    reranker = ScriptedReranker(lambda texts: [1.0] * len(texts))
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        for _ in range(runner._CALLS_AT_ONCE + 1):
            assert runner.run(reranker, "q", ["a"], timeout_s=20).reason == "error"
    assert runner.run(reranker, "q", ["a"], timeout_s=20).scores == (1.0,)


def test_rule_20_a_skip_is_counted_and_logged_in_one_line_without_text(caplog: pytest.LogCaptureFixture) -> None:
    before = runner.skip_counts()
    with caplog.at_level(logging.DEBUG, logger="seamline.rerank"):
        result = runner.run(ScriptedReranker(fails(ConnectionError(SECRET))), SECRET, [SECRET], timeout_s=10)
        assert result.reason is not None
        runner.record_skip(result.reason, "scripted", result.cause)
    after = runner.skip_counts()
    assert {key: after[key] - before.get(key, 0) for key in after if after[key] != before.get(key, 0)} == {"error": 1}
    assert [record.getMessage() for record in caplog.records] == [
        "rerank skipped: reason=error provider=scripted error=ConnectionError"
    ]


def test_counts_are_a_copy() -> None:
    runner.skip_counts()["error"] = 10**9
    assert runner.skip_counts().get("error", 0) < 10**9
