"""A reranker with what must outlive one question: its breaker and its cached scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seamline.ports import Reranker
from seamline.rerank import runner
from seamline.rerank.breaker import Breaker
from seamline.rerank.cache import ScoreCache
from seamline.rerank.runner import Reranking
from seamline.types import Fingerprint


class Guarded:
    """Implements ``ports.Reranker`` by delegation; keep one a process, or the breaker never learns anything."""

    def __init__(self, inner: Reranker, breaker: Breaker, cache: ScoreCache) -> None:
        self.name = inner.name
        self.stand_in = inner.stand_in
        self.inner = inner
        self.breaker = breaker
        self.cache = cache

    @property
    def fingerprint(self) -> Fingerprint:
        """Of the reranker inside: guarding changes no score."""
        return self.inner.fingerprint

    def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """As the reranker inside, unguarded."""
        return self.inner.rerank(query, texts, deadline_s=deadline_s)


def guard(inner: Reranker, settings: Mapping[str, object]) -> Guarded:
    """From ``rerank_breaker_failures``, ``rerank_breaker_s`` and ``rerank_cache_entries``."""
    return Guarded(
        inner,
        Breaker(
            failures=settings["rerank_breaker_failures"],  # type: ignore[arg-type]
            seconds=settings["rerank_breaker_s"],  # type: ignore[arg-type]
        ),
        ScoreCache(settings["rerank_cache_entries"]),  # type: ignore[arg-type]
    )


def run(reranker: Reranker | None, query: str, texts: Sequence[str], *, timeout_s: float) -> Reranking:
    """As :func:`runner.run`; of a guarded reranker only what is not cached, and nothing while its breaker is open."""
    if not isinstance(reranker, Guarded):
        return runner.run(reranker, query, texts, timeout_s=timeout_s)
    identity = reranker.fingerprint
    known = reranker.cache.get(identity, query, texts)
    missing = [place for place, score in enumerate(known) if score is None]
    asked = [texts[place] for place in missing]
    if asked:
        if not reranker.breaker.allow():
            return Reranking(reason="breaker_open")
        result = runner.run(reranker.inner, query, asked, timeout_s=timeout_s)
        reranker.breaker.record(result.reason is None)
        if result.scores is None:
            return result
        reranker.cache.put(identity, query, asked, result.scores)
        for place, score in zip(missing, result.scores, strict=True):
            known[place] = score
    return Reranking(scores=tuple(score for score in known if score is not None))
