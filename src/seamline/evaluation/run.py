"""Runs variants over a golden set through any retriever, and judges whether the run may be believed."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from seamline.errors import UnavailableError, UsageError
from seamline.evaluation.attempts import Attempt, Plan, Progress, Ranking, attempt, attempt_system
from seamline.evaluation.attempts import recorded as replay
from seamline.evaluation.compare import compare
from seamline.evaluation.golden import Coverage, GoldenQuery, GoldenSet
from seamline.evaluation.measures import DEPTH
from seamline.evaluation.notice import notices
from seamline.evaluation.report import Report, VariantOutcome, made_now, summarise
from seamline.evaluation.trust import distrust
from seamline.evaluation.variants import NO_RERANKER, Variant
from seamline.evaluation.verdict import verdicts
from seamline.fingerprint import canonical_json
from seamline.ports import Retriever, SystemUnderTest

PASSAGES = 50
"""Passages asked for, so that well over 10 documents come out of them."""

PACKAGES = ("numpy", "onnxruntime", "pystemmer", "seamline", "tokenizers")


def evaluate(
    retriever: Retriever | None,
    golden: GoldenSet,
    variants: Sequence[Variant],
    *,
    k: int,
    seed: int,
    passages: int = PASSAGES,
    baseline: str | None = None,
    coverage: Coverage | None = None,
    sample_corpus: bool = False,
    drop_query_document: bool = False,
    systems: Mapping[str, SystemUnderTest] | None = None,
    recorded: Mapping[str, Ranking] | None = None,
    settings: Mapping[str, object] | None = None,
    command: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Run every variant over the judged queries of a golden set.

    Passages are mapped to documents by best rank. A query that fails counts 0 and keeps its error. A variant
    that cannot run is skipped with the reason (one whose reranker, also one that the settings merely configure, does
    not answer twice in a row cannot); one
    whose stages degraded, or differed between queries, is invalid. The first query runs once unmeasured under every
    variant, so that loading a model is in nobody's latency; then every query runs under all variants in turn, so that
    a busy machine slows all of them alike. Unanswerable queries are counted, and not run.

    Args:
        retriever: what to measure. Of its ``info()`` two keys are read here, ``stand_ins`` (names) and
            ``rerank_provider`` (absent means ``off``); the whole goes into the report. ``None`` without variants.
        golden: validated queries.
        variants: in the order of the report's rows; names must be unique.
        k: of recall@k; at most ``passages``.
        seed: of the bootstrap and the randomisation tests.
        passages: passages asked for; at least 10, at most what the retriever can return (``candidate_k``).
        baseline: name of the variant that the others are compared with; the first valid one when not named.
        coverage: as :func:`~seamline.evaluation.golden.check_documents` found it.
        sample_corpus: whether the corpus is the shipped one, which the report must then say.
        drop_query_document: leave out of each ranking the document whose id is the query's: collections whose
            questions are themselves documents would otherwise measure how well a text finds itself.
        systems: other systems by name, measured live: further rows of the report, each under its own settings.
        recorded: rankings of other systems by name, each from query id to document ids: further rows of the report.
            A query that one lacks counts 0; their latency is not known.
        settings: what else the report records of how it was made, by name.
        command: what was typed to make this report, which then says so.
        progress: called after each query.

    Raises:
        UsageError: the arguments are wrong, or no query is judged.
    """
    made = made_now(command)
    names = [*(variant.name for variant in variants), *(systems or {}), *(recorded or {})]
    _check_arguments(golden, names, k=k, passages=passages, baseline=baseline)
    if retriever is None and variants:
        raise UsageError("variants need a retriever; systems and recorded runs do not")
    info = {} if retriever is None else _recordable(retriever.info(), "the retriever's info()")
    about = {name: _recordable(system.info(), f"info() of {name}") for name, system in (systems or {}).items()}
    variants = [
        replace(variant, overrides=_recordable(variant.overrides, f"the overrides of {variant.name}"))
        for variant in variants
    ]
    plan = Plan(
        retriever=retriever,
        queries=golden.judged,
        reranker=str(info.get("rerank_provider") or NO_RERANKER),
        k=k,
        seed=seed,
        passages=passages,
        drop_query_document=drop_query_document,
        progress=progress,
    )
    stand_ins = set().union(*(_names(one.get("stand_ins")) for one in (info, *about.values())))
    outcomes, took_part = _run_live(plan, variants, {name: (systems or {})[name] for name in about}, about)
    stand_ins |= took_part
    outcomes += [replay(plan, name, ranking) for name, ranking in (recorded or {}).items()]
    comparisons, chosen, remark = compare(outcomes, baseline=baseline, seed=seed)
    told = notices(sample_corpus=sample_corpus, stand_ins=sorted(stand_ins), judged_queries=len(golden.judged))
    return Report(
        golden=golden.name,
        golden_sha256=golden.sha256,
        judged=len(golden.judged),
        unanswerable=len(golden.queries) - len(golden.judged),
        coverage=coverage,
        k=k,
        passages=passages,
        seed=seed,
        retriever=info,
        versions=_versions(),
        notices=(*told, remark) if remark else told,
        variants=tuple(outcomes),
        baseline=chosen,
        comparisons=comparisons,
        questions=golden.judged,
        verdicts=verdicts(outcomes, seed=seed),
        settings=_recordable(
            {**(settings or {}), "drop_query_document": drop_query_document} | ({"systems": about} if about else {}),
            "the settings",
        ),
        made=made,
    )


