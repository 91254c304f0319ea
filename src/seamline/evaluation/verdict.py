"""Says whether a stage earns its keep on a corpus: fusion over the better leg, reranking over no reranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seamline.evaluation.compare import pair
from seamline.evaluation.measures import PRIMARY
from seamline.evaluation.notice import ENOUGH_QUERIES
from seamline.evaluation.report import Comparison, VariantOutcome, Verdict

LEGS = ("dense-only", "keyword-only")
RERANKED = "+rerank"
"""End of the names of variants that are another variant with a reranker."""


def verdicts(variants: Sequence[VariantOutcome], *, seed: int) -> tuple[Verdict, ...]:
    """One verdict for each stage whose variants were measured with and without it.

    A stage earns its keep when the 95% interval of its gain lies above 0: fusion against each of both legs, a
    reranker against the same fusion without it. Over fewer than 50 queries it is not shown, whatever the interval.
    """
    valid = {variant.name: variant for variant in variants if variant.status == "ok"}
    found = []
    for name, variant in valid.items():
        if name.endswith(RERANKED) and name.removesuffix(RERANKED) in valid:
            found.append(_reranking(variant, valid[name.removesuffix(RERANKED)], seed))
        elif variant.overrides.get("mode") == "hybrid" and not name.endswith(RERANKED) and _both_legs(valid):
            found.append(_fusion(variant, valid, seed))
    return tuple(found)


def _both_legs(valid: Mapping[str, VariantOutcome]) -> bool:
    return all(leg in valid for leg in LEGS)


def _fusion(variant: VariantOutcome, valid: Mapping[str, VariantOutcome], seed: int) -> Verdict:
    against = [pair(variant, valid[leg], seed=seed) for leg in LEGS]
    tightest = min(against, key=lambda comparison: comparison.difference.mean)
    earns = all(comparison.difference.low > 0 for comparison in against)
    return _verdict(earns, tightest, len(variant.queries))


def _reranking(variant: VariantOutcome, without: VariantOutcome, seed: int) -> Verdict:
    comparison = pair(variant, without, seed=seed)
    return _verdict(comparison.difference.low > 0, comparison, len(variant.queries))


def _verdict(earns: bool, comparison: Comparison, queries: int) -> Verdict:
    gain = comparison.difference
    shown = f"{gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}] {PRIMARY} against {comparison.baseline}"
    if queries < ENOUGH_QUERIES:
        earns, why = False, f"not shown: fewer than {ENOUGH_QUERIES} queries"
    elif earns:
        why = "the interval lies above 0"
    elif gain.high < 0:
        why = "it does harm"
    else:
        why = "a gain is not shown: the interval holds 0"
    return Verdict(
        stage=comparison.variant,
        against=comparison.baseline,
        earns=earns,
        sentence=f"{comparison.variant} earns its keep: {'yes' if earns else 'no'}; {shown}; {why}.",
        difference=gain,
    )
