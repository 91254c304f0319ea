"""The dense leg's numbers: the vectors of one generation, scanned exactly.

Cosine is ``dot(q / |q|, v / |v|)`` of the stored vector ``v``; of a zero vector it is 0. A float32 matrix product
finds the candidates; what is returned is computed anew for each of them by one fixed float64 routine, so that a
score does not depend on how the scan was split, and completion gives the same number as the pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from seamline.errors import EmbeddingError, StoreCorruptError
from seamline.store.embedded import topk, vector_cache
from seamline.store.embedded.vector_cache import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seamline.ports import Vector
    from seamline.store.embedded.segment_tables import Query
    from seamline.types import Binding, VectorName

MIN_CACHED = 4096
"""Vectors below which no cache file is made: reading them from SQLite takes a few milliseconds."""
_GATHER_SHARE = 8
"""A scope that admits less than one row of eight is scored row by row instead of scanned."""
_EXACT_ROWS = 4096
_LONGEST = 2.0**40
_PAGE = 8192


class Numbering(Protocol):
    """What a table needs of a generation's index: how its rows are numbered, and which commit it is of."""

    size: int
    generation: int
    token: bytes | None
    binding: Binding | None

    def rows_of(self, ordinals: NDArray[np.int64]) -> NDArray[np.int32]:
        """The row of each ordinal, -1 where it is not live."""


