"""Segments in SQLite: written once, read by the block, merged by tier within the writer's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seamline.errors import StoreCorruptError
from seamline.store.embedded.schema import LIVE
from seamline.store.embedded.segments import MAX_CHUNKS, Segment, Terms, merge

if TYPE_CHECKING:
    from numpy.typing import NDArray

Query = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
"""Runs one statement and returns its rows."""

BLOCK = 8192
"""Postings of a block: small enough that a rare term reads little, large enough that a common one is quick."""
FAN = 8
"""How many neighbours of one tier make a merge; a posting is rewritten about log8(65,536 / batch) times."""
_WIDTHS: dict[int, str] = {1: "<u1", 2: "<u2", 4: "<u4"}


@dataclass(frozen=True, slots=True)
class Directory:
    """What a reader holds of a segment; the postings stay in the file."""

    id: int
    ordinals: NDArray[np.int64]
    lengths: NDArray[np.int32]
    terms: Terms
    posting_ends: NDArray[np.int64]


def insert(connection: sqlite3.Connection, segment: Segment) -> int:
    """Write a segment whose chunks are all live; its id."""
    count = len(segment.ordinals)
    cursor = connection.execute(
        "INSERT INTO segments (index_generation, first, last, chunks, live, ordinals, lengths, terms, term_ends,"
        " posting_ends) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            LIVE,
            int(segment.ordinals[0]),
            int(segment.ordinals[-1]),
            count,
            count,
            segment.ordinals.astype("<i8").tobytes(),
            segment.lengths.astype("<i4").tobytes(),
            segment.terms.data,
            segment.terms.ends.astype("<u4").tobytes(),
            segment.posting_ends.astype("<i8").tobytes(),
        ),
    )
    number = cursor.lastrowid
    assert number is not None  # noqa: S101 - an INSERT that did not raise has a row id
    connection.executemany("INSERT INTO posting_blocks VALUES (?, ?, ?, ?)", _blocks(number, segment))
    return number


def _blocks(number: int, segment: Segment) -> list[tuple[int, int, int, bytes]]:
    rows = []
    for block, start in enumerate(range(0, len(segment.locals), BLOCK)):
        frequencies = segment.frequencies[start : start + BLOCK]
        top = int(frequencies.max())
        width = 1 if top < 1 << 8 else 2 if top < 1 << 16 else 4
        numbers = segment.locals[start : start + BLOCK].astype("<u2").tobytes()
        rows.append((number, block, width, numbers + frequencies.astype(_WIDTHS[width]).tobytes()))
    return rows


def directories(query: Query, known: dict[int, Directory]) -> list[Directory]:
    """The live segments, oldest first; those in ``known`` are not read again, for segments never change."""
    ids = [number for (number,) in query("SELECT id FROM segments WHERE index_generation = ? ORDER BY first", (LIVE,))]
    return [known.get(number) or _directory(query, number) for number in ids]


def _directory(query: Query, number: int) -> Directory:
    ((ordinals, lengths, terms, term_ends, posting_ends),) = query(
        "SELECT ordinals, lengths, terms, term_ends, posting_ends FROM segments WHERE id = ?", (number,)
    )
    return Directory(
        number,
        np.frombuffer(ordinals, dtype="<i8"),
        np.frombuffer(lengths, dtype="<i4"),
        Terms(terms, np.frombuffer(term_ends, dtype="<u4")),
        np.frombuffer(posting_ends, dtype="<i8"),
    )


def postings(query: Query, directory: Directory, term: int) -> tuple[NDArray[np.uint16], NDArray[Any]]:
    """Local numbers and frequencies of a term's postings, dead ones included."""
    start = int(directory.posting_ends[term - 1]) if term else 0
    return _slice(query, directory, start, int(directory.posting_ends[term]))


def whole(query: Query, directory: Directory) -> Segment:
    """A segment with all its postings."""
    end = int(directory.posting_ends[-1]) if len(directory.posting_ends) else 0
    numbers, frequencies = _slice(query, directory, 0, end)
    return Segment(
        directory.ordinals,
        directory.lengths,
        directory.terms,
        directory.posting_ends,
        numbers,
        frequencies.astype(np.uint32),
    )


