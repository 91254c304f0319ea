"""Extractive answers on the sample golden set: how often the gold evidence is quoted, and how often it abstains.

    python -m benchmarks.answers

For every threshold: the share of answerable questions whose answer holds gold evidence, and the share of
unanswerable ones on which it abstains. The threshold is chosen on four fifths of the questions and judged on
the other fifth, five times.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import seamline
from benchmarks.results import write
from seamline.analyze.sentences import SentencexSplitter
from seamline.evaluation.golden import GoldenQuery, read_golden
from seamline.folding import fold
from seamline.generate.evidence import score_sentences
from seamline.pipeline import scorer
from seamline.sample import folder

FOLDS = 5
SEED = 20260


@dataclass(frozen=True)
class Asked:
    """One question: whether it can be answered, the best score, and whether the answer held its evidence."""

    id: str
    answerable: bool
    score: float
    evidence: bool


def main() -> None:
    """Ask every question once without a threshold, then look at every threshold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--home", type=Path, default=Path(".cache/bench"))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    golden = read_golden(folder() / "golden" / "queries.jsonl")
    with seamline.open("sample", home=options.home, settings={"extractive_min_score": -1.0}) as kb:
        kb.index(folder() / "corpus")
        asked = [ask(kb, query) for query in golden.queries]
    if options.verbose:
        for item in sorted(asked, key=lambda a: a.score):
            print(f"{item.score:.3f} {'answerable' if item.answerable else 'NOT'} evidence={item.evidence} {item.id}")
    rows = [{"threshold": t, **shares(asked, t)} for t in thresholds(asked)[::5]]
    for row in rows:
        print(f"{row['threshold']:.3f}  evidence {row['evidence']:.3f}  abstains {row['abstains']:.3f}")
    held = cross_validated(asked)
    print(
        f"chosen on all: {best(asked):.3f}; held out: evidence {held['evidence']:.3f}, abstains {held['abstains']:.3f}"
    )
    write("answers", {"threshold": best(asked), "held out": held, "rows": rows})


def ask(kb: seamline.KnowledgeBase, query: GoldenQuery) -> Asked:
    """The score is that of the best sentence, as the answer would have been judged by."""
    result = kb.retrieve(query.query)
    scored = score_sentences(
        query.query, tuple(result.passages), scorer=scorer(kb.embedder()), splitter=SentencexSplitter()
    )
    answer = kb.ask(query.query)
    said = fold(" ".join(citation.quote for citation in answer.citations))
    evidence = any(fold(item.quote) in said or overlaps(fold(item.quote), said) for item in query.evidence)
    return Asked(query.id, not query.unanswerable, max((s.score for s in scored), default=-1.0), evidence)


def overlaps(quote: str, said: str) -> bool:
    """Whether at least four fifths of the gold quote's words stand in what was quoted."""
    words = quote.split()
    return sum(word in said for word in words) >= 0.8 * len(words)


def thresholds(asked: Sequence[Asked]) -> list[float]:
    """Every score that occurred."""
    return sorted({item.score for item in asked})


def shares(asked: Sequence[Asked], threshold: float) -> dict[str, float]:
    """Evidence share of the answerable, abstention share of the unanswerable."""
    answerable = [a for a in asked if a.answerable]
    others = [a for a in asked if not a.answerable]
    return {
        "evidence": sum(a.evidence and a.score >= threshold for a in answerable) / max(len(answerable), 1),
        "abstains": sum(a.score < threshold for a in others) / max(len(others), 1),
    }


def best(asked: Sequence[Asked]) -> float:
    """The threshold with the largest smaller share: neither side is bought with the other."""
    return max(thresholds(asked), key=lambda t: min(shares(asked, t).values()))


def cross_validated(asked: Sequence[Asked]) -> dict[str, float]:
    """Both shares on held-out questions."""
    shuffled = list(asked)
    random.Random(SEED).shuffle(shuffled)
    found = []
    for fold_ in range(FOLDS):
        held = shuffled[fold_::FOLDS]
        threshold = best([item for item in shuffled if item not in held])
        found += [(item, threshold) for item in held]
    answerable = [(a, t) for a, t in found if a.answerable]
    others = [(a, t) for a, t in found if not a.answerable]
    return {
        "evidence": sum(a.evidence and a.score >= t for a, t in answerable) / len(answerable),
        "abstains": sum(a.score < t for a, t in others) / len(others),
    }


if __name__ == "__main__":
    main()
