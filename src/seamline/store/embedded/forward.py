"""The keyword index turned round: which terms each row holds. For digests and checks, not for queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from seamline.store.embedded import segment_tables

if TYPE_CHECKING:
    from seamline.store.embedded.index import Index
    from seamline.store.embedded.segment_tables import Query


def terms_by_row(index: Index, query: Query) -> Callable[[int], dict[str, int]]:
    """A function from a row to its terms with their frequencies."""
    segment_of_row = np.full(index.size, -1, dtype=np.int32)
    local_of_row = np.zeros(index.size, dtype=np.int32)
    parts = []
    for number, (directory, rows) in enumerate(index.segments):
        live = np.flatnonzero(rows >= 0)
        segment_of_row[rows[live]] = number
        local_of_row[rows[live]] = live
        segment = segment_tables.whole(query, directory)
        counts = np.diff(segment.posting_ends, prepend=0)
        order = np.argsort(segment.locals, kind="stable")
        terms = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)[order]
        ends = np.cumsum(np.bincount(segment.locals, minlength=len(directory.ordinals)))
        parts.append((directory.terms, terms, segment.frequencies[order], ends))

    def terms_of(row: int) -> dict[str, int]:
        table, terms, frequencies, ends = parts[int(segment_of_row[row])]
        local = int(local_of_row[row])
        place = slice(int(ends[local - 1]) if local else 0, int(ends[local]))
        return {
            table.term(term).decode("utf-8"): frequency
            for term, frequency in zip(terms[place].tolist(), frequencies[place].tolist(), strict=True)
        }

    return terms_of
