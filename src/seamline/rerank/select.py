"""From fused candidates to minted passages, in a fixed order: rerank or skip, gate, near-duplicates, limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from seamline.errors import IntegrityError
from seamline.ports import ChunkFetch, Reranker
from seamline.rerank import gate as gates
from seamline.rerank.duplicates import Kept, Match
from seamline.rerank.mint import mint
from seamline.rerank.ordering import reranked
from seamline.rerank.selection import Fate, Selection, SelectOptions
from seamline.rerank.texts import Texts
from seamline.types import Candidate, Chunk, ChunkId, Passage, Scored, ScoreKind

_BEYOND_LIMIT = Fate(stage="limit", rank=None, setting="limit")


def select(
    query: str,
    candidates: Sequence[Candidate],
    *,
    fetch: ChunkFetch,
    reranker: Reranker | None,
    options: SelectOptions,
) -> Selection:
    """Select passages from candidates in fused order. Texts are read only as far down as the limit needs.

    A reranker that fails is skipped with its reason, and cosine gates instead. ``absorbed`` of a passage lists the
    near-duplicates that were met before the limit was reached.

    Raises:
        RerankError: reranking is required, and failed or is not configured.
        IntegrityError: a candidate is outside the scope that ``fetch`` reads in.
    """
    started = perf_counter()
    texts = Texts(fetch)
    fates: dict[ChunkId, Fate] = {}
    ordered, outcome = reranked(query, candidates, texts, reranker, options)
    reranked_at = perf_counter()
    applied = outcome.status == "applied"
    for position, candidate in enumerate(candidates[len(ordered) :], len(ordered) + 1):
        fates[candidate.chunk_id] = Fate(
            stage="rerank_candidates",
            rank=position,
            setting="rerank_candidates",
            needed=position,
            margin=position - options.rerank_candidates,
        )
    gate = _gate(options, applied)
    admitted, refused = gates.split(gate, ordered)
    _gated(fates, gate, ordered, refused)
    kept, absorbed = _without_duplicates(admitted, texts, options, fates)
    passages = [
        _passage(rank, candidate, chunk, gate, "rerank" if applied else options.score_kind, absorbed[chunk.id])
        for rank, (candidate, chunk) in enumerate(kept, 1)
    ]
    nearest = refused[: options.limit]
    rejected = [Scored(chunk=c, stages=r.stages) for r, c in zip(nearest, texts.of(nearest), strict=True)]
    minted = mint(passages, rejected)
    return Selection(
        passages=minted,
        outcome=outcome,
        cut_by="rerank_candidates" if len(ordered) < min(options.limit, len(candidates)) else None,
        timings_ms={
            "rerank": (reranked_at - started) * 1000,
            "select": (perf_counter() - reranked_at) * 1000,
        },
        fates=fates,
    )


def _gate(options: SelectOptions, applied: bool) -> gates.Gate:
    if applied:
        return gates.Gate(kind="rerank", minimum=options.rerank_min_score, confident=options.rerank_confident_score)
    return gates.Gate(kind="cosine", minimum=options.min_cosine, confident=options.confident_cosine)


def _gated(
    fates: dict[ChunkId, Fate], gate: gates.Gate, ordered: Sequence[Candidate], refused: Sequence[Candidate]
) -> None:
    positions = {candidate.chunk_id: place for place, candidate in enumerate(ordered, 1)} if refused else {}
    for candidate in refused:
        score = gate.score(candidate)
        fates[candidate.chunk_id] = Fate(
            stage="gate",
            rank=positions[candidate.chunk_id],
            setting=gate.setting,
            needed=score,
            margin=gate.minimum - score if gate.minimum is not None and score is not None else None,
        )


def _without_duplicates(
    admitted: Sequence[Candidate], texts: Texts, options: SelectOptions, fates: dict[ChunkId, Fate]
) -> tuple[list[tuple[Candidate, Chunk]], dict[ChunkId, list[ChunkId]]]:
    """The first ``limit`` that say something new, and what each absorbed. Reads texts a batch at a time."""
    kept: list[tuple[Candidate, Chunk]] = []
    absorbed: dict[ChunkId, list[ChunkId]] = {}
    seen = Kept(options.near_duplicate_jaccard)
    place = 0
    while place < len(admitted) and len(kept) < options.limit:
        batch = admitted[place : place + options.limit - len(kept)]
        for candidate, chunk in zip(batch, texts.of(batch), strict=True):
            place += 1
            match = seen.match_or_keep(chunk)
            if match is None:
                kept.append((candidate, chunk))
                absorbed[chunk.id] = []
                fates[chunk.id] = Fate(stage="admitted", rank=len(kept))
            else:
                absorbed[match.kept].append(chunk.id)
                fates[chunk.id] = _absorbed(place, match)
    fates |= dict.fromkeys((candidate.chunk_id for candidate in admitted[place:]), _BEYOND_LIMIT)
    return kept, absorbed


def _absorbed(position: int, match: Match) -> Fate:
    similarity = match.jaccard if match.jaccard is not None and match.jaccard < 1 else None
    return Fate(
        stage="near_duplicate",
        rank=position,
        setting="near_duplicate_jaccard" if similarity is not None else None,
        needed=math.nextafter(similarity, 2) if similarity is not None else None,
        absorbed_by=match.kept,
    )


def _passage(
    rank: int, candidate: Candidate, chunk: Chunk, gate: gates.Gate, kind: ScoreKind, absorbed: list[ChunkId]
) -> Passage:
    stages = candidate.stages
    score = {
        "rerank": stages.rerank_score,
        "cosine": stages.cosine,
        "bm25": stages.keyword_score,
        "fused": stages.fused_score,
    }[kind]
    if score is None:
        raise IntegrityError(f"candidate {chunk.id!r} was ordered by its {kind} score and has none")
    return Passage(
        rank=rank,
        score=score,
        score_kind=kind,
        chunk=chunk,
        stages=replace(stages, admitted_by=gate.admits_by, absorbed=tuple(absorbed)),
        confident=gate.confidence(candidate),
        shown_text=chunk.text,
        shown_start=chunk.char_start,
    )
