"""Orders candidates by the scores of both legs. Pure functions; a fused score orders and means nothing else.

``weighted`` is a convex combination of normalised scores (Bruch et al., "An Analysis of Fusion Functions for
Hybrid Retrieval", 2023); ``rrf`` is reciprocal rank fusion (Cormack et al., 2009); ``dbsf`` is distribution-based
score fusion (Mazzeschi, 2023).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from seamline.errors import IntegrityError
from seamline.types import Candidate, ChunkId, Stages

Fusion = Literal["weighted", "rrf", "dbsf"]
Normaliser = Literal["theoretical", "shifted", "min_max", "z_score"]
Alpha = Callable[[str | None], float] | float
"""Weight of the dense leg in [0, 1], or such a weight by the candidate's language."""


def weighted(candidates: Sequence[Candidate], *, alpha: Alpha, normaliser: Normaliser) -> list[Candidate]:
    """``alpha * cosine_n + (1 - alpha) * bm25_n``, ordered by (fused score descending, chunk id ascending).

    Normalisers: ``theoretical`` divides by the largest score in the leg's pool, negative cosines counting as 0
    (result in [0, 1]); ``shifted`` does the same after adding 1 to each cosine; ``min_max`` maps the candidates'
    range to [0, 1]; ``z_score`` centres and divides by the standard deviation. A missing score is the normaliser's
    minimum. Where one leg's pool is empty the other decides alone, whatever the weights: they differ by language,
    and would reorder a single leg.

    Raises:
        IntegrityError: a chunk occurs twice.
    """
    stages = [candidate.stages for candidate in candidates]
    shift = 1.0 if normaliser == "shifted" else 0.0
    cosines = [(None if s.cosine is None else s.cosine + shift, s.dense_rank is not None) for s in stages]
    dense = _normalised(cosines, normaliser)
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


def dbsf(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The sum of both legs' scores, each on a scale where its pool's mean - 3 deviations is 0 and + 3 is 1.

    The scale is that of the pool alone; a completed score outside the pool is put on it, a missing one counts as
    the lowest score there is. A leg whose pool has no spread says 0.5 of everyone, one with an empty pool nothing.

    Raises:
        IntegrityError: a chunk occurs twice.
    """
    stages = [candidate.stages for candidate in candidates]
    dense = _by_distribution([(s.cosine, s.dense_rank is not None) for s in stages])
    keyword = _by_distribution([(s.keyword_score, s.keyword_rank is not None) for s in stages])
    return _ordered(candidates, [one + other for one, other in zip(dense, keyword, strict=True)])


def _by_distribution(scores: Sequence[tuple[float | None, bool]]) -> list[float]:
    pool = [score for score, pooled in scores if pooled and score is not None]
    if not pool:
        return [0.0] * len(scores)
    mean, deviation = _spread(pool)
    if deviation == 0:
        return [0.5] * len(scores)
    lowest = min(score for score, _ in scores if score is not None)
    floor = mean - 3 * deviation
    return [((lowest if score is None else score) - floor) / (6 * deviation) for score, _ in scores]


def _spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation; fsum keeps them independent of the order."""
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def _weights(candidates: Sequence[Candidate], alpha: Alpha) -> dict[str | None, float]:
    """The dense leg's weight by language; all of it for the other leg where one leg's pool is empty."""
    languages = {candidate.language for candidate in candidates}
    if all(candidate.stages.keyword_rank is None for candidate in candidates):
        return dict.fromkeys(languages, 1.0)
    if all(candidate.stages.dense_rank is None for candidate in candidates):
        return dict.fromkeys(languages, 0.0)
    return {language: alpha(language) if callable(alpha) else alpha for language in languages}


def _normalised(scores: Sequence[tuple[float | None, bool]], normaliser: Normaliser) -> list[float]:
    """One value a ``(score, whether the leg's pool holds it)``."""
    present = [score for score, _ in scores if score is not None]
    if not present:
        return [0.0] * len(scores)
    if normaliser in ("theoretical", "shifted"):
        top = max((score for score, pooled in scores if pooled and score is not None), default=0.0)
        if top <= 0:
            return [0.0] * len(scores)
        # A completed score may lie above the pool's: the pool honours phrases. It earns no more than the best.
        return [0.0 if score is None or score <= 0 else 1.0 if score >= top else score / top for score, _ in scores]
    if normaliser == "min_max":
        low, high = min(present), max(present)
        return [(score - low) / (high - low) if score is not None and high > low else 0.0 for score, _ in scores]
    mean, deviation = _spread(present)
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
