"""The keyword leg: BM25 over analysed terms."""

from __future__ import annotations

from collections.abc import Sequence

from seamline.ports import LegReader
from seamline.retrieve.pool import by_id, checked
from seamline.types import ChunkId, Hit, KeywordQuery, Scope

NO_TERMS = "keyword: no terms"
"""The note of a question that the analyzer leaves nothing of."""


def pool(reader: LegReader, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
    """The leg's pool; empty without asking the store when the question has no terms."""
    return checked(reader.keyword_pool(scope, query, depth), "keyword", depth) if query.terms else []


def without_excluded(reader: LegReader, scope: Scope, query: KeywordQuery, hits: list[Hit]) -> list[Hit]:
    """The hits whose chunk holds no excluded term: how ``-term`` reaches hits that the keyword leg never saw."""
    kept = not_excluded(reader, scope, query, [hit.chunk_id for hit in hits])
    return [hit for hit in hits if hit.chunk_id in kept]


def not_excluded(reader: LegReader, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> set[ChunkId]:
    """Those of the chunks that hold none of the terms that the question excludes."""
    if not query.excluded or not ids:
        return set(ids)
    excluded = KeywordQuery(terms=tuple(sorted(set(query.excluded))))
    held = by_id(ids, reader.matched_terms(scope, excluded, ids), "keyword")
    return {chunk_id for chunk_id in ids if not held[chunk_id]}
