"""Why-not: at which stage a document was lost, and by how much.

Runs the pipeline itself, then both legs once more without a depth. Which candidates are admitted is decided by
the ``select`` that the caller passes in, the one that the pipeline uses; so the two cannot disagree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from seamline.errors import IntegrityError, NotFoundError, UsageError
from seamline.ports import Analyzer, Embedder, LegReader
from seamline.retrieve import keyword, legs
from seamline.retrieve.completion import complete
from seamline.retrieve.explanation import ADMITTED, Outcome, Select, Suggestion, WhyNot, WhyNotStage
from seamline.retrieve.missing import missing_words
from seamline.retrieve.modes import Retrieved, RetrieveOptions, retrieve
from seamline.retrieve.question import Question
from seamline.types import Candidate, Chunk, ChunkId, DocumentId, Scope

_ORDER = ("exclusion", "pool", "rerank_candidates", "gate", "near_duplicate", "limit")
"""Where a chunk of the scope can be lost, in the order of the stages."""


class Reader(LegReader, Protocol):
    """What why-not reads: both legs, and the chunks of the target."""

    def chunks(self, scope: Scope, ids: Sequence[ChunkId]) -> list[Chunk]:
        """As in ``DocumentReader``."""

    def chunks_of(self, scope: Scope, document_id: DocumentId) -> list[Chunk]:
        """As in ``DocumentReader``."""


def explain(
    snapshot: Reader,
    scope: Scope,
    question: Question,
    *,
    document_id: DocumentId | None = None,
    chunk_id: ChunkId | None = None,
    embedder: Embedder | None,
    analyzer: Analyzer,
    options: RetrieveOptions,
    select: Select,
) -> WhyNot:
    """Explain one document, or one chunk of one.

    Raises:
        UsageError: neither or both of ``document_id`` and ``chunk_id`` are given.
        NotFoundError: it does not exist, or the principal may not read it: the two look the same.
    """
    if (document_id is None) == (chunk_id is None):
        raise UsageError("why-not explains one target", hint="pass either document_id or chunk_id")
    chunks, filtered = _chunks(snapshot, scope, document_id, chunk_id)
    if filtered or not chunks:
        return _not_searched(document_id or chunks[0].document_id, chunk_id, filtered)

    def run(changed: RetrieveOptions) -> Retrieved:
        return retrieve(snapshot, scope, question, embedder=embedder, analyzer=analyzer, options=changed)

    pools = legs.run(
        snapshot,
        scope,
        question,
        embedder=embedder,
        analyzer=analyzer,
        depth=None,
        with_dense=options.mode != "keyword",
        with_keyword=options.mode != "dense",
    )
    candidates = run(options).candidates
    ids = [chunk.id for chunk in chunks]
    outcomes = unlimited = select(candidates, {})
    if any(chunk_id in outcomes and outcomes[chunk_id].stage == "limit" for chunk_id in ids):
        # Selection stops at the limit; only without one is it known what comes of a candidate behind it.
        unlimited = select(candidates, {"limit": len(candidates)})
    search = _Search(
        run=run,
        select=select,
        missing=partial(missing_words, analyzer, question.text, question.keyword_languages, pools.keyword_query.terms),
        options=options,
        pools=pools,
        candidates=candidates,
        outcomes=outcomes,
        unlimited=unlimited,
    )
    excluded = set(ids) - keyword.not_excluded(snapshot, scope, pools.keyword_query, ids)
    explained = [
        search.explain(chunk, whole, chunk.id in excluded)
        for chunk, whole in zip(chunks, complete(snapshot, scope, pools, only=ids), strict=True)
    ]
    return search.with_suggestion(max(explained, key=lambda found: found.progress))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Explained:
    """One chunk's way through the stages; ``needed`` are the setting and value that pass the stage that lost it."""

    chunk: Chunk
    missing_words: tuple[str, ...]
    stages: tuple[WhyNotStage, ...]
    lost_at: str | None
    position: int
    margin: float | None = None
    needed: tuple[str, float] | None = None

    @property
    def progress(self) -> tuple[int, int]:
        """How far the chunk came; of two lost at one stage, the better placed came further."""
        return (len(_ORDER) if self.lost_at is None else _ORDER.index(self.lost_at), -self.position)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """The request, as the pipeline runs it and without a depth."""

    run: Callable[[RetrieveOptions], Retrieved]
    select: Select
    missing: Callable[[Sequence[str]], tuple[str, ...]]
    options: RetrieveOptions
    pools: legs.Pools
    candidates: tuple[Candidate, ...]
    outcomes: Mapping[ChunkId, Outcome]
    unlimited: Mapping[ChunkId, Outcome]

    def explain(self, chunk: Chunk, whole: Candidate, excluded: bool) -> _Explained:
        """Follow one chunk; ``whole`` holds its scores, and its ranks in pools without a depth."""
        stages = [WhyNotStage(name="scope", passed=True, detail="in scope and readable")]
        ranks = [rank for rank in (whole.stages.dense_rank, whole.stages.keyword_rank) if rank is not None]
        found = partial(
            _Explained,
            chunk=chunk,
            missing_words=self.missing(whole.stages.matched_terms or ()),
            position=min(ranks, default=sys.maxsize),
        )
        if excluded:
            held = WhyNotStage(name="exclusion", passed=False, detail="holds a term that the question excludes")
            return found(stages=(*stages, held), lost_at="exclusion")
        stages += self._legs(whole)
        place = next((place for place, c in enumerate(self.candidates, 1) if c.chunk_id == chunk.id), None)
        if place is None:
            depth = self.options.candidate_k
            detail = f"in no pool of {depth}" if ranks else "no leg gives it a score"
            stages.append(WhyNotStage(name="pool", passed=False, detail=detail, needed_rank=depth))
            needed = ("candidate_k", min(ranks)) if ranks else None
            margin = min(ranks) - depth if ranks else None
            return found(stages=tuple(stages), lost_at="pool", margin=margin, needed=needed)
        candidate = self.candidates[place - 1]
        stages.append(WhyNotStage(name="pool", passed=True, detail=f"found by {candidate.stages.retrieval_method}"))
        fused = candidate.stages.fused_score
        detail = f"place {place} of {len(self.candidates)}"
        stages.append(WhyNotStage(name="fusion", passed=True, detail=detail, rank=place, score=fused))
        return self._selected(chunk, found, stages)

    def _legs(self, whole: Candidate) -> list[WhyNotStage]:
        depth, stages, query = self.options.candidate_k, whole.stages, self.pools.keyword_query
        found: list[WhyNotStage] = []
        for name, runs, rank, score in (
            ("keyword", self.options.mode != "dense", stages.keyword_rank, stages.keyword_score),
            ("dense", self.options.mode != "keyword", stages.dense_rank, stages.cosine),
        ):
            if not runs:
                continue
            if rank is not None:
                detail = f"rank {rank}, and the pool holds {depth}"
            elif name == "dense":
                detail = "it has no vector"
            elif not query.terms:
                detail = "the question has no terms"
            else:
                detail = "it lacks a quoted phrase" if score and query.phrases else "it holds none of the terms"
            passed = rank is not None and rank <= depth
            found.append(
                WhyNotStage(name=name, passed=passed, detail=detail, rank=rank, score=score, needed_rank=depth)
            )
        return found

    def _selected(self, chunk: Chunk, found: Callable[..., _Explained], stages: list[WhyNotStage]) -> _Explained:
        beyond = _outcome(self.outcomes, chunk.id).stage == "limit"
        outcome = _outcome(self.unlimited, chunk.id)
        if outcome.rank is None:
            raise IntegrityError(f"selection without a limit did not place candidate {chunk.id}")
        found = partial(found, position=outcome.rank)
        if outcome.stage != ADMITTED:
            lost_at, margin = outcome.stage, outcome.margin
            needed = (outcome.setting, outcome.needed) if outcome.setting and outcome.needed is not None else None
        elif beyond:
            limit = sum(other.stage == ADMITTED for other in self.outcomes.values())
            lost_at, margin, needed = "limit", outcome.rank - limit, ("limit", outcome.rank)
        else:
            passed = WhyNotStage(name="selection", passed=True, detail=f"passage {outcome.rank}", rank=outcome.rank)
            return found(stages=(*stages, passed), lost_at=None)
        lost = WhyNotStage(name=lost_at, passed=False, detail=_lost(lost_at, margin, outcome), rank=outcome.rank)
        return found(stages=(*stages, lost), lost_at=lost_at, margin=margin, needed=needed)

    def with_suggestion(self, found: _Explained) -> WhyNot:
        """The report, with the one change of a setting that helps, if there is one."""
        suggestion = None
        if found.needed is not None and self._admits(found.chunk.id, *found.needed):
            suggestion = Suggestion(setting=found.needed[0], value=found.needed[1])
        return WhyNot(
            document_id=found.chunk.document_id,
            chunk_id=found.chunk.id,
            admitted=found.lost_at is None,
            lost_at=found.lost_at,
            margin=found.margin,
            suggestion=suggestion,
            missing_words=found.missing_words,
            stages=found.stages,
        )

    def _admits(self, chunk_id: ChunkId, setting: str, value: float) -> bool:
        if setting == "limit" and value > self.options.candidate_k:
            return False  # would be refused: a limit is at most the pool size
        if setting != "candidate_k":
            return _outcome(self.select(self.candidates, {setting: value}), chunk_id).stage == ADMITTED
        candidates = self.run(replace(self.options, candidate_k=int(value))).candidates
        return _outcome(self.select(candidates, {}), chunk_id).stage == ADMITTED


