"""One query under one variant, one system or one recorded run: what is asked, and what is kept of the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from seamline.errors import ConnectorOperationalError
from seamline.evaluation.golden import GoldenQuery
from seamline.evaluation.measures import DEPTH, measure
from seamline.evaluation.report import HIT_COLUMNS, Hit, QueryOutcome, VariantOutcome, summarise
from seamline.evaluation.trust import Observation, observe
from seamline.ports import Retriever, SystemUnderTest
from seamline.types import RankedHit, RetrievalResult, Stages

Ranking = Mapping[str, Sequence[str]]
"""Query id to document ids, best first."""
Progress = Callable[[int, int], None]
"""Called with the queries done and the queries in all; a query is done when every variant has answered it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What all variants of a run have in common."""

    retriever: Retriever | None
    queries: Sequence[GoldenQuery]
    reranker: str
    k: int
    seed: int
    passages: int
    drop_query_document: bool
    progress: Progress | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call: what came of it, and the observation or the error that goes with it."""

    outcome: QueryOutcome
    observation: Observation | None
    error: Exception | None


def documents_of(result: RetrievalResult) -> tuple[str, ...]:
    """The documents of a result's passages, each once, at the rank of its best passage."""
    return tuple(dict.fromkeys(str(passage.chunk.document_id) for passage in result.passages))


def attempt(plan: Plan, query: GoldenQuery, overrides: Mapping[str, object]) -> Attempt:
    """Ask the retriever, timed; whatever it raises is this query's failure, and is reported."""
    assert plan.retriever is not None  # noqa: S101 -- variants are refused without one
    result, failure = None, None
    started = time.perf_counter()
    try:
        result = plan.retriever.retrieve(query.query, top_k=plan.passages, overrides=overrides)
    except Exception as error:  # whatever a foreign retriever raises is that query's failure, and is reported
        failure = error
    latency_ms = (time.perf_counter() - started) * 1000
    documents = () if result is None else documents_of(result)
    outcome = _outcome(plan, query, documents, latency_ms, failure)
    if result is not None:
        outcome = replace(outcome, hits=_hits(result, outcome.documents[:DEPTH]))
    return Attempt(outcome, None if result is None else observe(result), failure)


def attempt_system(plan: Plan, query: GoldenQuery, *, system: SystemUnderTest, limit: int | None) -> Attempt:
    """As :func:`attempt`, of a system that someone else built: its hits are checked, then mapped to documents.

    ``limit`` is how many hits it may return; ``None`` for one that always returns a whole set.
    """
    documents: tuple[str, ...] = ()
    failure: Exception | None = None
    started = time.perf_counter()
    try:
        hits = system.retrieve(query.query, top_k=plan.passages)
        latency_ms = (time.perf_counter() - started) * 1000
        documents = _documents_of_hits(hits, limit)
    except Exception as error:  # an outage of the system is its failure and never an empty result
        failure, latency_ms = error, (time.perf_counter() - started) * 1000
    outcome = _outcome(plan, query, documents, latency_ms, failure)
    return Attempt(replace(outcome, hits=_bare(outcome.documents)), None, failure)


def recorded(plan: Plan, name: str, ranking: Ranking) -> VariantOutcome:
    """Another system's ranking, measured as ours are; one that knows no query of the golden set is invalid."""
    queries = []
    for query in plan.queries:
        outcome = _outcome(plan, query, tuple(ranking.get(query.id, ())), None, None)
        queries.append(replace(outcome, hits=_bare(outcome.documents)))
    known = any(query.id in ranking for query in plan.queries)
    return VariantOutcome(
        name=name,
        overrides={},
        status="ok" if known else "invalid",
        reasons=() if known else ("the run answers no query of the golden set",),
        queries=tuple(queries),
        measures=summarise(queries, seed=plan.seed),
    )


def _outcome(
    plan: Plan, query: GoldenQuery, documents: tuple[str, ...], latency_ms: float | None, failure: Exception | None
) -> QueryOutcome:
    if plan.drop_query_document:
        documents = tuple(document for document in documents if document != query.id)
    return QueryOutcome(
        id=query.id,
        documents=documents,
        measures=measure(documents, query.relevance, k=plan.k),
        latency_ms=latency_ms,
        error=None if failure is None else f"{type(failure).__name__}: {failure}",
        tags=query.tags,
        language=query.language,
    )


def _documents_of_hits(hits: Sequence[RankedHit], limit: int | None) -> tuple[str, ...]:
    """Each document once, at the rank of its best hit. Raises ``ConnectorOperationalError`` for what is no ranking."""
    if limit is not None and len(hits) > limit:
        raise ConnectorOperationalError(f"{len(hits)} hits came back where {limit} were asked for")
    nameless = sum(not hit.document_id for hit in hits)
    if nameless:
        raise ConnectorOperationalError(
            f"{nameless} of {len(hits)} hits name no document",
            hint="a golden set is keyed to documents, so every hit must carry its document_id",
        )
    return tuple(dict.fromkeys(str(hit.document_id) for hit in hits))


def _bare(documents: Sequence[str]) -> tuple[Hit, ...]:
    """Hits of which nothing is known but the document."""
    return tuple((document, *[None] * (len(HIT_COLUMNS) - 1)) for document in documents[:DEPTH])


def _hits(result: RetrievalResult, documents: Sequence[str]) -> tuple[Hit, ...]:
    best = {str(passage.chunk.document_id): passage.stages for passage in reversed(result.passages)}
    return tuple(
        (document, *(getattr(best[document], name) for name in HIT_COLUMNS[1:-1]), _terms(best[document]))
        for document in documents
    )


def _terms(stages: Stages) -> list[str] | None:
    return None if stages.matched_terms is None else list(stages.matched_terms)
