"""Near-duplicates: passages that would say the same thing twice. The best placed one absorbs the others."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from seamline.folding import fold
from seamline.rerank.words import words
from seamline.types import Chunk, ChunkId, DocumentId

_SHINGLE = 5
"""Words (characters, in scripts without spaces) a shingle, as in Broder's resemblance."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What a chunk duplicates. ``jaccard`` is the highest similarity, where only that made it a duplicate."""

    kept: ChunkId
    jaccard: float | None = None


class Kept:
    """The passages kept so far, best placed first."""

    def __init__(self, threshold: float) -> None:
        """``threshold`` in (0, 1] is the Jaccard similarity of shingle sets from which two passages are one."""
        self._threshold = threshold
        self._chunks: list[Chunk] = []
        self._shingles: list[frozenset[tuple[str, ...]]] = []
        self._seen: set[tuple[str, ...]] = set()
        self._texts: dict[str, int] = {}
        self._documents: defaultdict[DocumentId, list[int]] = defaultdict(list)

    def match_or_keep(self, chunk: Chunk) -> Match | None:
        """The best placed passage that this chunk duplicates; without one it is kept, and the answer is None."""
        folded = fold(chunk.text)
        shingles = _shingles(folded)
        similar = self._similar(shingles)
        same = [index for index in self._documents[chunk.document_id] if _overlap(self._chunks[index], chunk)]
        if folded in self._texts:
            same.append(self._texts[folded])
        if same:
            return Match(kept=self._chunks[min(*same, *similar, len(self._chunks))].id)
        if similar:
            return Match(kept=self._chunks[min(similar)].id, jaccard=max(similar.values()))
        self._keep(chunk, folded, shingles)
        return None

    def _similar(self, shingles: frozenset[tuple[str, ...]]) -> dict[int, float]:
        """The kept passages at or above the threshold: index to Jaccard similarity."""
        # J(A, B) <= |A & B| / |A|: what shares too little with all of them together is similar to none.
        if len(shingles & self._seen) < self._threshold * len(shingles) - _ROUNDING:
            return {}
        shared = [len(shingles & kept) for kept in self._shingles]
        jaccard = [n / (len(shingles) + len(kept) - n) for n, kept in zip(shared, self._shingles, strict=True)]
        return {index: value for index, value in enumerate(jaccard) if value >= self._threshold}

    def _keep(self, chunk: Chunk, folded: str, shingles: frozenset[tuple[str, ...]]) -> None:
        index = len(self._chunks)
        self._chunks.append(chunk)
        self._shingles.append(shingles)
        self._seen |= shingles
        self._texts[folded] = index
        self._documents[chunk.document_id].append(index)


def _overlap(first: Chunk, second: Chunk) -> bool:
    """Whether more than half of the shorter span lies in the other."""
    shared = min(first.char_end, second.char_end) - max(first.char_start, second.char_start)
    shorter = min(first.char_end - first.char_start, second.char_end - second.char_start)
    return shared * 2 > shorter


def _shingles(folded: str) -> frozenset[tuple[str, ...]]:
    found = words(folded) or [folded]
    if len(found) <= _SHINGLE:
        return frozenset([tuple(found)])
    return frozenset(zip(*(found[offset:] for offset in range(_SHINGLE)), strict=False))
