"""Our measures against trec_eval's own code on random runs.

Run scores are derived from ranks, as in the run files that we write, so tie rules cannot differ.
"""

import random
from collections.abc import Mapping

import pytest
import pytrec_eval

from seamline.evaluation.measures import measure

RUNS = 1_200
CUTS = (1, 3, 8, 10, 25)


def random_case(rng: random.Random) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Labels with grades 0 to 3 and rankings; some queries are not answered, some documents not judged."""
    pool = [f"d{number}" for number in range(rng.randint(3, 60))]
    labels: dict[str, dict[str, int]] = {}
    rankings: dict[str, list[str]] = {}
    for number in range(rng.randint(1, 6)):
        query = f"q{number}"
        judged = rng.sample(pool, rng.randint(1, len(pool)))
        labels[query] = {document: rng.choice((0, 0, 1, 1, 2, 3)) for document in judged}
        if rng.random() < 0.85:
            rankings[query] = rng.sample(pool, rng.randint(1, len(pool)))
    return labels, rankings


def theirs(
    labels: Mapping[str, Mapping[str, int]], rankings: Mapping[str, list[str]], k: int
) -> dict[str, dict[str, float]]:
    wanted = {f"recall.{k}", "ndcg_cut.10", "map", "success.1", "recip_rank"}
    evaluator = pytrec_eval.RelevanceEvaluator(labels, wanted)

    def scored(depth: int | None) -> dict[str, dict[str, float]]:
        return {
            query: {document: float(-rank) for rank, document in enumerate(ranking[:depth])}
            for query, ranking in rankings.items()
        }

    full, head = evaluator.evaluate(scored(None)), evaluator.evaluate(scored(10))
    return {
        query: {
            f"recall@{k}": values[f"recall_{k}"],
            "ndcg@10": values["ndcg_cut_10"],
            "mrr@10": head[query]["recip_rank"],
            "map": values["map"],
            "success@1": values["success_1"],
        }
        for query, values in full.items()
    }


def test_rule_28_measures_equal_trec_eval_on_random_runs() -> None:
    rng = random.Random(20260)
    compared = unanswered = graded = 0
    for _ in range(RUNS):
        labels, rankings = random_case(rng)
        k = rng.choice(CUTS)
        expected = theirs(labels, rankings, k) if rankings else {}
        assert set(expected) == set(rankings)
        for query, relevance in labels.items():
            ours = measure(rankings.get(query, []), relevance, k=k)
            reference = expected.get(query, dict.fromkeys(set(ours) - {"judged@10"}, 0.0))
            for name, value in reference.items():
                assert ours[name] == pytest.approx(value, abs=1e-9), (name, relevance, rankings.get(query))
            compared += 1
            unanswered += query not in rankings
            graded += max(relevance.values()) > 1
    assert compared > 3_000
    assert unanswered > 200
    assert graded > 1_000