def _slice(query: Query, directory: Directory, start: int, end: int) -> tuple[NDArray[np.uint16], NDArray[Any]]:
    first, last = start // BLOCK, (end - 1) // BLOCK
    rows = query(
        "SELECT width, data FROM posting_blocks WHERE segment = ? AND block BETWEEN ? AND ? ORDER BY block",
        (directory.id, first, last),
    )
    numbers, frequencies = [np.zeros(0, np.uint16)], [np.zeros(0, np.uint8)]
    for width, data in rows:
        count = len(data) // (2 + width)
        numbers.append(np.frombuffer(data, dtype="<u2", count=count))
        frequencies.append(np.frombuffer(data, dtype=_WIDTHS[width], offset=2 * count, count=count))
    inside = slice(start - first * BLOCK, end - first * BLOCK)
    found = np.concatenate(numbers)[inside]
    if len(found) != end - start:
        raise StoreCorruptError(
            f"segment {directory.id} lacks postings: {len(found)} of {end - start} found",
            hint="restore a backup, or index the sources again; `seamline doctor` says more",
        )
    return found, np.concatenate(frequencies)[inside]


def settle(connection: sqlite3.Connection, deleted: NDArray[np.int64]) -> None:
    """Bring the segments in order after a transaction's changes, before it commits.

    Args:
        connection: in the writer's transaction, all segments of it inserted.
        deleted: the ordinals that it removed, sorted.
    """
    rows = connection.execute(
        "SELECT id, first, last FROM segments WHERE index_generation = ? ORDER BY first", (LIVE,)
    ).fetchall()
    bounds = np.array([(first, last) for _, first, last in rows], dtype=np.int64).reshape(-1, 2)
    lost = np.searchsorted(deleted, bounds[:, 1], side="right") - np.searchsorted(deleted, bounds[:, 0])
    connection.executemany(
        "UPDATE segments SET live = live - ? WHERE id = ?",
        [(int(count), row[0]) for count, row in zip(lost, rows, strict=True) if count],
    )
    dead = [number for (number,) in connection.execute("SELECT id FROM segments WHERE live = 0")]
    _delete(connection, dead)
    for tier in range(_tier(MAX_CHUNKS) + 1):
        for group in _groups(connection, tier):
            _merge(connection, group)


def _tier(live: int) -> int:
    return max(live - 1, 0).bit_length() // 3


def _groups(connection: sqlite3.Connection, tier: int) -> list[list[int]]:
    """Which segments to merge: runs of neighbours up to a tier, and single ones that are mostly dead."""
    runs: list[list[tuple[int, int]]] = [[]]
    groups = []
    for number, chunks, live in connection.execute(
        "SELECT id, chunks, live FROM segments WHERE index_generation = ? ORDER BY first", (LIVE,)
    ):
        if _tier(live) <= tier:
            runs[-1].append((number, live))
        else:
            runs.append([])
            if live * 2 < chunks:
                groups.append([number])
    for run in runs:
        if len(run) >= FAN:
            groups.extend(_packed(run))
    return groups


def _packed(run: list[tuple[int, int]]) -> list[list[int]]:
    """A run cut into groups that fit a segment each, without those that would rewrite much to gain little."""
    groups: list[list[tuple[int, int]]] = []
    room = -1
    for number, live in run:
        if live > room:
            groups.append([])
            room = MAX_CHUNKS
        groups[-1].append((number, live))
        room -= live
    sizes = [[live for _, live in group] for group in groups]
    return [
        [number for number, _ in group]
        for group, lives in zip(groups, sizes, strict=True)
        if max(lives) * 2 <= sum(lives)
    ]


def _merge(connection: sqlite3.Connection, group: Sequence[int]) -> None:
    def query(sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        return connection.execute(sql, parameters).fetchall()

    parts = []
    for number in group:
        segment = whole(query, _directory(query, number))
        live = np.array(
            query(
                "SELECT ordinal FROM chunks WHERE index_generation = ? AND ordinal BETWEEN ? AND ?",
                (LIVE, int(segment.ordinals[0]), int(segment.ordinals[-1])),
            ),
            dtype=np.int64,
        ).reshape(-1)
        parts.append((segment, np.isin(segment.ordinals, live, assume_unique=True)))
    _delete(connection, group)
    insert(connection, merge(parts))


def _delete(connection: sqlite3.Connection, ids: Sequence[int]) -> None:
    connection.executemany("DELETE FROM posting_blocks WHERE segment = ?", [(number,) for number in ids])
    connection.executemany("DELETE FROM segments WHERE id = ?", [(number,) for number in ids])