class VectorTable:
    """All vectors of one name in one generation: a mapped cache, and what was committed since it was built."""

    def __init__(self, parts: list[Rows], index: Numbering) -> None:
        self._parts = parts
        self._ordinals = np.concatenate([part.ordinals for part in parts])
        self._norms = np.concatenate([part.norms for part in parts])
        self._inverse_norms = (1.0 / self._norms).astype(np.float32)
        self._row_of_slot = index.rows_of(self._ordinals)
        self._slot_of_row = np.full(index.size, -1, dtype=np.int32)
        live = np.flatnonzero(self._row_of_slot >= 0)
        self._slot_of_row[self._row_of_slot[live]] = live
        self.has_dead = len(live) < len(self._ordinals)

    @property
    def parts(self) -> list[Rows]:
        """What the table of the next generation can build on."""
        return self._parts

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Which rows have a vector, shape ``(rows,)``."""
        return self._slot_of_row >= 0

    def pool(
        self,
        query: Vector,
        depth: int | None,
        mask: NDArray[np.bool_] | None,
        threads: ThreadPoolExecutor | None,
        split: int,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The nearest rows and their cosines, ordered by (cosine descending, row ascending).

        Args:
            query: shape ``(d,)``.
            depth: how many; ``None`` for all.
            mask: which rows may be returned, shape ``(rows,)``; ``None`` for all.
            threads: run the scan in ``split`` pieces on this pool, or in one piece without it.
            split: how many pieces.
        """
        unit = _unit(query)
        slots = self._near(unit, depth, mask, threads, split)
        rows = self._row_of_slot[slots]
        scores = self._exact(unit, slots)
        order = topk.ranked(scores, rows, depth)
        return rows[order], scores[order]

    def cosines(self, query: Vector, rows: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Which of the rows have a vector, and the cosine of those that have one (0 elsewhere)."""
        slots = self._slot_of_row[rows]
        held = slots >= 0
        scores = np.zeros(len(rows), dtype=np.float32)
        scores[held] = self._exact(_unit(query), slots[held])
        return held, scores

    def _near(
        self,
        unit: NDArray[np.float64],
        depth: int | None,
        mask: NDArray[np.bool_] | None,
        threads: ThreadPoolExecutor | None,
        split: int,
    ) -> NDArray[Any]:
        if mask is not None:
            slots = self._slot_of_row[np.flatnonzero(mask)]
            slots = slots[slots >= 0]
            if depth is None or len(slots) * _GATHER_SHARE <= len(self._ordinals):
                return slots
        scores = self._scan(unit.astype(np.float32), threads, split)
        if mask is not None:
            outside = np.ones(len(scores), dtype=np.bool_)
            outside[slots] = False
            scores[outside] = -np.inf
        elif self.has_dead:
            scores[self._row_of_slot < 0] = -np.inf
        # Each of two float32 sums of d products of unit vectors is off by at most about d * 2**-24.
        return topk.candidates(scores, depth, margin=4 * len(unit) * 2.0**-24)

    def _scan(self, unit: NDArray[np.float32], threads: ThreadPoolExecutor | None, split: int) -> NDArray[np.float32]:
        scores = np.empty(len(self._ordinals), dtype=np.float32)
        pieces: list[tuple[NDArray[np.float32], NDArray[np.float32]]] = []
        start = 0
        for part in self._parts:
            target = scores[start : start + len(part)]
            start += len(part)
            bounds = np.linspace(0, len(part), (split if threads else 1) + 1).astype(int).tolist()
            pieces += [(part.matrix[a:b], target[a:b]) for a, b in pairwise(bounds) if a < b]
        if threads is None or len(pieces) == 1:
            for matrix, target in pieces:
                np.dot(matrix, unit, out=target)
        else:
            list(threads.map(lambda piece: np.dot(piece[0], unit, out=piece[1]), pieces))
        scores *= self._inverse_norms
        return scores

    def _exact(self, unit: NDArray[np.float64], slots: NDArray[Any]) -> NDArray[np.float32]:
        scores = np.empty(len(slots), dtype=np.float32)
        for start in range(0, len(slots), _EXACT_ROWS):
            page = slice(start, start + _EXACT_ROWS)
            scores[page] = np.einsum("ij,j->i", self._gather(slots[page]), unit) / self._norms[slots[page]]
        return np.clip(scores, -1.0, 1.0, out=scores)

    def _gather(self, slots: NDArray[Any]) -> NDArray[np.float64]:
        gathered = np.empty((len(slots), self._parts[0].matrix.shape[1]), dtype=np.float64)
        start = 0
        for part in self._parts:
            here = (slots >= start) & (slots < start + len(part))
            gathered[here] = part.matrix[slots[here] - start]
            start += len(part)
        return gathered


def load_table(
    query: Query,
    index: Numbering,
    name: VectorName,
    folder: Path,
    before: VectorTable | None,
    token_of: Callable[[int], bytes | None],
) -> VectorTable:
    """The vectors of a generation; reads only what neither ``before`` nor the cache file holds.

    ``before`` is the table of an earlier generation of the same kb: stored vectors never change, they only come
    and go with their chunks. ``token_of`` gives the token of a commit.
    """
    assert index.binding is not None  # noqa: S101 - the caller has no vectors to ask for otherwise
    dimension = index.binding.space.dimension
    if before is not None:
        held = [part for part in before.parts if len(part)]
    else:
        cached = vector_cache.load(folder, name, index.generation, token_of)
        held = [cached] if cached is not None and cached.matrix.shape[1] == dimension else []
    last = max((int(part.ordinals[-1]) for part in held), default=0)
    added = _joined([*held[1:], *_pages(query, name, last, dimension)], dimension)
    table = VectorTable([*held[:1], added], index)
    base, live = len(held[0]) if held else 0, int(table.covered.sum())
    if live < MIN_CACHED or (base and live - base <= max(MIN_CACHED, base // 4) and live * 2 >= base):
        return table
    return VectorTable([_rebuilt(query, index, name, dimension, folder)], index)


def _joined(parts: list[Rows], dimension: int) -> Rows:
    none = _measured([], np.zeros((0, dimension), np.float32))
    return Rows(
        np.concatenate([none.ordinals, *(part.ordinals for part in parts)]),
        np.concatenate([none.norms, *(part.norms for part in parts)]),
        np.concatenate([none.matrix, *(part.matrix for part in parts)]),
    )


def _rebuilt(query: Query, index: Numbering, name: VectorName, dimension: int, folder: Path) -> Rows:
    if index.token is not None:
        ((count,),) = query("SELECT count(*) FROM vectors WHERE name = ?", (name,))
        stamp = (index.generation, index.token)
        saved = vector_cache.save(folder, name, stamp, (count, dimension), _pages(query, name, 0, dimension))
        if saved is not None:
            return saved
    return _joined(list(_pages(query, name, 0, dimension)), dimension)


def _pages(query: Query, name: VectorName, after: int, dimension: int) -> Iterator[Rows]:
    """The stored vectors beyond an ordinal, in ascending order."""
    sql = "SELECT ordinal, data FROM vectors WHERE name = ? AND ordinal > ? ORDER BY ordinal LIMIT ?"
    while rows := query(sql, (name, after, _PAGE)):
        after = rows[-1][0]
        yield _measured([row[0] for row in rows], decoded([row[1] for row in rows], dimension))


def check_vector(vector: Vector, dimension: int, what: str) -> None:
    """Raise ``EmbeddingError`` for a vector of a wrong shape, or with a value that is not finite."""
    if vector.shape != (dimension,):
        raise EmbeddingError(
            f"the vector {what} has shape {vector.shape}, the kb's space has dimension {dimension}",
            hint="use the embedder that the kb is bound to; `seamline status` shows it",
        )
    if not np.isfinite(vector).all():
        raise EmbeddingError(f"the vector {what} has a value that is not finite", hint="the embedder is at fault")


def encoded(vector: Vector, dtype: str, what: str) -> bytes:
    """A vector as stored, little-endian float16 or float32; raises ``EmbeddingError`` where it does not fit."""
    with np.errstate(over="ignore"):
        stored = np.ascontiguousarray(vector, dtype="<f2" if dtype == "float16" else "<f4")
    if not np.isfinite(stored).all():
        raise EmbeddingError(
            f"the vector {what} has values beyond the range of {dtype}", hint="set vector_dtype to float32"
        )
    return stored.tobytes()


def decoded(blobs: list[bytes], dimension: int) -> NDArray[np.float32]:
    """Stored vectors, shape ``(n, d)``; their length tells their precision. Raises ``StoreCorruptError``."""
    matrix = np.empty((len(blobs), dimension), dtype=np.float32)
    sizes = np.fromiter(map(len, blobs), np.int64, len(blobs))
    for size, dtype in ((2 * dimension, "<f2"), (4 * dimension, "<f4")):
        here = np.flatnonzero(sizes == size)
        if len(here) == len(blobs):
            matrix[:] = np.frombuffer(b"".join(blobs), dtype=dtype).reshape(-1, dimension)
        elif len(here):
            joined = b"".join([blobs[place] for place in here.tolist()])
            matrix[here] = np.frombuffer(joined, dtype=dtype).reshape(-1, dimension)
    if not np.isin(sizes, (2 * dimension, 4 * dimension)).all():
        raise StoreCorruptError(
            f"a stored vector has {int(sizes.min())} to {int(sizes.max())} bytes; {dimension} numbers are expected",
            hint="restore a backup, or index the sources again; `seamline doctor` says more",
        )
    return matrix


def _measured(ordinals: list[int], matrix: NDArray[np.float32]) -> Rows:
    norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    # Sums of float32 products of very long or short vectors would overflow or vanish. A power of two changes
    # neither the angle nor, but for the very smallest components, a digit.
    for row in np.flatnonzero((norms > _LONGEST) | ((norms > 0) & (norms < 1 / _LONGEST))).tolist():
        scale = int(np.frexp(norms[row])[1])
        matrix[row] = np.ldexp(matrix[row].astype(np.float64), -scale)
        norms[row] = np.ldexp(norms[row], -scale)
    norms[norms == 0.0] = 1.0
    return Rows(np.array(ordinals, dtype=np.int64), norms, matrix)


def _unit(vector: Vector) -> NDArray[np.float64]:
    wide = np.asarray(vector, dtype=np.float64)
    norm = float(np.sqrt(wide @ wide))
    return wide / norm if norm else wide
