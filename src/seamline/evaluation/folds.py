"""Chooses one of several settings by cross-validation, and says what the choice is worth on unseen queries.

Every setting has one value a query. The value of the best setting on the queries that chose it is too high, for
it was chosen for being high (the winner's curse); the held-out value is not.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seamline.errors import UsageError
from seamline.evaluation.significance import Interval, bootstrap_interval, randomisation_test

Table = Mapping[str, Sequence[float]]
"""Setting to values, one a query, all in the same order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What was chosen on all queries, and what choosing so is worth.

    ``in_fold`` is the chosen setting's mean on the queries that chose it, ``held_out`` the mean over queries of
    the value under the setting chosen without that query's fold. ``gain`` is held-out minus current, paired.
    ``picks`` is how often each setting won a fold. ``simplest`` is the setting nearest to the current one that is
    within one standard error of the best.
    """

    best: str
    simplest: str
    in_fold: float
    held_out: Interval
    current: float
    gain: Interval
    p_value: float
    picks: Mapping[str, int]
    folds: int

    @property
    def optimism(self) -> float:
        """By how much the in-fold value flatters."""
        return self.in_fold - self.held_out.mean


def fold_of(count: int, folds: int, seed: int) -> list[int]:
    """The fold of each of ``count`` queries: shuffled, of sizes that differ by one at most.

    Raises ``UsageError`` below two folds, or with fewer queries than folds.
    """
    if not 2 <= folds <= count:
        raise UsageError(f"{folds} folds of {count} queries", hint="at least 2 folds, and at least one query in each")
    order = list(range(count))
    random.Random(seed).shuffle(order)  # noqa: S311 -- a split of queries is no secret
    found = [0] * count
    for place, query in enumerate(order):
        found[query] = place % folds
    return found


def choose(table: Table, complexity: Mapping[str, int], *, current: str, folds: int, seed: int) -> Choice:
    """Choose by mean over the queries; ties go to the least complex, then to the first.

    Args:
        table: values by setting; ``current`` is one of its keys.
        complexity: in how many ways a setting differs from the current one.
        current: the setting in use.
        folds: of the cross-validation.
        seed: of the split, the bootstrap and the test.
    """
    count = len(table[current])
    member = fold_of(count, folds, seed)
    picks: dict[str, int] = {}
    held = [0.0] * count
    for fold in range(folds):
        training = [query for query in range(count) if member[query] != fold]
        winner = _best(table, complexity, training)
        picks[winner] = picks.get(winner, 0) + 1
        for query in range(count):
            if member[query] == fold:
                held[query] = table[winner][query]
    everything = range(count)
    best = _best(table, complexity, everything)
    gains = [ours - theirs for ours, theirs in zip(held, table[current], strict=True)]
    return Choice(
        best=best,
        simplest=_simplest(table, complexity, best),
        in_fold=_mean(table[best], everything),
        held_out=bootstrap_interval(held, seed=seed),
        current=_mean(table[current], everything),
        gain=bootstrap_interval(gains, seed=seed),
        p_value=randomisation_test(held, table[current], seed=seed),
        picks=dict(sorted(picks.items(), key=lambda item: (-item[1], item[0]))),
        folds=folds,
    )


def _best(table: Table, complexity: Mapping[str, int], queries: Sequence[int]) -> str:
    return max(table, key=lambda name: (round(_mean(table[name], queries), 12), -complexity[name]))


def _simplest(table: Table, complexity: Mapping[str, int], best: str) -> str:
    """The least complex setting whose mean is below the best's by no more than the difference's standard error.

    Of equally complex ones the better.
    The error is that of the paired difference: between queries values vary far more than between settings.
    """
    everything = range(len(table[best]))
    for name in sorted(table, key=lambda name: (complexity[name], -round(_mean(table[name], everything), 12))):
        losses = [top - value for top, value in zip(table[best], table[name], strict=True)]
        mean = math.fsum(losses) / len(losses)
        variance = math.fsum((loss - mean) ** 2 for loss in losses) / max(len(losses) - 1, 1)
        if mean <= math.sqrt(variance / len(losses)) + 1e-12:
            return name
    return best


def _mean(values: Sequence[float], queries: Sequence[int]) -> float:
    return math.fsum(values[query] for query in queries) / len(queries)
