"""Grids of settings over a golden set, chosen among by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product

from seamline.errors import InvalidRunError, UsageError
from seamline.evaluation.abstention import Abstention, calibrate
from seamline.evaluation.attempts import Progress
from seamline.evaluation.folds import Choice, choose
from seamline.evaluation.golden import GoldenSet
from seamline.evaluation.measures import PRIMARY
from seamline.evaluation.report import made_now
from seamline.evaluation.run import PASSAGES, evaluate
from seamline.evaluation.variants import Variant
from seamline.ports import Retriever
from seamline.types import RetrievalResult

CURRENT = "as set"
"""The name of the settings in use: a row of every sweep."""
Option = Mapping[str, object]

FUSION: tuple[Option, ...] = (
    *({"fusion": "weighted", "fusion_alpha": alpha / 10} for alpha in range(1, 10)),
    {"fusion": "weighted", "fusion_normaliser": "min_max"},
    *({"fusion": "rrf", "rrf_k": k} for k in (10.0, 60.0)),
)
CANDIDATES: tuple[Option, ...] = tuple({"candidate_k": k} for k in (50, 100, 200))
RERANK_DEPTHS = (10, 30, 50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """The outcome: every setting's mean and overrides, what was chosen, and thresholds where they could be measured.

    ``thresholds`` is by the setting that each calibrates: ``min_cosine``, ``rerank_min_score``.
    """

    golden: str
    golden_sha256: str
    queries: int
    means: Mapping[str, float]
    overrides: Mapping[str, Option]
    choice: Choice
    thresholds: Mapping[str, Abstention]
    skipped: Mapping[str, str]
    made: Mapping[str, object]

    def to_dict(self) -> dict[str, object]:
        """As JSON values."""
        return {**asdict(self), "measure": PRIMARY, "optimism": self.choice.optimism}


def rerank_options(rerankers: Sequence[str]) -> tuple[Option, ...]:
    """No reranker, and each with a grid of its own."""
    grids = ({"rerank_provider": name, "rerank_candidates": depth} for name in rerankers for depth in RERANK_DEPTHS)
    return ({"rerank_provider": "off"}, *grids)


def grid(dimensions: Sequence[Sequence[Option]]) -> tuple[Variant, ...]:
    """Every combination of one option a dimension, named by its values; the settings in use come first."""
    variants = [Variant(name=CURRENT)]
    for combination in product(*dimensions):
        overrides: dict[str, object] = {}
        for option in combination:
            overrides |= option
        if overrides:
            provider = overrides.get("rerank_provider")
            reranked = None if provider is None else provider != "off"
            name = ", ".join(f"{key}={value}" for key, value in overrides.items())
            variants.append(Variant(name=name, overrides=overrides, reranked=reranked))
    return tuple(variants)


def sweep(
    retrievers: Mapping[str, Retriever],
    golden: GoldenSet,
    variants: Sequence[Variant],
    current: Mapping[str, object],
    *,
    folds: int,
    k: int,
    seed: int,
    command: str | None = None,
    progress: Progress | None = None,
) -> Swept:
    """Measure every variant through every retriever, and choose.

    Args:
        retrievers: one for each way of indexing, by what sets it apart (``chunk_chars=500``); the index in use
            has the name ``""`` and comes first.
        golden: unanswerable queries in it calibrate thresholds.
        variants: of :func:`grid`.
        current: the settings in use, by name: what an override is compared with for its complexity.
        folds: of the cross-validation.
        k: of recall@k, which the runs also measure.
        seed: of everything random.
        command: what was typed, for the record.
        progress: called after each query.

    Raises:
        InvalidRunError: a run must not be believed.
        UsageError: too few queries for the folds.
    """
    table: dict[str, list[float]] = {}
    overrides: dict[str, Option] = {}
    complexity: dict[str, int] = {}
    skipped: dict[str, str] = {}
    for index, retriever in retrievers.items():
        report = evaluate(retriever, golden, variants, k=k, seed=seed, progress=progress)
        if report.invalid:
            raise InvalidRunError(f"the sweep is not valid: {'; '.join(report.invalid[:3])}")
        for variant in report.variants:
            name = " | ".join(filter(None, [index, variant.name]))
            if variant.status == "skipped":
                skipped[name] = "; ".join(variant.reasons)
                continue
            table[name] = variant.values(PRIMARY)
            changes = {key: value for key, value in variant.overrides.items() if current.get(key) != value}
            overrides[name] = changes
            complexity[name] = len(changes) + bool(index)
    if CURRENT not in table:
        raise UsageError("the settings in use cannot be measured", hint=skipped.get(CURRENT))
    return Swept(
        golden=golden.name,
        golden_sha256=golden.sha256,
        queries=len(golden.judged),
        means={name: sum(values) / len(values) for name, values in table.items()},
        overrides=overrides,
        choice=choose(table, complexity, current=CURRENT, folds=folds, seed=seed),
        thresholds={},
        skipped=skipped,
        made=made_now(command),
    )


def thresholds(
    retriever: Retriever, golden: GoldenSet, overrides: Option, *, folds: int, seed: int
) -> dict[str, Abstention]:
    """Thresholds on the best cosine and, when a reranker ran, on the best rerank score of a question.

    Empty when either kind of question is rarer than the folds.
    """
    unanswerable = [query for query in golden.queries if query.unanswerable]
    if min(len(unanswerable), len(golden.judged)) < folds:
        return {}
    found: dict[str, tuple[list[float], list[float]]] = {"min_cosine": ([], []), "rerank_min_score": ([], [])}
    for query in golden.queries:
        result = retriever.retrieve(query.query, top_k=PASSAGES, overrides=overrides)
        for setting, score in best_scores(result).items():
            found[setting][query.unanswerable].append(score)
    counts = (len(golden.judged), len(unanswerable))
    return {
        setting: calibrate(yes, no, folds=folds, seed=seed)
        for setting, (yes, no) in found.items()
        if (len(yes), len(no)) == counts
    }


def best_scores(result: RetrievalResult) -> dict[str, float]:
    """The best score of a question on each scale that a gate reads, by the gate's setting."""
    stages = [candidate.stages for candidate in result.candidates] + [passage.stages for passage in result.passages]
    cosines = [stage.cosine for stage in stages if stage.cosine is not None]
    reranked = [stage.rerank_score for stage in stages if stage.rerank_score is not None]
    found = {"min_cosine": max(cosines)} if cosines else {}
    return found | ({"rerank_min_score": max(reranked)} if reranked else {})
