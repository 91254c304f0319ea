"""Segments: immutable parts of the keyword index, as arrays. Nothing here knows SQLite.

A segment numbers its chunks ``0 .. n-1`` (local numbers, at most 65,536, so that they fit two bytes) in ascending
order of ordinal. Its terms are sorted by their UTF-8 bytes; the postings of term ``t`` are the slice
``posting_ends[t-1] : posting_ends[t]`` of two parallel arrays, local numbers and term frequencies.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_CHUNKS = 1 << 16
"""Chunks of a segment: two bytes a local number, and a bound on the memory that a merge needs."""
MAX_POSTINGS = 1 << 21
"""Postings that a builder gathers before it must be written out: bounds the memory of a commit."""


@dataclass(frozen=True, slots=True)
class Terms:
    """A sorted table of terms: their bytes on end, and where each ends."""

    data: bytes
    ends: NDArray[np.uint32]

    def term(self, index: int) -> bytes:
        """The UTF-8 bytes of one term."""
        start = int(self.ends[index - 1]) if index else 0
        return self.data[start : int(self.ends[index])]

    def find(self, term: bytes) -> int | None:
        """The index of a term, or ``None``."""
        index = bisect_left(range(len(self.ends)), term, key=self.term)
        return index if index < len(self.ends) and self.term(index) == term else None

    def all(self) -> list[bytes]:
        """Every term in order."""
        ends = self.ends.tolist()
        return [self.data[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    @staticmethod
    def of(terms: Sequence[bytes]) -> Terms:
        """The table of terms that are sorted already."""
        return Terms(b"".join(terms), np.cumsum([len(term) for term in terms], dtype=np.uint32))


@dataclass(frozen=True, slots=True)
class Segment:
    """A whole segment in memory. ``lengths`` counts the terms of each chunk, repeated ones too."""

    ordinals: NDArray[np.int64]
    lengths: NDArray[np.int32]
    terms: Terms
    posting_ends: NDArray[np.int64]
    locals: NDArray[np.uint16]
    frequencies: NDArray[np.uint32]


class SegmentBuilder:
    """Gathers analysed chunks, in ascending order of ordinal, until they become a segment."""

    def __init__(self) -> None:
        self._vocabulary: defaultdict[str, int] = defaultdict()
        self._vocabulary.default_factory = self._vocabulary.__len__
        self._ordinals = array("q")
        self._lengths = array("i")
        self._distinct = array("i")
        self._term_ids = array("I")
        self._frequencies = array("I")

    def __len__(self) -> int:
        return len(self._ordinals)

    @property
    def full(self) -> bool:
        """Whether it must become a segment before more is added."""
        return len(self._ordinals) >= MAX_CHUNKS or len(self._term_ids) >= MAX_POSTINGS

    def add(self, ordinal: int, terms: Sequence[str]) -> None:
        """One chunk's terms, repeated as often as they occur."""
        counts = Counter(terms)
        vocabulary = self._vocabulary
        self._ordinals.append(ordinal)
        self._lengths.append(len(terms))
        self._distinct.append(len(counts))
        self._term_ids.extend([vocabulary[term] for term in counts])
        self._frequencies.extend(counts.values())

    def build(self) -> Segment:
        """The segment of what was added."""
        names = sorted((term.encode("utf-8"), index) for term, index in self._vocabulary.items())
        rank = np.empty(len(names), dtype=np.int32)
        rank[[index for _, index in names]] = np.arange(len(names), dtype=np.int32)
        ranks = rank[np.frombuffer(self._term_ids, dtype=np.uint32)] if names else rank
        order = np.argsort(ranks, kind="stable")
        distinct = np.frombuffer(self._distinct, dtype=np.int32) if self._distinct else np.zeros(0, np.int32)
        numbers = np.repeat(np.arange(len(distinct), dtype=np.uint16), distinct)
        frequencies = np.array(self._frequencies, dtype=np.uint32)
        return Segment(
            np.array(self._ordinals, dtype=np.int64),
            np.array(self._lengths, dtype=np.int32),
            Terms.of([name for name, _ in names]),
            np.cumsum(np.bincount(ranks, minlength=len(names)), dtype=np.int64),
            numbers[order],
            frequencies[order],
        )


def merge(parts: Sequence[tuple[Segment, NDArray[np.bool_]]]) -> Segment:
    """One segment of the live chunks of several, which come in ascending order of ordinal.

    Args:
        parts: each segment with a mask of shape ``(chunks,)``: which of its chunks are still live.
    """
    live = [_live_counts(segment, mask) for segment, mask in parts]
    tables = [segment.terms.all() for segment, _ in parts]
    kept = [np.flatnonzero(counts).tolist() for counts in live]
    names = sorted({table[index] for table, held in zip(tables, kept, strict=True) for index in held})
    place = {name: index for index, name in enumerate(names)}

    counts = np.zeros((len(parts), len(names)), dtype=np.int64)
    for part, (table, held) in enumerate(zip(tables, kept, strict=True)):
        counts[part, [place[table[index]] for index in held]] = live[part][held]
    ends = np.cumsum(counts.sum(axis=0))
    starts = (ends - counts.sum(axis=0)) + np.cumsum(counts, axis=0) - counts  # of each part in each term

    numbers = np.empty(int(counts.sum()), dtype=np.uint16)
    frequencies = np.empty(len(numbers), dtype=np.uint32)
    offset = 0
    for part, (segment, mask) in enumerate(parts):
        inside = mask[segment.locals]
        # Postings keep their order within a part, so a term's slice moves as a whole.
        target = np.repeat(starts[part] - (np.cumsum(counts[part]) - counts[part]), counts[part])
        target += np.arange(len(target))
        numbers[target] = (np.cumsum(mask) - 1 + offset).astype(np.uint16)[segment.locals[inside]]
        frequencies[target] = segment.frequencies[inside]
        offset += int(mask.sum())
    return Segment(
        np.concatenate([segment.ordinals[mask] for segment, mask in parts]),
        np.concatenate([segment.lengths[mask] for segment, mask in parts]),
        Terms.of(names),
        ends.astype(np.int64),
        numbers,
        frequencies,
    )


def _live_counts(segment: Segment, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many live postings each term has."""
    totals = np.concatenate((np.zeros(1, np.int64), np.cumsum(mask[segment.locals])))
    return np.diff(totals[segment.posting_ends], prepend=0)
