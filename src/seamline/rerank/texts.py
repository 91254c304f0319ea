"""Reads chunks of candidates in batches, each once, and checks that the scope still admits them."""

from __future__ import annotations

from collections.abc import Sequence

from seamline.errors import IntegrityError
from seamline.ports import ChunkFetch
from seamline.types import Candidate, Chunk, ChunkId


class Texts:
    """Chunks by id, fetched when they are first needed."""

    def __init__(self, fetch: ChunkFetch) -> None:
        """``fetch`` returns the chunks that the scope admits, in the order of the ids."""
        self._fetch = fetch
        self._chunks: dict[ChunkId, Chunk] = {}

    def of(self, candidates: Sequence[Candidate]) -> list[Chunk]:
        """The candidates' chunks; raises ``IntegrityError`` when the scope does not admit one (rule 09)."""
        wanted = [c.chunk_id for c in candidates if c.chunk_id not in self._chunks]
        if wanted:
            self._chunks |= {chunk.id: chunk for chunk in self._fetch(wanted)}
        lacking = [candidate.chunk_id for candidate in candidates if candidate.chunk_id not in self._chunks]
        if lacking:
            raise IntegrityError(
                f"a leg returned {len(lacking)} chunks that its own scope does not admit, the first {lacking[0]!r}",
                hint="the store's legs and its documents disagree; run `seamline doctor`",
            )
        return [self._chunks[candidate.chunk_id] for candidate in candidates]
