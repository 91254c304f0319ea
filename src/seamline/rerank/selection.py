"""What a selection is asked for, and the account that it gives of every candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from seamline.types import ChunkId, RerankedPassages, RerankOutcome, ScoreKind

RerankPolicy = Literal["auto", "off", "required"]
FateStage = Literal["admitted", "rerank_candidates", "gate", "near_duplicate", "limit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectOptions:
    """One selection policy. Gates are ``None`` when unset; ``score_kind`` is what ordered the candidates."""

    limit: int
    rerank: RerankPolicy
    rerank_candidates: int
    timeout_s: float
    max_chars: int
    min_cosine: float | None
    confident_cosine: float | None
    rerank_min_score: float | None
    rerank_confident_score: float | None
    near_duplicate_jaccard: float
    score_kind: ScoreKind

    @classmethod
    def of(
        cls, settings: Mapping[str, Any], *, limit: int, rerank: RerankPolicy, score_kind: ScoreKind
    ) -> SelectOptions:
        """The options that the settings state, with those of the request."""
        return cls(
            limit=limit,
            rerank=rerank,
            rerank_candidates=settings["rerank_candidates"],
            timeout_s=settings["rerank_timeout_s"],
            max_chars=settings["rerank_max_chars"],
            min_cosine=settings["min_cosine"],
            confident_cosine=settings["confident_cosine"],
            rerank_min_score=settings["rerank_min_score"],
            rerank_confident_score=settings["rerank_confident_score"],
            near_duplicate_jaccard=settings["near_duplicate_jaccard"],
            score_kind=score_kind,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What became of one candidate: ``admitted``, or the stage that lost it.

    ``rank`` is the passage's when admitted, else the position in the last order, from 1; ``None`` behind the limit,
    where it is not known which candidates are near-duplicates. ``needed`` is the value of ``setting`` that would take
    the candidate past that stage, and ``margin`` how far off it is; ``None`` where no value would.
    """

    stage: FateStage
    rank: int | None
    setting: str | None = None
    needed: float | None = None
    margin: float | None = None
    absorbed_by: ChunkId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The minted passages, and an account of every candidate in ``fates``.

    ``cut_by`` names a setting that kept candidates from filling the limit. ``timings_ms`` are milliseconds by step.
    """

    passages: RerankedPassages
    outcome: RerankOutcome
    cut_by: str | None
    timings_ms: dict[str, float]
    fates: Mapping[ChunkId, Fate]
