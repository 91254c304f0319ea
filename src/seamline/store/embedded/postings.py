"""The keyword leg's numbers: decoded postings in a bounded cache, and their sums."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seamline.store import bm25
from seamline.store.embedded import segment_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seamline.store.embedded.index import Index
    from seamline.store.embedded.segment_tables import Query

_DENSE_SHARE = 4
"""A term that occurs in more than one chunk of four is kept as one number a chunk: quicker to add, not larger."""


@dataclass(frozen=True, slots=True)
class Impacts:
    """What one term adds to the score of the rows that hold it; ``rows`` is ``None`` when there is one a row."""

    rows: NDArray[np.int32] | None
    values: NDArray[np.float32]

    @property
    def size(self) -> int:
        """Bytes in memory, the entry's own overhead included."""
        return 256 + self.values.nbytes + (0 if self.rows is None else self.rows.nbytes)

    def add_to(self, scores: NDArray[np.float32], count: int = 1) -> None:
        """Add ``count`` times to the scores; a row occurs once in ``rows``, so that plain indexing adds each."""
        values = self.values if count == 1 else self.values * np.float32(count)
        if self.rows is None:
            scores += values
        else:
            scores[self.rows] += values

    def holders(self) -> NDArray[Any]:
        """The rows that hold the term."""
        return np.flatnonzero(self.values) if self.rows is None else self.rows


class PostingsCache:
    """Impacts by commit and term, the least recently used dropped beyond ``limit`` bytes. Thread-safe."""

    def __init__(self, limit: int, *, k1: float, b: float) -> None:
        self._limit = limit
        self._k1 = k1
        self._b = b
        self._entries: OrderedDict[tuple[bytes | None, str], Impacts] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        self._scratch = threading.local()

    @property
    def size(self) -> int:
        """Bytes held now."""
        return self._size

    def impacts(self, index: Index, query: Query, term: str) -> Impacts:
        """A term's impacts in one generation; empty arrays for a term that no live chunk holds."""
        key = (index.token, term)
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
                return found
        made = _decode(index, query, term, self._k1, self._b)
        with self._lock:
            if key not in self._entries:
                self._entries[key] = made
                self._size += made.size
            while self._size > self._limit and self._entries:
                self._size -= self._entries.popitem(last=False)[1].size
        return made

    def forget_other_than(self, index: Index) -> None:
        """Drop what other generations left."""
        with self._lock:
            for key in [key for key in self._entries if key[0] != index.token]:
                self._size -= self._entries.pop(key).size

    def scores(self, index: Index, query: Query, terms: Sequence[tuple[str, int]]) -> NDArray[np.float32]:
        """BM25 of every row for terms with their counts, shape ``(n,)``: valid until this thread's next call."""
        scores = self._zeros(index.size)
        for term, count in terms:
            self.impacts(index, query, term).add_to(scores, count)
        return scores

    def holders(self, index: Index, query: Query, term: str) -> NDArray[np.float32]:
        """Above 0 for each row that holds the term, shape ``(n,)``: valid until this thread's next call."""
        marks = self._zeros(index.size)
        self.impacts(index, query, term).add_to(marks)
        return marks

    def _zeros(self, size: int) -> NDArray[np.float32]:
        held: NDArray[np.float32] | None = getattr(self._scratch, "scores", None)
        if held is None or len(held) < size:
            held = np.empty(size, dtype=np.float32)
            self._scratch.scores = held
        scores = held[:size]
        scores.fill(0.0)
        return scores


def _decode(index: Index, query: Query, term: str, k1: float, b: float) -> Impacts:
    name = term.encode("utf-8", "surrogatepass")
    rows: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
    frequencies: list[NDArray[Any]] = [np.zeros(0, np.uint8)]
    for directory, row_of_local in index.segments:
        position = directory.terms.find(name)
        if position is None:
            continue
        numbers, counts = segment_tables.postings(query, directory, position)
        found = row_of_local[numbers]
        if index.has_dead:
            live = found >= 0
            found, counts = found[live], counts[live]
        rows.append(found)
        frequencies.append(counts)
    held = np.concatenate(rows)
    if not len(held):
        return Impacts(held, np.zeros(0, np.float32))
    values = bm25.impacts(
        np.concatenate(frequencies),
        index.lengths[held],
        idf=float(bm25.idf(index.size, len(held))),
        average_length=index.average_length,
        k1=k1,
        b=b,
    )
    if len(held) * _DENSE_SHARE <= index.size:
        return Impacts(held, values)
    dense = np.zeros(index.size, dtype=np.float32)
    dense[held] = values
    return Impacts(None, dense)