def _versions() -> dict[str, str]:
    """Of the interpreter and of the packages that decide a ranking, as far as they are installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _check_arguments(golden: GoldenSet, names: Sequence[str], *, k: int, passages: int, baseline: str | None) -> None:
    if not names or len(set(names)) != len(names):
        raise UsageError(f"variants need unique names, and there must be one: {', '.join(names) or 'none given'}")
    if baseline is not None and baseline not in names:
        raise UsageError(f"the baseline {baseline!r} is not among the variants: {', '.join(names)}")
    if not 1 <= k <= passages or passages < DEPTH:
        raise UsageError(
            f"recall@{k} out of {passages} passages cannot be measured",
            hint=f"k is from 1 to the number of passages, which is at least {DEPTH}",
        )
    if not golden.judged:
        raise UsageError(f"{golden.name}: no query is answerable, so there is nothing to rank")


def _recordable(values: Mapping[str, object], what: str) -> dict[str, Any]:
    """Values as JSON gives them back: refused before the run, what would break the report after it."""
    try:
        recorded: dict[str, Any] = json.loads(canonical_json(values))
    except (TypeError, ValueError) as error:
        raise UsageError(f"{what} must hold JSON values only: {error}") from error
    return recorded


def _run_live(
    plan: Plan,
    variants: Sequence[Variant],
    systems: Mapping[str, SystemUnderTest],
    about: Mapping[str, Mapping[str, object]],
) -> tuple[list[VariantOutcome], frozenset[str]]:
    """The outcome of every variant and every system, and the stand-ins that took part.

    Query by query, and each query starts with another of them: whatever slows the machine down, or warms it up,
    meets all alike, so that their latencies can be compared.
    """
    overrides = {variant.name: variant.resolve(plan.reranker) for variant in variants}
    skipped = {v.name: reason for v in variants if (reason := _why_skipped(plan, v, overrides[v.name])) is not None}
    asked: dict[str, Callable[[GoldenQuery], Attempt]] = {
        variant.name: partial(attempt, plan, overrides=overrides[variant.name])
        for variant in variants
        if variant.name not in skipped
    }
    for name, system in systems.items():
        whole = about[name].get("retrieval_mode") == "complete_set"
        asked[name] = partial(attempt_system, plan, system=system, limit=None if whole else plan.passages)
        asked[name](plan.queries[0])  # unmeasured, as for variants
    attempts = _take_turns(plan, asked)
    outcomes = [
        _skipped(variant, skipped[variant.name])
        if variant.name in skipped
        else _outcome(plan, variant, overrides[variant.name], attempts[variant.name])
        for variant in variants
    ]
    outcomes += [_outcome(plan, Variant(name=name), {}, attempts[name]) for name in systems]
    seen = (one.observation for made in attempts.values() for one in made if one.observation is not None)
    return outcomes, frozenset(name for observation in seen for name in observation.stand_ins)


def _take_turns(plan: Plan, asked: Mapping[str, Callable[[GoldenQuery], Attempt]]) -> dict[str, list[Attempt]]:
    names = list(asked)
    attempts: dict[str, list[Attempt]] = {name: [] for name in names}
    for count, query in enumerate(plan.queries if names else ()):
        first = count % len(names)
        for name in names[first:] + names[:first]:
            attempts[name].append(asked[name](query))
        if plan.progress is not None:
            plan.progress(count + 1, len(plan.queries))
    return attempts


def _why_skipped(plan: Plan, variant: Variant, overrides: Mapping[str, object]) -> str | None:
    """Why a variant cannot run, as its first query shows, unmeasured; ``None`` when it can."""
    if variant.reranked and overrides.get("rerank_provider", plan.reranker) == NO_RERANKER:
        return "no reranker"
    warm_up = attempt(plan, plan.queries[0], overrides)
    if isinstance(warm_up.error, UnavailableError):
        return warm_up.error.message
    if (
        variant.reranked is not False
        and _rerank_skipped(warm_up)
        and _rerank_skipped(again := attempt(plan, plan.queries[0], overrides))
    ):
        reason = again.observation.rerank.reason if again.observation else None
        return f"the reranker did not answer ({reason or 'no reason given'})"
    return None


def _outcome(
    plan: Plan, variant: Variant, overrides: Mapping[str, object], attempts: Sequence[Attempt]
) -> VariantOutcome:
    observations = [attempt.observation for attempt in attempts if attempt.observation is not None]
    outcomes = tuple(attempt.outcome for attempt in attempts)
    if all(outcome.error is not None for outcome in outcomes):
        reasons = [f"every query failed; the first with {outcomes[0].error}"]
    else:
        reasons = distrust(variant, observations) if observations else []
    return VariantOutcome(
        name=variant.name,
        overrides=overrides,
        status="invalid" if reasons else "ok",
        reasons=tuple(reasons),
        stages=observations[0].stages if observations else {},
        queries=outcomes,
        measures=summarise(outcomes, seed=plan.seed),
    )


def _rerank_skipped(attempt: Attempt) -> bool:
    return attempt.observation is not None and attempt.observation.rerank.status == "skipped"


def _skipped(variant: Variant, reason: str) -> VariantOutcome:
    return VariantOutcome(name=variant.name, overrides=variant.overrides, status="skipped", reasons=(reason,))


def _names(value: object) -> frozenset[str]:
    if value is None:
        return frozenset()
    if not isinstance(value, list):
        raise UsageError(f"the retriever's info() gives stand_ins as {value!r}", hint="it is a list of names")
    return frozenset(map(str, value))
