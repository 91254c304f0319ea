"""Runs the legs side by side: the keyword leg works while the question is being embedded."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import lru_cache, partial
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from seamline.ports import Analyzer, Embedder, LegReader
from seamline.retrieve import dense, keyword
from seamline.retrieve.question import Question
from seamline.types import Hit, KeywordQuery, Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from seamline.ports import Vector

_THREADS = 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """What the legs returned, each in its total order. ``timings_ms`` by step; ``vector`` is the question's."""

    keyword_query: KeywordQuery
    vector: Vector | None
    dense: list[Hit]
    keyword: list[Hit]
    timings_ms: dict[str, float]


def run(
    reader: LegReader,
    scope: Scope,
    question: Question,
    *,
    embedder: Embedder | None,
    analyzer: Analyzer,
    depth: int | None,
    with_dense: bool = True,
    with_keyword: bool = True,
) -> Pools:
    """Both pools (or one) of ``depth`` hits, ``None`` for all. Without an embedder there is no vector.

    A leg that fails raises; the other is waited for first, so that nothing reads a snapshot that was closed.
    """
    timings: dict[str, float] = {}
    query = _timed(timings, "analyze", partial(analyzer.query, question.text, question.keyword_languages))
    work = partial(_timed, timings, "keyword", partial(keyword.pool, reader, scope, query, depth))
    ahead = _executor().submit(work) if with_keyword and query.terms else None
    vector: Vector | None = None
    dense_hits: list[Hit] = []
    try:
        if embedder is not None:
            vector = _timed(timings, "embed", partial(dense.embed, embedder, question.text))
            if with_dense:
                keep = partial(keyword.without_excluded, reader, scope, query)
                dense_hits = _timed(timings, "dense", partial(dense.pool, reader, scope, vector, depth, keep))
    except BaseException:
        if ahead is not None and not ahead.cancel():
            wait([ahead])
        raise
    return Pools(
        keyword_query=query,
        vector=vector,
        dense=dense_hits,
        keyword=_finished(ahead, work) if ahead is not None else [],
        timings_ms=timings,
    )


def _finished(ahead: Future[T], work: Callable[[], T]) -> T:
    """The result; work that no thread has begun (all are busy) is done here and now instead of waited for."""
    return work() if ahead.cancel() else ahead.result()


def _timed(timings: dict[str, float], step: str, work: Callable[[], T]) -> T:
    started = perf_counter()
    try:
        return work()
    finally:
        timings[step] = (perf_counter() - started) * 1000


@lru_cache(maxsize=1)
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="seamline-keyword")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork: a child makes its own
    os.register_at_fork(after_in_child=_executor.cache_clear)
