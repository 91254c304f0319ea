"""Evaluate the run files of a report independently, and compare with what the report says.

python -m benchmarks.check_report FOLDER     FOLDER is what `seamline eval --output FOLDER` wrote

trec_eval's own code (pytrec_eval) reads nothing but the run files and the labels beside them. Exit 1 when a mean
differs by more than 1e-9.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytrec_eval

TOLERANCE = 1e-9
OURS = {"ndcg@10": "ndcg_cut_10", "map": "map", "success@1": "success_1", "mrr@10": "recip_rank"}
Labels = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def main(folder: Path) -> int:
    """Print a line for each variant that ran; the exit code says whether all means agree."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    labels = _labels(folder / "golden.qrels")
    worst = 0.0
    for variant in report["variants"]:
        if not variant["queries"]:
            continue
        theirs = means(labels, _scores(folder / f"{variant['name']}.run"), report["settings"]["k"])
        differences = {name: abs(value - variant["measures"][name]["mean"]) for name, value in theirs.items()}
        worst = max(worst, *differences.values())
        print(
            f"{variant['name']:24} ndcg@10 {theirs['ndcg@10']:.6f}  largest difference {max(differences.values()):.1e}"
        )
    print(f"largest difference of all: {worst:.1e}; {len(labels)} queries")
    return 0 if worst <= TOLERANCE else 1


def means(labels: Labels, scores: Scores, k: int) -> dict[str, float]:
    """The mean of every measure over the labelled queries; one without an answer counts 0."""
    head = {query: dict(sorted(found.items(), key=lambda item: -item[1])[:10]) for query, found in scores.items()}
    names = OURS | {f"recall@{k}": f"recall_{k}"}
    full = pytrec_eval.RelevanceEvaluator(labels, {"ndcg_cut.10", "map", "success.1", f"recall.{k}"}).evaluate(scores)
    ranked = pytrec_eval.RelevanceEvaluator(labels, {"recip_rank"}).evaluate(head)
    return {
        ours: sum(values[theirs] for values in (ranked if theirs == "recip_rank" else full).values()) / len(labels)
        for ours, theirs in names.items()
    }


def _labels(path: Path) -> Labels:
    found: Labels = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        found.setdefault(query, {})[document] = int(grade)
    return found


def _scores(path: Path) -> Scores:
    found: Scores = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        found.setdefault(query, {})[document] = float(score)
    return found


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
