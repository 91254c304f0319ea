"""Rows of cells as text: groups of rows, each under the header again, so that no part of a table is without it."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from seamline.ingest.layout import Layout

GROUP_CHARS = 500
"""A group ends before this many characters: about one chunk, header included."""
GROUP_ROWS = 20
SEPARATOR = " | "


def lay_out_rows(rows: Iterable[Sequence[object]], layout: Layout, *, sheet: str | None, first: int = 1) -> bool:
    """Lay rows out; each group is a place labelled with its sheet and row numbers, counted from ``first``.

    The first row with text is the header when all its cells are words and another row follows. Returns whether
    everything fitted into the layout.
    """
    numbered = ((number, text) for number, cells in enumerate(rows, start=first) if (text := _line(cells)))
    head = next(numbered, None)
    second = next(numbered, None)
    if head is None:
        return True
    header = head[1] if second is not None and _is_header(head[1]) else None
    if header is not None:
        rest = chain([second], numbered) if second is not None else numbered
    else:
        rest = chain([head], [second] if second is not None else [], numbered)
    for group in _groups(rest, len(header or "")):
        if layout.full:
            return False
        # The header's own row belongs to the first group.
        start = min(group[0][0], head[0]) if header is not None and group[0][0] == second[0] else group[0][0]  # type: ignore[index]
        with layout.place("rows", label(sheet, start, group[-1][0])):
            together = layout.group()
            if header is not None:
                layout.add("table_row", header, group=together)
            for _, line in group:
                layout.add("table_row", line, group=together)
    return True


def label(sheet: str | None, start: int, end: int) -> str:
    """How a range of rows is named: ``Budget rows 2-9``."""
    rows = f"row {start}" if start == end else f"rows {start}-{end}"
    return f"{sheet} {rows}" if sheet else rows


def shown(cell: object) -> str:
    """A cell's value as a person would read it: whole numbers without a point, dates in ISO 8601."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e17 else repr(cell)
    if isinstance(cell, datetime.datetime):
        midnight = cell.time() == datetime.time()
        return cell.date().isoformat() if midnight else cell.isoformat(sep=" ", timespec="seconds")
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return " ".join(str(cell).split())


def _line(cells: Sequence[object]) -> str:
    texts = [shown(cell) for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return SEPARATOR.join(texts)


def _is_header(line: str) -> bool:
    """Words in every cell, no numbers, and each only once."""
    cells = line.split(SEPARATOR)
    words = all(cell and not cell[0].isdigit() and any(char.isalpha() for char in cell) for cell in cells)
    return words and len(set(cells)) == len(cells) and len(line) <= GROUP_CHARS // 2


def _groups(rows: Iterable[tuple[int, str]], used: int) -> Iterator[list[tuple[int, str]]]:
    group: list[tuple[int, str]] = []
    size = used
    for row in rows:
        if group and (len(group) >= GROUP_ROWS or size + len(row[1]) > GROUP_CHARS):
            yield group
            group, size = [], used
        group.append(row)
        size += len(row[1])
    if group:
        yield group
