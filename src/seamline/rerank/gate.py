"""The gate: each threshold binds to one named score, and an absent score passes no threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from seamline.types import AdmittedBy, Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One stage's thresholds, each ``None`` when unset: ``minimum`` admits, ``confident`` labels."""

    kind: Literal["rerank", "cosine"]
    minimum: float | None
    confident: float | None

    @property
    def setting(self) -> str:
        """The setting that holds ``minimum``."""
        return "rerank_min_score" if self.kind == "rerank" else "min_cosine"

    @property
    def admits_by(self) -> AdmittedBy:
        """What an admitted passage was admitted by; an unset gate admits everything and vouches for nothing."""
        return self.kind if self.minimum is not None else "ungated"

    def score(self, candidate: Candidate) -> float | None:
        """The score that this gate reads; ``None`` when the candidate has none."""
        return candidate.stages.rerank_score if self.kind == "rerank" else candidate.stages.cosine

    def admits(self, candidate: Candidate) -> bool:
        """Whether the candidate passes; without a score it passes an unset gate only."""
        score = self.score(candidate)
        return self.minimum is None or (score is not None and score >= self.minimum)

    def confidence(self, candidate: Candidate) -> bool | None:
        """Whether it counts as confident; ``None`` while uncalibrated."""
        score = self.score(candidate)
        return None if self.confident is None else score is not None and score >= self.confident


def split(gate: Gate, candidates: Sequence[Candidate]) -> tuple[Sequence[Candidate], list[Candidate]]:
    """The admitted and the refused, each in the given order."""
    if gate.minimum is None:
        return candidates, []
    admitted: list[Candidate] = []
    refused: list[Candidate] = []
    for candidate in candidates:
        (admitted if gate.admits(candidate) else refused).append(candidate)
    return admitted, refused
