"""Compares the variants of one run with a baseline, query by query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seamline.evaluation.measures import PRIMARY
from seamline.evaluation.report import Comparison, VariantOutcome
from seamline.evaluation.significance import bootstrap_interval, holm, randomisation_test

WORST = 5
"""How many of the most hurt queries are named."""
_TIE = 1e-12


def compare(
    variants: Sequence[VariantOutcome], *, baseline: str | None, seed: int
) -> tuple[tuple[Comparison, ...], str | None, str | None]:
    """Every valid variant against the baseline on nDCG@10, with Holm-adjusted p values.

    Returns:
        The comparisons, the baseline's name (``None`` when there is none to compare with), and a sentence
        when a baseline was asked for that did not run.
    """
    valid = {variant.name: variant for variant in variants if variant.status == "ok"}
    if baseline is not None and baseline not in valid:
        status = next(variant.status for variant in variants if variant.name == baseline)
        return (), None, f"Nothing was compared: the baseline {baseline} is {status}."
    if not valid:
        return (), None, None
    chosen = valid.pop(baseline or next(iter(valid)))
    pairs = [pair(variant, chosen, seed=seed) for variant in valid.values()]
    adjusted = holm([pair.p_value for pair in pairs])
    return tuple(replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True)), chosen.name, None


def pair(variant: VariantOutcome, baseline: VariantOutcome, *, seed: int) -> Comparison:
    """Two variants on nDCG@10, query by query; the p value is of this one test."""
    values, against = variant.values(PRIMARY), baseline.values(PRIMARY)
    differences = [ours - theirs for ours, theirs in zip(values, against, strict=True)]
    by_loss = sorted(zip(differences, (query.id for query in variant.queries), strict=True))
    wins = sum(difference > _TIE for difference in differences)
    losses = sum(difference < -_TIE for difference in differences)
    p_value = randomisation_test(values, against, seed=seed)
    return Comparison(
        variant=variant.name,
        baseline=baseline.name,
        measure=PRIMARY,
        difference=bootstrap_interval(differences, seed=seed),
        p_value=p_value,
        p_adjusted=p_value,
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
        worst=tuple((query, difference) for difference, query in by_loss[:WORST] if difference < -_TIE),
    )
