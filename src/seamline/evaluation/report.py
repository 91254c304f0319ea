"""What an evaluation found, as plain data: for tables, for JSON, and for later comparison."""

from __future__ import annotations

import json
import os
import platform
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Literal

import numpy as np

from seamline.evaluation.golden import Coverage, GoldenQuery
from seamline.evaluation.measures import DEPTH
from seamline.evaluation.significance import Interval, bootstrap_interval

FORMAT = "seamline-report/1"
Status = Literal["ok", "skipped", "invalid"]
Grouping = Literal["tag", "language"]
UNGROUPED = "(none)"
"""The group of queries without a tag or a language."""
HIT_COLUMNS = (
    "document", "dense_rank", "cosine", "keyword_rank", "keyword_score", "fused_rank", "fused_score", "rerank_score",
    "matched_terms",
)  # fmt: skip
"""What is kept of each of the best documents: its id and the stages of its best passage."""
Hit = tuple[object, ...]
"""One value for each of :data:`HIT_COLUMNS`; absent is ``None``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOutcome:
    """One query under one variant. A failed query has an ``error``, no documents, and counts 0 everywhere.

    ``documents`` are ids by best rank, to the depth that was asked for; ``hits`` are the stages of the first
    ten. ``latency_ms`` is wall time, ``None`` where nobody took it.
    """

    id: str
    documents: tuple[str, ...]
    measures: Mapping[str, float]
    latency_ms: float | None
    error: str | None = None
    tags: tuple[str, ...] = ()
    language: str | None = None
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantOutcome:
    """One variant over all judged queries. ``skipped`` and ``invalid`` say why in ``reasons``.

    ``stages`` are what ran, as every query of a valid variant reported it.
    """

    name: str
    overrides: Mapping[str, object]
    status: Status
    reasons: tuple[str, ...] = ()
    stages: Mapping[str, str] = field(default_factory=dict)
    queries: tuple[QueryOutcome, ...] = ()
    measures: Mapping[str, Interval] = field(default_factory=dict)

    @property
    def failures(self) -> int:
        """How many queries ended in an error."""
        return sum(query.error is not None for query in self.queries)

    def latency(self, percent: float) -> float | None:
        """A percentile of the latency in milliseconds over the queries that did not fail."""
        answered = self.latencies
        return float(np.percentile(answered, percent)) if answered else None

    @property
    def latencies(self) -> list[float]:
        """The latencies in milliseconds of the queries that did not fail."""
        return [q.latency_ms for q in self.queries if q.error is None and q.latency_ms is not None]

    def values(self, measure: str) -> list[float]:
        """One measure of every query, in golden-set order."""
        return [query.measures[measure] for query in self.queries]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A variant against the baseline on one measure, paired by query.

    ``difference`` is variant minus baseline. ``p_adjusted`` is Holm's over all comparisons of the report.
    ``worst`` are the queries that lost most, with their differences.
    """

    variant: str
    baseline: str
    measure: str
    difference: Interval
    p_value: float
    p_adjusted: float
    wins: int
    ties: int
    losses: int
    worst: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a stage earns its keep on this corpus, in a sentence fit for a decision record.

    ``difference`` is that of the stage over the best variant without it, ``against``, on the primary measure.
    """

    stage: str
    against: str
    earns: bool
    sentence: str
    difference: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One evaluation. Everything but the timings and ``made`` is equal when it is run again on the same index.

    ``made`` is when, by which command and on what machine.
    """

    golden: str
    golden_sha256: str
    judged: int
    unanswerable: int
    coverage: Coverage | None
    k: int
    passages: int
    seed: int
    retriever: Mapping[str, object]
    versions: Mapping[str, str]
    notices: tuple[str, ...]
    variants: tuple[VariantOutcome, ...]
    baseline: str | None
    comparisons: tuple[Comparison, ...]
    questions: tuple[GoldenQuery, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    made: Mapping[str, object] = field(default_factory=dict)

    @property
    def invalid(self) -> tuple[str, ...]:
        """Why this run must not be believed, one sentence a reason; empty for a valid run."""
        reasons = [
            f"{variant.name}: {reason}"
            for variant in self.variants
            if variant.status == "invalid"
            for reason in variant.reasons
        ]
        if len({variant.stages["corpus"] for variant in self.variants if "corpus" in variant.stages}) > 1:
            reasons.append("the corpus changed while the variants ran")
        return tuple(reasons)

    def told(self, verdict: Verdict) -> str:
        """A verdict's sentence with what the stage costs in median latency."""
        p50 = {variant.name: variant.latency(50) for variant in self.variants}
        before, after = p50[verdict.against], p50[verdict.stage]
        cost = "" if before is None or after is None else f" Median latency {after:.1f} ms, without it {before:.1f} ms."
        return verdict.sentence + cost

    @property
    def origin(self) -> str:
        """What its figures come from, on one line: how many queries, which version, when, on what, which command."""
        return origin(self.judged, {**self.made, "seamline": self.versions.get("seamline")})

    def rows(self, by: Grouping | None = None) -> list[dict[str, object]]:
        """One row a variant, or a variant and group, ready for a table.

        Keys: ``variant``, ``group`` (``None`` when not split), ``status``, ``reasons``, ``queries``,
        ``failures``, ``measures`` (name to ``{"mean", "low", "high"}``), ``p50_ms``, ``p95_ms``.
        """
        return [
            {
                "variant": part.name,
                "group": group,
                "status": part.status,
                "reasons": list(part.reasons),
                "queries": len(part.queries),
                "failures": part.failures,
                "measures": {name: asdict(interval) for name, interval in part.measures.items()},
                "p50_ms": part.latency(50),
                "p95_ms": part.latency(95),
            }
            for variant in self.variants
            for group, part in ([(None, variant)] if by is None else _split(variant, by, self.seed))
        ]

    def to_dict(self, *, timings: bool = True) -> dict[str, object]:
        """The report as JSON values; per query the top 10 only, run files hold the rest."""
        body: dict[str, object] = {
            "format": FORMAT,
            "golden": {
                "name": self.golden,
                "sha256": self.golden_sha256,
                "judged": self.judged,
                "unanswerable": self.unanswerable,
                "coverage": asdict(self.coverage) if self.coverage else None,
            },
            "settings": {"k": self.k, "passages": self.passages, "seed": self.seed, **self.settings},
            "retriever": dict(self.retriever),
            "versions": dict(self.versions),
            "notices": list(self.notices),
            "invalid": list(self.invalid),
            "questions": [_question(query) for query in self.questions],
            "hit_columns": list(HIT_COLUMNS),
            "variants": [_variant(variant) for variant in self.variants],
            "baseline": self.baseline,
            "comparisons": [asdict(comparison) for comparison in self.comparisons],
            "verdicts": [asdict(verdict) for verdict in self.verdicts],
        }
        if timings:
            body["made"] = dict(self.made)
            body["timings"] = {variant.name: _timings(variant) for variant in self.variants if variant.queries}
        return body

    def to_json(self, *, timings: bool = True) -> str:
        """``report.json``; without timings it is the same byte for byte on the same index."""
        return json.dumps(self.to_dict(timings=timings), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def made_now(command: str | None) -> dict[str, object]:
    """When (UTC, to the second), on what machine, and by which command a figure is made: for its record."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "command": command,
        "seamline": version("seamline"),
    }


def origin(queries: int, made: Mapping[str, object]) -> str:
    """One line under every table of figures: n, version, date, machine, command."""
    stated = [f"seamline {made['seamline']}", *(made.get(name) for name in ("at", "machine", "command"))]
    return "; ".join([f"n = {queries} queries", *(str(value) for value in stated if value)])


def summarise(queries: Sequence[QueryOutcome], *, seed: int) -> dict[str, Interval]:
    """The mean of every measure with its 95% bootstrap interval; empty for no query."""
    names = queries[0].measures if queries else ()
    return {name: bootstrap_interval([query.measures[name] for query in queries], seed=seed) for name in names}


def _split(variant: VariantOutcome, by: Grouping, seed: int) -> list[tuple[str, VariantOutcome]]:
    groups: dict[str, list[QueryOutcome]] = defaultdict(list)
    for query in variant.queries:
        keys = query.tags if by == "tag" else filter(None, [query.language])
        for key in tuple(keys) or (UNGROUPED,):
            groups[key].append(query)
    return [
        (
            group,
            VariantOutcome(
                name=variant.name,
                overrides=variant.overrides,
                status=variant.status,
                reasons=variant.reasons,
                stages=variant.stages,
                queries=tuple(queries),
                measures=summarise(queries, seed=seed),
            ),
        )
        for group, queries in sorted(groups.items())
    ]


def _question(query: GoldenQuery) -> dict[str, object]:
    return {
        "id": query.id,
        "query": query.query,
        "relevance": dict(query.relevance),
        "tags": list(query.tags),
        "language": query.language,
    }


def _variant(variant: VariantOutcome) -> dict[str, object]:
    return {
        "name": variant.name,
        "overrides": dict(variant.overrides),
        "status": variant.status,
        "reasons": list(variant.reasons),
        "stages": dict(variant.stages),
        "failures": variant.failures,
        "measures": {name: asdict(interval) for name, interval in variant.measures.items()},
        "queries": [
            {
                "id": query.id,
                "documents": list(query.documents[:DEPTH]),
                "measures": dict(query.measures),
                "error": query.error,
                "hits": [list(hit) for hit in query.hits],
            }
            for query in variant.queries
        ],
    }


def _timings(variant: VariantOutcome) -> dict[str, object]:
    return {
        "p50_ms": variant.latency(50),
        "p95_ms": variant.latency(95),
        "per_query_ms": {query.id: query.latency_ms for query in variant.queries},
    }
