"""Orders candidates by the scores of both legs. Pure functions; a fused score orders and means nothing else.

``weighted`` is a convex combination of normalised scores (Bruch et al., "An Analysis of Fusion Functions for
Hybrid Retrieval", 2023); ``rrf`` is reciprocal rank fusion (Cormack et al., 2009).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from seamline.errors import IntegrityError
from seamline.types import Candidate, ChunkId, Stages

Fusion = Literal["weighted", "rrf"]
Normaliser = Literal["theoretical", "min_max", "z_score"]
Alpha = Callable[[str | None], float] | float
"""Weight of the dense leg in [0, 1], or such a weight by the candidate's language."""


def weighted(candidates: Sequence[Candidate], *, alpha: Alpha, normaliser: Normaliser) -> list[Candidate]:
    """``alpha * cosine_n + (1 - alpha) * bm25_n``, ordered by (fused score descending, chunk id ascending).

    Normalisers: ``theoretical`` divides by the largest score in the leg's pool, negative cosines counting as 0
    (result in [0, 1]); ``min_max`` maps the candidates' range to [0, 1]; ``z_score`` centres and divides by the
    standard deviation. A missing score is the normaliser's minimum. Where one leg's pool is empty the other
    decides alone, whatever the weights: they differ by language, and would reorder a single leg.

    Raises:
        IntegrityError: a chunk occurs twice.
    """
    stages = [candidate.stages for candidate in candidates]
    dense = _normalised([(s.cosine, s.dense_rank is not None) for s in stages], normaliser)
    keyword = _normalised([(s.keyword_score, s.keyword_rank is not None) for s in stages], normaliser)
    weight = _weights(candidates, alpha)
    scores = [
        (share := weight[candidate.language]) * cosine + (1 - share) * bm25
        for candidate, cosine, bm25 in zip(candidates, dense, keyword, strict=True)
    ]
    return _ordered(candidates, scores)


def rrf(
    candidates: Sequence[Candidate], *, k: float, dense_weight: float = 1.0, keyword_weight: float = 1.0
) -> list[Candidate]:
    """``sum over legs of weight / (k + rank)``, ranks from 1; absent from a leg's pool contributes 0.

    Raises:
        IntegrityError: a chunk occurs twice.
    """
    scores = [
        (dense_weight / (k + stages.dense_rank) if stages.dense_rank is not None else 0.0)
        + (keyword_weight / (k + stages.keyword_rank) if stages.keyword_rank is not None else 0.0)
        for stages in (candidate.stages for candidate in candidates)
    ]
    return _ordered(candidates, scores)


def _weights(candidates: Sequence[Candidate], alpha: Alpha) -> dict[str | None, float]:
    """The dense leg's weight by language; all of it for the other leg where one leg's pool is empty."""
    languages = {candidate.language for candidate in candidates}
    if all(candidate.stages.keyword_rank is None for candidate in candidates):
        return dict.fromkeys(languages, 1.0)
    if all(candidate.stages.dense_rank is None for candidate in candidates):
        return dict.fromkeys(languages, 0.0)
    return {language: alpha(language) if callable(alpha) else alpha for language in languages}


def _normalised(scores: Sequence[tuple[float | None, bool]], normaliser: Normaliser) -> list[float]:
    """One value a ``(score, whether the leg's pool holds it)``; fsum keeps it independent of their order."""
    present = [score for score, _ in scores if score is not None]
    if not present:
        return [0.0] * len(scores)
    if normaliser == "theoretical":
        top = max((score for score, pooled in scores if pooled and score is not None), default=0.0)
        if top <= 0:
            return [0.0] * len(scores)
        # A completed score may lie above the pool's: the pool honours phrases. It earns no more than the best.
        return [0.0 if score is None or score <= 0 else 1.0 if score >= top else score / top for score, _ in scores]
    if normaliser == "min_max":
        low, high = min(present), max(present)
        return [(score - low) / (high - low) if score is not None and high > low else 0.0 for score, _ in scores]
    mean = math.fsum(present) / len(present)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in present) / len(present))
    if deviation == 0:
        return [0.0] * len(scores)
    lowest = (min(present) - mean) / deviation
    return [(score - mean) / deviation if score is not None else lowest for score, _ in scores]


def _ordered(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
    ids: set[ChunkId] = {candidate.chunk_id for candidate in candidates}
    if len(ids) != len(candidates):
        raise IntegrityError(
            f"fusion was given {len(candidates)} candidates of {len(ids)} chunks: one leg would vote twice",
            hint="a leg's pool names each chunk once; check the store with its conformance tests",
        )
    order = sorted((-score, candidate.chunk_id, candidate) for score, candidate in zip(scores, candidates, strict=True))
    return [_fused(candidate, rank, -score) for rank, (score, _, candidate) in enumerate(order, 1)]


def _fused(candidate: Candidate, rank: int, score: float) -> Candidate:
    """The candidate with its fusion; spelt out because ``dataclasses.replace`` takes three times as long."""
    stages = candidate.stages
    return Candidate(
        chunk_id=candidate.chunk_id,
        language=candidate.language,
        stages=Stages(
            dense_rank=stages.dense_rank,
            cosine=stages.cosine,
            keyword_rank=stages.keyword_rank,
            keyword_score=stages.keyword_score,
            matched_terms=stages.matched_terms,
            prefilter_rank=stages.prefilter_rank,
            fused_rank=rank,
            fused_score=score,
        ),
    )
