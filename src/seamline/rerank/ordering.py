"""Reorders the head of the candidates by a reranker, or says why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seamline.errors import RerankError
from seamline.ports import Reranker
from seamline.rerank import guarded, runner
from seamline.rerank.selection import SelectOptions
from seamline.rerank.texts import Texts
from seamline.types import DEFAULT_TEMPLATE, Candidate, RerankOutcome


def reranked(
    query: str, candidates: Sequence[Candidate], texts: Texts, reranker: Reranker | None, options: SelectOptions
) -> tuple[Sequence[Candidate], RerankOutcome]:
    """The candidates in the order to select from: the reranked head, or all as they came when it did not run."""
    if options.rerank == "off":
        return candidates, RerankOutcome(status="off")
    head = candidates[: options.rerank_candidates]
    inputs = [chunk.rendered(DEFAULT_TEMPLATE) for chunk in texts.of(head)] if reranker is not None else []
    inputs, cut = _fitting(inputs, options.max_chars)
    result = guarded.run(reranker, query, inputs, timeout_s=options.timeout_s)
    name = reranker.name if reranker is not None else None
    if result.reason is not None:
        runner.record_skip(result.reason, name, result.cause)
        if options.rerank == "required":
            raise _required(name, result) from result.cause
        return candidates, RerankOutcome(status="skipped", provider=name, reason=result.reason, cut=cut)
    scores = result.scores or ()
    order = sorted(range(len(head)), key=lambda index: (-scores[index], index))
    ranked = [
        replace(head[index], stages=replace(head[index].stages, rerank_rank=rank, rerank_score=scores[index]))
        for rank, index in enumerate(order, 1)
    ]
    return ranked, RerankOutcome(status="applied", provider=name, cut=cut)


def _fitting(texts: Sequence[str], most: int) -> tuple[list[str], int]:
    """Texts of at most ``most`` characters, cut between words where there are any, and how many were cut."""
    fitting = [
        text if len(text) <= most else text[:most].rsplit(maxsplit=1)[0] if " " in text[:most] else text[:most]
        for text in texts
    ]
    return fitting, sum(len(text) > most for text in texts)


def _required(name: str | None, result: runner.Reranking) -> RerankError:
    if result.reason == "unconfigured":
        return RerankError(
            "reranking is required and no reranker is configured", hint="set SEAMLINE_RERANK_PROVIDER, or ask for auto"
        )
    return RerankError(
        f"reranking is required and {name!r} failed: {result.reason}",
        hint="raise SEAMLINE_RERANK_TIMEOUT_S" if result.reason == "timeout" else "ask for auto to do without it",
    )
