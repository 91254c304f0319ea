"""When a report must say that its numbers prove nothing."""

from __future__ import annotations

from collections.abc import Sequence

ENOUGH_QUERIES = 50
"""Fewer judged queries than this give intervals too wide to choose by."""


def notices(*, sample_corpus: bool, stand_ins: Sequence[str], judged_queries: int) -> tuple[str, ...]:
    """One sentence for each reason to distrust the numbers; empty when there is none."""
    reasons = []
    if sample_corpus:
        reasons.append("they were measured on the shipped sample corpus, which was written to be searched")
    if stand_ins:
        reasons.append(f"stand-ins took part ({', '.join(sorted(set(stand_ins)))})")
    if judged_queries < ENOUGH_QUERIES:
        reasons.append(f"only {judged_queries} queries are judged, fewer than {ENOUGH_QUERIES}")
    return tuple(f"These numbers prove nothing about quality: {reason}." for reason in reasons)
