"""Ranking measures over document ids, per query.

Definitions are those of trec_eval (linear gain in nDCG; a document is relevant from grade 1), and are checked
against it to 1e-9. ``ranking`` is best first; ``relevance`` maps a judged document to its grade. A query
without an answer has the empty ranking and counts 0 everywhere. All values lie in [0, 1].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

from seamline.errors import InvalidRunError

Relevance = Mapping[str, int]
DEPTH = 10
"""Ranks seen by nDCG, MRR and judged@10."""
PRIMARY = f"ndcg@{DEPTH}"
"""The measure that variants are compared by."""
JUDGED = f"judged@{DEPTH}"


def ndcg(ranking: Sequence[str], relevance: Relevance, k: int) -> float:
    """Discounted gain of the top k over that of the best possible order; gain is the grade itself.

    Järvelin and Kekäläinen 2002, with the discount ``1 / log2(rank + 1)`` from rank 1 on.
    """
    ideal = _discounted(sorted(relevance.values(), reverse=True)[:k])
    return _discounted([relevance.get(document, 0) for document in ranking[:k]]) / ideal if ideal else 0.0


def recall(ranking: Sequence[str], relevance: Relevance, k: int) -> float:
    """Share of the relevant documents that are among the top k."""
    relevant = _relevant(relevance)
    return sum(document in relevant for document in ranking[:k]) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], relevance: Relevance, k: int) -> float:
    """``1 / rank`` of the first relevant document, 0 when none is among the top k."""
    relevant = _relevant(relevance)
    return next((1 / rank for rank, document in enumerate(ranking[:k], 1) if document in relevant), 0.0)


def average_precision(ranking: Sequence[str], relevance: Relevance) -> float:
    """Mean, over the relevant documents, of the precision at the rank of each; 0 for those not returned."""
    relevant = _relevant(relevance)
    found, total = 0, 0.0
    for rank, document in enumerate(ranking, 1):
        if document in relevant:
            found += 1
            total += found / rank
    return total / len(relevant) if relevant else 0.0


def success(ranking: Sequence[str], relevance: Relevance, k: int) -> float:
    """1 when a relevant document is among the top k, else 0."""
    return float(not _relevant(relevance).isdisjoint(ranking[:k]))


def judged(ranking: Sequence[str], relevance: Relevance, k: int) -> float:
    """Share of the returned top k that carries any label, also grade 0; 0 when nothing was returned."""
    head = ranking[:k]
    return sum(document in relevance for document in head) / len(head) if head else 0.0


def names(k: int) -> tuple[str, ...]:
    """The names of :func:`measure`'s values, in the order of a report's columns."""
    return (f"recall@{k}", PRIMARY, f"mrr@{DEPTH}", "map", "success@1", JUDGED)


def measure(ranking: Sequence[str], relevance: Relevance, *, k: int) -> dict[str, float]:
    """Every measure of one query. Raises ``InvalidRunError`` when a document is ranked twice."""
    if len(set(ranking)) != len(ranking):
        twice = sorted({document for document in ranking if ranking.count(document) > 1})
        raise InvalidRunError(
            f"the ranking holds documents more than once: {', '.join(twice[:5])}",
            hint="map chunks to documents by their best rank first",
        )
    values = (
        recall(ranking, relevance, k),
        ndcg(ranking, relevance, DEPTH),
        reciprocal_rank(ranking, relevance, DEPTH),
        average_precision(ranking, relevance),
        success(ranking, relevance, 1),
        judged(ranking, relevance, DEPTH),
    )
    return dict(zip(names(k), values, strict=True))


def _relevant(relevance: Relevance) -> set[str]:
    return {document for document, grade in relevance.items() if grade > 0}


def _discounted(grades: Sequence[int]) -> float:
    return sum(grade / log2(rank + 1) for rank, grade in enumerate(grades, 1) if grade > 0)
