"""Retrieval by mode: query and scope in, ordered candidates with their stages out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

from seamline.errors import ModeUnavailableError
from seamline.ports import Analyzer, Embedder, LegReader
from seamline.retrieve import legs
from seamline.retrieve.completion import complete
from seamline.retrieve.fusion import Fusion, Normaliser, dbsf, rrf, weighted
from seamline.retrieve.keyword import NO_TERMS
from seamline.retrieve.question import Question
from seamline.types import Candidate, EmbeddingSpace, KeywordQuery, Scope

Mode = Literal["economy", "hybrid", "dense", "keyword"]
LOOKED_AT = 10
"""Best candidates that a note about languages looks at."""
NOT_COVERED = "dense: language not covered"
"""Start of the note of a question, or of most of its best candidates, in a language that the model does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveOptions:
    """One retrieval policy. ``economy`` is the default pipeline, ``hybrid`` its name in measurements.

    ``candidate_k`` is the size of each leg's pool. ``alpha`` and ``alpha_uncovered`` in [0, 1] weigh the dense leg
    where the embedding model covers the question's and the chunk's language, and where it does not.
    """

    mode: Mode
    candidate_k: int
    fusion: Fusion
    alpha: float
    alpha_uncovered: float
    normaliser: Normaliser
    rrf_k: float

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> RetrieveOptions:
        """The options that the settings state."""
        return cls(
            mode=settings["mode"],
            candidate_k=settings["candidate_k"],
            fusion=settings["fusion"],
            alpha=settings["fusion_alpha"],
            alpha_uncovered=settings["fusion_alpha_uncovered"],
            normaliser=settings["fusion_normaliser"],
            rrf_k=settings["rrf_k"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """Candidates of both pools in fused order (in a single-leg mode: of that pool, in its order, unfused).

    ``pool_sizes`` has a key for each leg that the mode runs. ``timings_ms`` are milliseconds by step.
    """

    candidates: tuple[Candidate, ...]
    pool_sizes: dict[str, int]
    timings_ms: dict[str, float]
    notes: tuple[str, ...]
    keyword_query: KeywordQuery


def retrieve(
    snapshot: LegReader,
    scope: Scope,
    question: Question,
    *,
    embedder: Embedder | None,
    analyzer: Analyzer,
    options: RetrieveOptions,
) -> Retrieved:
    """Run the mode's legs over one snapshot, complete both scores of every candidate, and order them.

    Raises:
        ModeUnavailableError: a mode with a dense leg was asked for without an embedder.
        StoreError: a leg failed, or broke its contract; never an empty result.
        EmbeddingError: the question could not be embedded.
    """
    with_dense, with_keyword = options.mode != "keyword", options.mode != "dense"
    if with_dense and embedder is None:
        raise ModeUnavailableError(
            f"mode {options.mode!r} needs an embedder and none is configured",
            hint="set SEAMLINE_EMBEDDING_PROVIDER, or ask for mode keyword",
        )
    pools = legs.run(
        snapshot,
        scope,
        question,
        embedder=embedder,
        analyzer=analyzer,
        depth=options.candidate_k,
        with_dense=with_dense,
        with_keyword=with_keyword,
    )
    started = perf_counter()
    completed = complete(snapshot, scope, pools)
    fused_at = perf_counter()
    candidates = _ordered(completed, question, embedder.space if embedder else None, options)
    timings = {
        **pools.timings_ms,
        "completion": (fused_at - started) * 1000,
        "fusion": (perf_counter() - fused_at) * 1000,
    }
    sizes = {"dense": len(pools.dense)} if with_dense else {}
    if with_keyword:
        sizes["keyword"] = len(pools.keyword)
    return Retrieved(
        candidates=tuple(candidates),
        pool_sizes=sizes,
        timings_ms=timings,
        notes=_notes(pools, question, candidates, embedder.space if with_dense and embedder else None),
        keyword_query=pools.keyword_query,
    )


def _ordered(
    candidates: list[Candidate], question: Question, space: EmbeddingSpace | None, options: RetrieveOptions
) -> list[Candidate]:
    if options.mode == "dense":
        return sorted(candidates, key=lambda candidate: candidate.stages.dense_rank or 0)
    if options.mode == "keyword":
        return sorted(candidates, key=lambda candidate: candidate.stages.keyword_rank or 0)
    if options.fusion == "rrf":
        return rrf(candidates, k=options.rrf_k)
    if options.fusion == "dbsf":
        return dbsf(candidates)
    return weighted(candidates, alpha=_alpha(question.language, space, options), normaliser=options.normaliser)


def _alpha(
    question_language: str | None, space: EmbeddingSpace | None, options: RetrieveOptions
) -> Callable[[str | None], float] | float:
    """The language rule: the dense leg weighs less where its model knows the question or the chunk badly."""
    if space is None or not space.covers(question_language):
        return options.alpha_uncovered
    return lambda language: options.alpha if space.covers(language) else options.alpha_uncovered


def _notes(
    pools: legs.Pools, question: Question, candidates: list[Candidate], space: EmbeddingSpace | None
) -> tuple[str, ...]:
    notes = [] if pools.keyword_query.terms else [NO_TERMS]
    if space is not None:
        best = [candidate.language for candidate in candidates[:LOOKED_AT]]
        foreign = [tag for tag in best if tag is not None and not space.covers(tag)]
        told = set(foreign) if 2 * len(foreign) > len(best) else set()
        if question.language is not None and not space.covers(question.language):
            told.add(question.language)
        notes += [f"{NOT_COVERED} ({', '.join(sorted(told))})"] if told else []
    return tuple(notes)
