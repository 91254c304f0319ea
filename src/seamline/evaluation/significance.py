"""How far a mean, or the difference of two, may be trusted. Seeded: equal input gives equal output.

``values`` are per-query measures of shape ``(n,)``; the queries are the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seamline.errors import UsageError

ROUNDS = 10_000
LEVEL = 0.95
_BLOCK = 2_000_000
"""Most cells drawn at once: bounds the memory whatever the number of queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean with the ends of its 95% interval."""

    mean: float
    low: float
    high: float


def bootstrap_interval(values: Sequence[float], *, seed: int, rounds: int = ROUNDS) -> Interval:
    """Percentile bootstrap of the mean (Efron 1979): queries are resampled with replacement.

    Raises ``UsageError`` when there is no value.
    """
    sample = _array(values)
    rng = np.random.default_rng(seed)
    means = np.concatenate(
        [sample[rng.integers(0, sample.size, (size, sample.size))].mean(axis=1) for size in _blocks(rounds, sample)]
    )
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(mean=float(sample.mean()), low=float(low), high=float(high))


def randomisation_test(values: Sequence[float], baseline: Sequence[float], *, seed: int, rounds: int = ROUNDS) -> float:
    """Two-sided p of the paired randomisation test (Fisher; sign flips of the differences), in (0, 1].

    The observed assignment counts as one round, so that p is never 0. Raises ``UsageError`` when the two
    are not over the same number of queries.
    """
    if len(values) != len(baseline):
        raise UsageError(f"a paired test needs the same queries: {len(values)} values against {len(baseline)}")
    differences = _array(values) - _array(baseline)
    observed = abs(float(differences.sum()))
    # Sums of the same numbers in another order differ in the last bits; they must count as equal.
    threshold = observed - 1e-12 * max(1.0, float(np.abs(differences).sum()))
    rng = np.random.default_rng(seed)
    extreme = 0
    for size in _blocks(rounds, differences):
        signs = rng.integers(0, 2, (size, differences.size), dtype=np.int8) * 2 - 1
        extreme += int(np.count_nonzero(np.abs(signs @ differences) >= threshold))
    return (1 + extreme) / (1 + rounds)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values of a family of tests (Holm 1979), in the order given; never above 1."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for position, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - position) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def _array(values: Sequence[float]) -> NDArray[np.float64]:
    if not len(values):
        raise UsageError("no per-query values to test", hint="the golden set needs answerable queries")
    return np.asarray(values, dtype=np.float64)


def _blocks(rounds: int, sample: NDArray[np.float64]) -> list[int]:
    size = max(1, _BLOCK // sample.size)
    return [min(size, rounds - start) for start in range(0, rounds, size)]
