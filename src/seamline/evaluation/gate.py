"""Passes or fails a release: today's run against a committed baseline, query by query."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np

from seamline.errors import InvalidRunError
from seamline.evaluation.measures import DEPTH, PRIMARY
from seamline.evaluation.report import Report, VariantOutcome
from seamline.evaluation.significance import Interval, bootstrap_interval

FORMAT = "seamline-baseline/1"
LEVEL = 0.95
POWER = 0.8
FOUND = f"mrr@{DEPTH}"
"""Above 0 when a relevant document is among the first ten: a change of that is a flip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What a release is held against: values by query id, and what they were measured on."""

    golden_sha256: str
    variant: str
    queries: Mapping[str, Mapping[str, float]]
    made_with: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether to release, and why. ``lower`` is the one-sided 95% lower bound of the paired difference.

    ``detectable`` is the loss that a run with differences as scattered as these finds four times in five.
    ``lost`` and ``gained`` are queries whose first ten documents lost or gained their only relevant ones.
    """

    passed: bool
    reasons: tuple[str, ...]
    remarks: tuple[str, ...]
    value: float
    baseline: float | None
    difference: Interval | None
    lower: float | None
    detectable: float | None
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """As JSON values."""
        return {**asdict(self), "measure": PRIMARY}


def baseline_of(report: Report, variant: VariantOutcome) -> Baseline:
    """A run as the baseline of later ones. Raises ``InvalidRunError`` when the run must not be believed."""
    _refuse_invalid(report, variant)
    names = ("space", "corpus_digest", "documents", "chunks", "embedder", "chunker", "analyzer")
    return Baseline(
        golden_sha256=report.golden_sha256,
        variant=variant.name,
        queries={query.id: {name: query.measures[name] for name in (PRIMARY, FOUND)} for query in variant.queries},
        made_with={name: report.retriever[name] for name in names if name in report.retriever} | dict(report.made),
    )


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline, one query a line, so that a change reads well in a diff."""
    path.parent.mkdir(parents=True, exist_ok=True)
    body = {"format": FORMAT, **asdict(baseline)}
    path.write_text(json.dumps(body, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_baseline(path: Path) -> Baseline:
    """Read a baseline; raises ``InvalidRunError``: without one nothing can be decided."""
    hint = "`seamline gate --write-baseline` makes one; commit it"
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        if body.pop("format") != FORMAT:
            raise InvalidRunError(f"{path}: not a baseline of this version", hint=hint)
        return Baseline(**body)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidRunError(f"{path}: no usable baseline: {error}", hint=hint) from error


def decide(
    report: Report, variant: VariantOutcome, baseline: Baseline | None, *, margin: float, min_ndcg: float, seed: int
) -> Decision:
    """Pass when the loss is bounded by ``margin`` and the value is at least ``min_ndcg``.

    Raises ``InvalidRunError`` when the run must not be believed, or the baseline is of another golden set.
    """
    _refuse_invalid(report, variant)
    value = variant.measures[PRIMARY].mean
    reasons = [] if value >= min_ndcg else [f"{PRIMARY} is {value:.4f}, below min_ndcg {min_ndcg:g}"]
    remarks = ["min_ndcg is 0: it gates nothing"] if min_ndcg == 0 else []
    if baseline is None:
        return _decision(reasons, [*remarks, "no baseline was given: nothing was compared"], value)
    if baseline.golden_sha256 != report.golden_sha256:
        raise InvalidRunError(
            "the baseline was measured on another golden set", hint="`seamline gate --write-baseline`, and commit it"
        )
    theirs = [baseline.queries[query.id][PRIMARY] for query in variant.queries]
    differences = [now - before for now, before in zip(variant.values(PRIMARY), theirs, strict=True)]
    lower = lower_bound(differences, seed=seed)
    difference = bootstrap_interval(differences, seed=seed)
    if lower < -margin:
        reasons.append(
            f"{PRIMARY} changed by {difference.mean:+.4f}, and a loss of up to {-lower:.4f} cannot be excluded: "
            f"more than the margin of {margin:g}"
        )
    before = {query: values[FOUND] > 0 for query, values in baseline.queries.items()}
    after = {query.id: query.measures[FOUND] > 0 for query in variant.queries}
    changed = [name for name in ("space", "corpus_digest", "chunker", "analyzer") if _changed(name, baseline, report)]
    if changed:
        remarks.append(f"not as when the baseline was made: {', '.join(changed)}")
    return Decision(
        passed=not reasons,
        reasons=tuple(reasons),
        remarks=tuple(remarks),
        value=value,
        baseline=math.fsum(theirs) / len(theirs),
        difference=difference,
        lower=lower,
        detectable=detectable(differences),
        lost=tuple(query for query in after if before[query] and not after[query]),
        gained=tuple(query for query in after if after[query] and not before[query]),
    )


def lower_bound(differences: list[float], *, seed: int, rounds: int = 10_000) -> float:
    """One-sided 95% lower bound of a mean, by the percentile bootstrap over queries."""
    sample = np.asarray(differences)
    rng = np.random.default_rng(seed)
    means = [sample[rng.integers(0, sample.size, sample.size)].mean() for _ in range(rounds)]
    return float(np.quantile(means, 1 - LEVEL))


def detectable(differences: list[float]) -> float:
    """The smallest true loss that a one-sided test at 5% finds with a probability of 80%, were it as scattered."""
    deviation = float(np.std(differences, ddof=1)) if len(differences) > 1 else 0.0
    return (NormalDist().inv_cdf(LEVEL) + NormalDist().inv_cdf(POWER)) * deviation / math.sqrt(len(differences))


def _decision(reasons: list[str], remarks: list[str], value: float) -> Decision:
    return Decision(
        passed=not reasons,
        reasons=tuple(reasons),
        remarks=tuple(remarks),
        value=value,
        baseline=None,
        difference=None,
        lower=None,
        detectable=None,
    )


def _changed(name: str, baseline: Baseline, report: Report) -> bool:
    return name in baseline.made_with and baseline.made_with[name] != report.retriever.get(name)


def _refuse_invalid(report: Report, variant: VariantOutcome) -> None:
    if report.invalid or variant.status != "ok":
        reasons = report.invalid or variant.reasons
        raise InvalidRunError(f"this run must not be believed: {'; '.join(reasons)}", hint="mend it, then run again")
