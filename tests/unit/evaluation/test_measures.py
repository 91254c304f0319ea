from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamline.errors import InvalidRunError
from seamline.evaluation.measures import judged, measure, names, ndcg


def test_values_of_a_small_ranking_by_hand() -> None:
    relevance = {"a": 2, "b": 1, "c": 0, "d": 1}
    values = measure(["x", "b", "c", "a"], relevance, k=3)
    ideal = 2 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert values == pytest.approx(
        {
            "recall@3": 1 / 3,
            "ndcg@10": (1 / log2(3) + 2 / log2(5)) / ideal,
            "mrr@10": 1 / 2,
            "map": (1 / 2 + 2 / 4) / 3,
            "success@1": 0.0,
            "judged@10": 3 / 4,
        }
    )
    assert tuple(values) == names(3)


def test_rule_28_a_query_without_an_answer_counts_zero() -> None:
    assert set(measure([], {"a": 1}, k=8).values()) == {0.0}


def test_a_document_ranked_twice_is_refused_by_name() -> None:
    with pytest.raises(InvalidRunError, match="twice-seen"):
        measure(["a", "twice-seen", "twice-seen"], {"a": 1}, k=8)


def test_gain_is_linear_in_the_grade() -> None:
    assert ndcg(["low", "high"], {"high": 3, "low": 1}, 10) == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))


def test_a_negative_grade_is_judged_and_gains_nothing() -> None:
    values = measure(["bad", "good"], {"bad": -2, "good": 1}, k=8)
    assert values["ndcg@10"] == pytest.approx(1 / log2(3))
    assert (values["judged@10"], values["success@1"], values["recall@8"]) == (1.0, 0.0, 1.0)


def test_a_short_ranking_that_is_fully_labelled_is_fully_judged() -> None:
    assert judged(["a", "b"], {"a": 1, "b": 0}, 10) == 1.0
    assert judged(["a", "x"], {"a": 1}, 10) == 0.5


def test_ranks_beyond_ten_do_not_reach_the_measures_at_ten() -> None:
    ranking = [f"x{i}" for i in range(10)] + ["a"]
    values = measure(ranking, {"a": 1}, k=11)
    assert (values["mrr@10"], values["ndcg@10"], values["recall@11"]) == (0.0, 0.0, 1.0)
    assert values["map"] == pytest.approx(1 / 11)


@given(st.permutations([f"d{number}" for number in range(14)]), st.dictionaries(st.integers(0, 13), st.integers(0, 3)))
def test_values_are_shares_and_swapping_a_better_document_up_never_lowers_one(
    ranking: list[str], grades: dict[int, int]
) -> None:
    relevance = {f"d{number}": grade for number, grade in grades.items()}
    before = measure(ranking, relevance, k=8)
    assert all(0 <= value <= 1 + 1e-12 for value in before.values())
    for upper, lower in zip(range(13), range(1, 14), strict=True):
        if relevance.get(ranking[lower], 0) > relevance.get(ranking[upper], 0):
            better = [*ranking]
            better[upper], better[lower] = better[lower], better[upper]
            after = measure(better, relevance, k=8)
            assert all(after[name] >= before[name] - 1e-12 for name in before if name != "judged@10")
