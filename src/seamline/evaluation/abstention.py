"""Calibrates when to say nothing: a threshold on the best score of a question, from unanswerable ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from seamline.evaluation.folds import fold_of

KEPT = 0.9
"""Share of answerable questions that a threshold must let through: refusing them costs more than it gains."""
CONFIDENT_ERROR = 0.05
"""Share of unanswerable questions that may still reach the confident score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """At a threshold: the share of answerable questions answered, and of unanswerable ones answered anyway."""

    threshold: float
    coverage: float
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention:
    """``threshold`` admits, ``confident`` is the score that few unanswerable questions reach.

    ``held_out`` is coverage and error at the thresholds chosen without the question's fold; ``in_fold`` at the
    threshold chosen on all. ``auroc`` is the probability that an answerable question scores above an
    unanswerable one.
    """

    threshold: float
    confident: float
    in_fold: Point
    held_out: Point
    auroc: float
    curve: tuple[Point, ...]
    answerable: int
    unanswerable: int

    @property
    def separation(self) -> float:
        """One-sided 95% lower bound of held-out coverage minus held-out error (normal approximation)."""
        yes, no = self.held_out.coverage, self.held_out.error
        variance = yes * (1 - yes) / self.answerable + no * (1 - no) / self.unanswerable
        return yes - no - NormalDist().inv_cdf(0.95) * math.sqrt(variance)

    @property
    def useful(self) -> bool:
        """Whether the threshold may decide: held out it tells the two kinds apart, beyond chance."""
        return self.separation > 0


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    """Area under the ROC curve (Mann-Whitney); a tie counts one half."""
    won = sum((p > n) + 0.5 * (p == n) for p in positives for n in negatives)
    return won / (len(positives) * len(negatives))


def calibrate(answerable: Sequence[float], unanswerable: Sequence[float], *, folds: int, seed: int) -> Abstention:
    """The threshold with the largest ``coverage - error`` (Youden 1950) that keeps :data:`KEPT`; of equals the lowest.

    Raises ``UsageError`` when either side has fewer questions than folds.
    """
    threshold = _best(answerable, unanswerable)
    rows = sorted({*answerable, *unanswerable})
    step = max(1, len(rows) // 20)
    strict = [score for score in rows if _share(unanswerable, score) <= CONFIDENT_ERROR]
    return Abstention(
        threshold=threshold,
        confident=max(threshold, strict[0] if strict else rows[-1]),
        in_fold=_point(answerable, unanswerable, threshold),
        held_out=_held_out(answerable, unanswerable, threshold, folds, seed),
        auroc=auroc(answerable, unanswerable),
        curve=tuple(_point(answerable, unanswerable, score) for score in rows[::step]),
        answerable=len(answerable),
        unanswerable=len(unanswerable),
    )


def _held_out(yes: Sequence[float], no: Sequence[float], threshold: float, folds: int, seed: int) -> Point:
    yes_fold, no_fold = fold_of(len(yes), folds, seed), fold_of(len(no), folds, seed)
    covered = wrong = 0
    for fold in range(folds):
        chosen = _best(_outside(yes, yes_fold, fold), _outside(no, no_fold, fold))
        covered += sum(score >= chosen for score, member in zip(yes, yes_fold, strict=True) if member == fold)
        wrong += sum(score >= chosen for score, member in zip(no, no_fold, strict=True) if member == fold)
    return Point(threshold=threshold, coverage=covered / len(yes), error=wrong / len(no))


def _outside(scores: Sequence[float], member: Sequence[int], fold: int) -> list[float]:
    return [score for score, its in zip(scores, member, strict=True) if its != fold]


def _best(yes: Sequence[float], no: Sequence[float]) -> float:
    keeping = [score for score in sorted({*yes, *no}) if _share(yes, score) >= KEPT]
    return max(keeping, key=lambda score: round(_share(yes, score) - _share(no, score), 12))


def _share(scores: Sequence[float], threshold: float) -> float:
    return sum(score >= threshold for score in scores) / len(scores)


def _point(yes: Sequence[float], no: Sequence[float], threshold: float) -> Point:
    return Point(threshold=threshold, coverage=_share(yes, threshold), error=_share(no, threshold))
