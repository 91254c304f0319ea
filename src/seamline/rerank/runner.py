"""Runs a reranker under its deadline, and believes nothing that it returns unchecked."""

from __future__ import annotations

import logging
import math
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Literal

from seamline.ports import Reranker

SkipReason = Literal["timeout", "error", "unconfigured", "wrong_score_count", "not_finite", "breaker_open"]

_LOG = logging.getLogger("seamline.rerank")
_CALLS_AT_ONCE = 16
_slots = threading.BoundedSemaphore(_CALLS_AT_ONCE)
"""A call that hangs keeps its thread: this bounds how many can, and waiting for one counts as time."""
_skips: Counter[str] = Counter()
_skips_lock = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranking:
    """One score a text, or the reason why there are none, with its cause where one was raised."""

    scores: tuple[float, ...] | None = None
    reason: SkipReason | None = None
    cause: BaseException | None = None


def run(reranker: Reranker | None, query: str, texts: Sequence[str], *, timeout_s: float) -> Reranking:
    """Score the texts in one call; returns within ``timeout_s`` seconds whatever the reranker does. Never raises."""
    if reranker is None:
        return Reranking(reason="unconfigured")
    if not texts:
        return Reranking(scores=())
    box: list[Reranking] = []
    deadline = monotonic() + timeout_s
    if not _slots.acquire(timeout=timeout_s):
        return Reranking(reason="timeout")

    def work() -> None:
        try:
            left = deadline - monotonic()
            if left > 0:
                box.append(_checked(reranker.rerank(query, texts, deadline_s=left), len(texts)))
        except BaseException as error:
            late = isinstance(error, TimeoutError) or monotonic() >= deadline
            box.append(Reranking(reason="timeout" if late else "error", cause=error))
        finally:
            _slots.release()

    worker = threading.Thread(target=work, name="seamline-rerank", daemon=True)
    try:
        worker.start()
    except RuntimeError as error:  # the system has no thread to give
        _slots.release()
        return Reranking(reason="error", cause=error)
    worker.join(max(deadline - monotonic(), 0))
    return box[0] if box else Reranking(reason="timeout")


def record_skip(reason: SkipReason, provider: str | None, cause: BaseException | None) -> None:
    """Count a skip and log one line: names of things, never a text, and no message, which may hold one."""
    with _skips_lock:
        _skips[reason] += 1
    _LOG.warning(
        "rerank skipped: reason=%s provider=%s error=%s", reason, provider, type(cause).__name__ if cause else None
    )


def skip_counts() -> dict[str, int]:
    """Skips of this process by reason: ``seamline_rerank_skipped_total``."""
    with _skips_lock:
        return dict(_skips)


def _checked(scores: Sequence[float], count: int) -> Reranking:
    if len(scores) != count:
        return Reranking(reason="wrong_score_count")
    floats = tuple(float(score) for score in scores)
    return Reranking(scores=floats) if all(map(math.isfinite, floats)) else Reranking(reason="not_finite")
