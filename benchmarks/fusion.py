"""What ordering and selecting 200 candidates costs, the store's own work left out.

``python benchmarks/fusion.py`` prints the median microseconds of processor time of completion, fusion and selection,
on two disjoint pools of 100.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from statistics import median
from time import thread_time

import numpy as np

from seamline.ports import LegReader
from seamline.rerank.select import select
from seamline.rerank.selection import SelectOptions
from seamline.retrieve.completion import complete
from seamline.retrieve.fusion import rrf, weighted
from seamline.retrieve.legs import Pools
from seamline.types import Candidate, Chunk, ChunkId, DocumentId, Hit, KeywordQuery, Principal, Scope

ROUNDS = 300
POOL = 100
SCOPE = Scope(principal=Principal(id="me", owner=True), kb="k")
QUERY = KeywordQuery(terms=("gate", "harbour"))
OPTIONS = SelectOptions(
    limit=5,
    rerank="off",
    rerank_candidates=30,
    timeout_s=2.0,
    max_chars=8000,
    min_cosine=0.0,
    confident_cosine=0.5,
    rerank_min_score=None,
    rerank_confident_score=None,
    near_duplicate_jaccard=0.9,
    score_kind="fused",
)


class Instant:
    """Answers completion at once, so that only the engine's own work is timed."""

    def cosines(self, _scope: Scope, _vector: object, ids: Sequence[ChunkId]) -> list[float]:
        return [0.3] * len(ids)

    def keyword_scores(self, _scope: Scope, _query: KeywordQuery, ids: Sequence[ChunkId]) -> list[float]:
        return [1.5] * len(ids)

    def matched_terms(self, _scope: Scope, _query: KeywordQuery, ids: Sequence[ChunkId]) -> list[tuple[str, ...]]:
        return [("gate",)] * len(ids)


def pools(seed: random.Random) -> Pools:
    def hits(leg: str, top: float) -> list[Hit]:
        scores = sorted((seed.uniform(0, top) for _ in range(POOL)), reverse=True)
        return [Hit(ChunkId(f"{leg}{i:03}"), score, "en") for i, score in enumerate(scores)]

    return Pools(
        keyword_query=QUERY,
        vector=np.ones(384, dtype=np.float32),
        dense=hits("d", 1.0),
        keyword=hits("k", 30.0),
        timings_ms={},
    )


def chunks(ids: Sequence[ChunkId], seed: random.Random) -> dict[ChunkId, Chunk]:
    words = [f"word{i}" for i in range(5000)]
    made = {}
    for chunk_id in ids:
        text = " ".join(seed.choices(words, k=150))
        made[chunk_id] = Chunk(
            id=chunk_id, document_id=DocumentId(chunk_id), text=text, char_start=0, char_end=len(text), chunk_index=0
        )
    return made


def timed(work: Callable[[], object]) -> float:
    """Median microseconds of processor time of a call: other processes do not count."""
    taken = []
    for _ in range(ROUNDS):
        started = thread_time()
        work()
        taken.append((thread_time() - started) * 1e6)
    return round(median(taken), 1)


def measure() -> dict[str, float]:
    seed = random.Random(20260)
    given = pools(seed)
    reader: LegReader = Instant()  # type: ignore[assignment]
    completed = complete(reader, SCOPE, given)
    fused = weighted(completed, alpha=lambda _language: 0.6, normaliser="theoretical")
    stored = chunks([candidate.chunk_id for candidate in completed], seed)

    def fetch(ids: Sequence[ChunkId]) -> list[Chunk]:
        return [stored[chunk_id] for chunk_id in ids]

    def selected(candidates: Sequence[Candidate]) -> object:
        return select("gate", candidates, fetch=fetch, reranker=None, options=OPTIONS)

    found = {
        "completion_us": timed(lambda: complete(reader, SCOPE, given)),
        "weighted_us": timed(lambda: weighted(completed, alpha=lambda _language: 0.6, normaliser="theoretical")),
        "rrf_us": timed(lambda: rrf(completed, k=60)),
        "select_us": timed(lambda: selected(fused)),
    }
    return {
        "candidates": len(completed),
        **found,
        "total_us": found["completion_us"] + found["weighted_us"] + found["select_us"],
    }


if __name__ == "__main__":
    print(json.dumps(measure()))
