import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamline.errors import UsageError
from seamline.evaluation.significance import bootstrap_interval, holm, randomisation_test


def test_the_interval_of_a_mean_agrees_with_the_normal_approximation() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.1, 400)
    interval = bootstrap_interval(values.tolist(), seed=7)
    half = 1.96 * values.std() / 20
    assert interval.mean == pytest.approx(values.mean())
    assert interval.low == pytest.approx(values.mean() - half, abs=0.0008)
    assert interval.high == pytest.approx(values.mean() + half, abs=0.0008)


def test_the_seed_decides_the_interval_and_the_p_value() -> None:
    values, baseline = np.random.default_rng(9).random((2, 60)).tolist()
    assert bootstrap_interval(values, seed=3) == bootstrap_interval(values, seed=3)
    assert bootstrap_interval(values, seed=3) != bootstrap_interval(values, seed=4)
    assert randomisation_test(values, baseline, seed=3) == randomisation_test(values, baseline, seed=3)


def test_rule_28_the_paired_test_approaches_the_exact_one() -> None:
    differences = [0.3, 0.1, -0.2, 0.4, 0.25, 0.0, 0.15, -0.05]
    observed = abs(sum(differences)) - 1e-12
    flips = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    p = randomisation_test(differences, [0.0] * len(differences), seed=1, rounds=40_000)
    assert p == pytest.approx(sum(flips) / len(flips), abs=0.01)


def test_equal_variants_are_not_different_and_clear_winners_are() -> None:
    values = np.random.default_rng(2).random(80)
    assert randomisation_test(values.tolist(), values.tolist(), seed=1) == 1.0
    assert randomisation_test((values + 0.2).tolist(), values.tolist(), seed=1) == pytest.approx(1 / 10_001)
    assert randomisation_test(values.tolist(), (values + 0.2).tolist(), seed=1) == pytest.approx(1 / 10_001)


def test_false_alarms_keep_to_the_level() -> None:
    rng = np.random.default_rng(5)
    ps = [randomisation_test(*rng.random((2, 30)).tolist(), seed=1, rounds=999) for _ in range(400)]
    assert np.mean(np.array(ps) <= 0.05) == pytest.approx(0.05, abs=0.03)


def test_large_samples_are_drawn_in_blocks_with_every_round_counted() -> None:
    ones = [1.0] * 30_000
    interval = bootstrap_interval(ones, seed=1, rounds=150)
    assert (interval.mean, interval.low, interval.high) == (1.0, 1.0, 1.0)
    assert randomisation_test(ones, [0.0] * len(ones), seed=1, rounds=150) == pytest.approx(1 / 151)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1)))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(p <= a <= 1 for p, a in zip(ps, adjusted, strict=True))
    pairs = sorted(zip(ps, adjusted, strict=True))
    assert all(first[1] <= second[1] for first, second in itertools.pairwise(pairs))


def test_nothing_to_test_and_unpaired_values_are_refused() -> None:
    with pytest.raises(UsageError, match="no per-query values"):
        bootstrap_interval([], seed=1)
    with pytest.raises(UsageError, match="2 values against 1"):
        randomisation_test([0.1, 0.2], [0.1], seed=1)
