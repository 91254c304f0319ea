import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamline.errors import UsageError
from seamline.evaluation.abstention import auroc, calibrate
from seamline.evaluation.folds import choose, fold_of


@given(st.integers(2, 60), st.integers(2, 10), st.integers(0, 5))
def test_folds_are_a_partition_of_even_sizes(count: int, folds: int, seed: int) -> None:
    if folds > count:
        with pytest.raises(UsageError):
            fold_of(count, folds, seed)
        return
    member = fold_of(count, folds, seed)
    sizes = [member.count(fold) for fold in range(folds)]
    assert (len(member), sum(sizes)) == (count, count)
    assert max(sizes) - min(sizes) <= 1


def test_choosing_among_noise_flatters_in_fold_and_not_held_out() -> None:
    """The winner's curse: forty settings that differ by chance alone."""
    rng = random.Random(7)
    table = {f"s{number}": [rng.random() for _ in range(80)] for number in range(40)}
    choice = choose(table, dict.fromkeys(table, 1) | {"s0": 0}, current="s0", folds=5, seed=1)
    assert choice.in_fold > 0.55
    assert choice.held_out.mean < 0.55
    assert choice.optimism == pytest.approx(choice.in_fold - choice.held_out.mean)
    assert choice.p_value > 0.05
    assert sum(choice.picks.values()) == 5


def test_a_real_difference_is_chosen_in_every_fold_and_held_out() -> None:
    rng = random.Random(7)
    base = [rng.random() / 2 for _ in range(50)]
    table = {"now": base, "better": [value + 0.2 for value in base]}
    choice = choose(table, {"now": 0, "better": 1}, current="now", folds=5, seed=1)
    assert (choice.best, choice.simplest, choice.picks) == ("better", "better", {"better": 5})
    assert choice.gain.mean == pytest.approx(0.2)
    assert choice.optimism == pytest.approx(0)


def test_within_one_standard_error_the_simpler_setting_is_named_and_ties_go_to_it() -> None:
    table = {"odd": [0.0, 1.0, 0.0, 1.0, 0.1], "now": [1.0, 0.0, 1.0, 0.0, 0.0], "same": [0.0, 1.0, 0.0, 1.0, 0.1]}
    choice = choose(table, {"odd": 3, "now": 0, "same": 2}, current="now", folds=5, seed=1)
    assert (choice.best, choice.simplest) == ("same", "now")


def test_auroc_by_hand_and_a_threshold_that_separates() -> None:
    assert auroc([0.9, 0.5], [0.5, 0.1]) == pytest.approx((1 + 1 + 0.5 + 1) / 4)
    found = calibrate([0.6, 0.7, 0.8, 0.9] * 3, [0.1, 0.2, 0.3] * 4, folds=4, seed=1)
    assert found.threshold == 0.6
    assert (found.in_fold.coverage, found.in_fold.error, found.auroc) == (1.0, 0.0, 1.0)
    assert (found.held_out.coverage, found.held_out.error) == (1.0, 0.0)
    assert found.confident == 0.6
    assert [point.coverage for point in found.curve] == sorted((p.coverage for p in found.curve), reverse=True)


def test_a_threshold_among_noise_is_not_flattered_by_its_held_out_error() -> None:
    rng = random.Random(3)
    found = calibrate([rng.random() for _ in range(40)], [rng.random() for _ in range(40)], folds=5, seed=1)
    held, inside = found.held_out, found.in_fold
    assert held.coverage - held.error < inside.coverage - inside.error


def test_of_equally_simple_settings_within_one_standard_error_the_better_is_named() -> None:
    best = [1.0, 0.9, 1.0, 0.8, 1.0, 0.7]
    close = [value - loss for value, loss in zip(best, (0.3, -0.2, 0.2, -0.1, 0.1, -0.1), strict=True)]
    table = {"now": [0.1] * 6, "close": close, "best": best}
    assert choose(table, {"now": 0, "close": 1, "best": 1}, current="now", folds=3, seed=1).simplest == "best"


def test_a_threshold_keeps_nine_in_ten_answerable_questions_and_is_useful_only_beyond_chance() -> None:
    """Half of the answerable questions score apart from all others: the best split would refuse the other half."""
    rng = random.Random(5)
    low = [rng.random() * 0.1 for _ in range(40)]
    found = calibrate(
        [0.9 + rng.random() * 0.1 for _ in range(40)] + low, [value + 0.001 for value in low], folds=5, seed=1
    )
    assert found.in_fold.coverage >= 0.9
    assert not found.useful
    apart = calibrate(
        [0.6 + rng.random() * 0.2 for _ in range(40)], [rng.random() * 0.5 for _ in range(20)], folds=5, seed=1
    )
    assert apart.useful
    assert 0.5 < apart.separation < 1
