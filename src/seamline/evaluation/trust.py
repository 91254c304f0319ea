"""Decides whether a variant's numbers may be believed, from what each query's result said of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from seamline.evaluation.variants import Variant
from seamline.types import RerankOutcome, RetrievalResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a run keeps of a result beside its ranking: small, whatever the size of the passages."""

    mode_requested: str
    mode_used: str
    rerank: RerankOutcome
    corpus: str
    space: str
    policy: str
    stand_ins: tuple[str, ...]

    @property
    def stages(self) -> dict[str, str]:
        """What decides whether two queries were answered by the same machinery over the same corpus."""
        return {
            "mode": self.mode_used,
            "rerank": f"{self.rerank.status} ({self.rerank.provider or 'none'})",
            "corpus": self.corpus,
            "space": self.space,
            "policy": self.policy,
        }


def observe(result: RetrievalResult) -> Observation:
    """What one result says of the stages behind it."""
    return Observation(
        mode_requested=result.mode_requested,
        mode_used=result.mode_used,
        rerank=result.rerank,
        corpus=str(result.corpus_fingerprint),
        space=str(result.space_fingerprint),
        policy=str(result.policy_fingerprint),
        stand_ins=result.stand_ins,
    )


def distrust(variant: Variant, observations: Sequence[Observation]) -> list[str]:
    """Why a variant's numbers must not be believed; empty when they may be.

    ``observations`` are those of the queries that did not fail, at least one.
    """
    return [*_degraded(observations), *_mixed(observations), *_misnamed(variant, observations)]


def _degraded(observations: Sequence[Observation]) -> list[str]:
    seen = Counter(
        f"{one.mode_requested} ran as {one.mode_used}" for one in observations if one.mode_requested != one.mode_used
    )
    seen.update(
        f"reranking was skipped ({one.rerank.reason or 'no reason given'})"
        for one in observations
        if one.rerank.status == "skipped"
    )
    return [f"{what} for {count} of {len(observations)} answered queries" for what, count in sorted(seen.items())]


def _mixed(observations: Sequence[Observation]) -> list[str]:
    reasons = []
    for stage in observations[0].stages:
        seen = Counter(one.stages[stage] for one in observations)
        if len(seen) > 1:
            listed = ", ".join(f"{value} ({count})" for value, count in sorted(seen.items()))
            reasons.append(f"{stage} differed between queries: {listed}")
    return reasons


def _misnamed(variant: Variant, observations: Sequence[Observation]) -> list[str]:
    applied = sum(one.rerank.status == "applied" for one in observations)
    if variant.reranked is False and applied:
        return [f"a reranker ordered {applied} queries of a variant that is defined without one"]
    if variant.reranked and applied < len(observations):
        return [f"no reranker ordered {len(observations) - applied} queries of a variant that is defined by it"]
    return []