def _outcome(outcomes: Mapping[ChunkId, Outcome], chunk_id: ChunkId) -> Outcome:
    if chunk_id not in outcomes:
        raise IntegrityError(f"selection gave no account of candidate {chunk_id}")
    return outcomes[chunk_id]


def _lost(stage: str, margin: float | None, outcome: Outcome) -> str:
    if stage == "near_duplicate":
        return f"a near-duplicate of {outcome.absorbed_by}, which is placed better"
    if stage == "gate":
        return "it has no score to pass the gate with" if margin is None else f"{margin:.4f} below {outcome.setting}"
    return f"{margin:.0f} places beyond {stage}" if margin is not None else f"beyond {stage}"


def _chunks(
    reader: Reader, scope: Scope, document_id: DocumentId | None, chunk_id: ChunkId | None
) -> tuple[list[Chunk], bool]:
    """The target's chunks, and whether it is readable but left out by a filter of this request."""
    unfiltered = replace(scope, document_filter=None, metadata_filter={})
    try:
        return _found(reader, scope, document_id, chunk_id), False
    except NotFoundError:
        if unfiltered == scope:
            raise
    return _found(reader, unfiltered, document_id, chunk_id), True


def _found(reader: Reader, scope: Scope, document_id: DocumentId | None, chunk_id: ChunkId | None) -> list[Chunk]:
    if chunk_id is None:
        return reader.chunks_of(scope, document_id) if document_id is not None else []
    chunks = reader.chunks(scope, [chunk_id])
    if not chunks:
        raise NotFoundError(f"no chunk {chunk_id!r}", hint="`seamline search` prints the ids of chunks")
    return chunks


def _not_searched(document_id: DocumentId, chunk_id: ChunkId | None, filtered: bool) -> WhyNot:
    lost_at = "filter" if filtered else "chunks"
    detail = "readable, and left out by this request's filters" if filtered else "the document has no chunks"
    return WhyNot(
        document_id=document_id,
        chunk_id=chunk_id,
        admitted=False,
        lost_at=lost_at,
        margin=None,
        suggestion=None,
        missing_words=(),
        stages=(WhyNotStage(name=lost_at, passed=False, detail=detail),),
    )
