"""Packing a section's units into chunks of about the target size, and joining what is too small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seamline.chunk.cutting import Span, cut, trim
from seamline.chunk.graphemes import boundary_at_or_after
from seamline.chunk.sections import Section, Unit, glued
from seamline.chunk.sizes import ChunkSizes
from seamline.ports import SentenceSplitter
from seamline.types import Document


@dataclass(frozen=True, slots=True)
class Draft:
    """A chunk to be: its range, its heading path, and the first and last section it takes part of.

    ``opening`` is the path of the first section where ``path`` is that of another one.
    """

    start: int
    end: int
    path: tuple[str, ...]
    first: int
    last: int
    opening: tuple[str, ...] | None = None

    @property
    def length(self) -> int:
        """In characters."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class _Piece:
    """A unit, or a part of one; ``after`` is where the unit began when this is not its first part."""

    start: int
    end: int
    after: int | None = None


def packed(
    document: Document, section: Section, sizes: ChunkSizes, splitter: SentenceSplitter | None
) -> Iterator[Draft]:
    """The section's chunks: pieces are added as long as the target is not passed."""
    start = end = -1
    for piece in _pieces(document, section, sizes, splitter):
        if start >= 0 and piece.end - start <= sizes.target:
            end = piece.end
            continue
        if start >= 0:
            yield Draft(start, end, section.path, section.number, section.number)
        start, end = _beginning(document.text, piece, sizes.overlap), piece.end
    if start >= 0:
        yield Draft(start, end, section.path, section.number, section.number)


def _pieces(
    document: Document, section: Section, sizes: ChunkSizes, splitter: SentenceSplitter | None
) -> Iterator[_Piece]:
    for unit in glued(section.units):
        if unit.length <= (sizes.whole if unit.whole else sizes.target):
            yield _Piece(unit.start, unit.end)
            continue
        for number, (start, end) in enumerate(_parts(document, unit, sizes, splitter)):
            yield _Piece(start, end, unit.start if number else None)


def _parts(document: Document, unit: Unit, sizes: ChunkSizes, splitter: SentenceSplitter | None) -> Iterator[Span]:
    most = sizes.target - sizes.overlap
    # Code and rows are no prose: their line ends are better places than what looks like a sentence in them.
    splitter = None if unit.whole else splitter
    for start, end in unit.rows or ((unit.start, unit.end),):
        if end - start <= most:
            yield start, end
        else:
            yield from cut(
                document.text,
                start,
                end,
                most=most,
                least=min(sizes.least, most // 3),
                splitter=splitter,
                language=document.language,
            )


def _beginning(text: str, piece: _Piece, overlap: int) -> int:
    """Where the chunk that begins with a piece starts: earlier only inside a unit that was cut."""
    return piece.start if piece.after is None else overlapped(text, piece.start, piece.after, overlap)


def overlapped(text: str, start: int, lowest: int, overlap: int) -> int:
    """Up to ``overlap`` characters before ``start``, not before ``lowest``, at the beginning of a word if possible."""
    if overlap == 0:
        return start
    earliest = max(lowest, start - overlap)
    if earliest > lowest:
        # Begin with a whole word where there is one.
        earliest = next((i + 1 for i in range(earliest, start - 1) if text[i].isspace()), earliest)
    span = trim(text, boundary_at_or_after(text, earliest, start), start)
    return span[0] if span is not None else start


def joined(document: Document, drafts: list[Draft], sizes: ChunkSizes) -> list[Draft]:
    """Chunks under the minimum joined to a neighbour, the following one first.

    Within a section the target gives way; between sections both must fit it.
    """
    result: list[Draft] = []
    for index, draft in enumerate(drafts):
        after = drafts[index + 1] if index + 1 < len(drafts) else None
        if not result:
            result.append(draft)
        elif result[-1].length < sizes.least and _fit(result[-1], draft, sizes):
            result[-1] = union(result[-1], draft)
        elif draft.length < sizes.least and not (after and _fit(draft, after, sizes)):
            covered = result[-2].end if len(result) > 1 else 0
            result[-1:] = _backwards(document, result[-1], draft, sizes, covered)
        else:
            result.append(draft)
    return result


def _fit(before: Draft, after: Draft, sizes: ChunkSizes) -> bool:
    room = min(sizes.most, sizes.whole + sizes.least) if before.last == after.first else sizes.target
    return after.end - before.start <= room


def _backwards(document: Document, before: Draft, small: Draft, sizes: ChunkSizes, covered: int) -> list[Draft]:
    """Join a small draft to the one before it, or share their text out between them.

    What chunks before these already hold (up to ``covered``) is not shared out again: it was overlap.
    """
    if _fit(before, small, sizes):
        return [union(before, small)]
    if before.last != small.first:
        return [before, small]
    whole = union(before, small)
    spans = cut(
        document.text,
        max(whole.start, covered),
        whole.end,
        most=sizes.target,
        least=min(sizes.least, sizes.target // 3),
        splitter=None,
        language=None,
    )
    if min(end - start for start, end in spans) <= small.length:
        return [before, small]
    return [Draft(start, end, small.path, whole.first, whole.last) for start, end in spans]


def union(before: Draft, after: Draft) -> Draft:
    """Two neighbouring drafts as one."""
    opening = before.path if before.opening is None else before.opening
    return Draft(before.start, after.end, _joint_path(before, after), before.first, after.last, opening)


def _joint_path(before: Draft, after: Draft) -> tuple[str, ...]:
    """The path of the longer part where one section lies in the other, else what both share, else the first."""
    shared = 0
    while before.path[shared : shared + 1] == after.path[shared : shared + 1] != ():
        shared += 1
    if shared in (len(before.path), len(after.path)):
        return max(before, after, key=lambda draft: draft.length).path
    return before.path[:shared] or before.path
