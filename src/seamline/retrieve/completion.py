"""Score completion: every candidate of either pool gets both scores, before anything is fused."""

from __future__ import annotations

from collections.abc import Sequence

from seamline.ports import LegReader
from seamline.retrieve.legs import Pools
from seamline.retrieve.pool import by_id
from seamline.types import Candidate, ChunkId, Hit, Scope, Stages


def complete(reader: LegReader, scope: Scope, pools: Pools, only: Sequence[ChunkId] | None = None) -> list[Candidate]:
    """The union of the pools, in no order that matters; a rank only where that leg's pool holds the chunk.

    ``only`` names the chunks to complete instead, whether or not a pool holds them. The cosine is ``None`` without
    a question vector or where the store cannot give it; keyword score and matched terms are ``None`` when the
    question has no terms.
    """
    dense, keyword = _ranked(pools.dense), _ranked(pools.keyword)
    languages = {hit.chunk_id: hit.language for hit in (*pools.keyword, *pools.dense)}
    ids = list(languages if only is None else only)
    cosines: dict[ChunkId, float | None] = {hit.chunk_id: hit.score for hit in pools.dense}
    scores: dict[ChunkId, float | None] = {hit.chunk_id: hit.score for hit in pools.keyword}
    matched: dict[ChunkId, tuple[str, ...]] = {}
    query, vector = pools.keyword_query, pools.vector
    lacking = [chunk_id for chunk_id in ids if chunk_id not in dense]
    if vector is not None and lacking:
        cosines |= by_id(lacking, reader.cosines(scope, vector, lacking), "dense")
    lacking = [chunk_id for chunk_id in ids if chunk_id not in keyword]
    if query.terms and lacking:
        scores |= by_id(lacking, reader.keyword_scores(scope, query, lacking), "keyword")
    if query.terms and ids:
        matched = by_id(ids, reader.matched_terms(scope, query, ids), "keyword")
    return [
        Candidate(
            chunk_id=chunk_id,
            language=languages.get(chunk_id),
            stages=Stages(
                dense_rank=dense.get(chunk_id),
                cosine=cosines.get(chunk_id),
                keyword_rank=keyword.get(chunk_id),
                keyword_score=scores.get(chunk_id),
                matched_terms=matched.get(chunk_id),
            ),
        )
        for chunk_id in ids
    ]


def _ranked(hits: list[Hit]) -> dict[ChunkId, int]:
    return {hit.chunk_id: rank for rank, hit in enumerate(hits, 1)}
