"""Cutting a long range of text where a reader would pause. Linear: each cut looks at one window only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seamline.chunk.graphemes import boundary_at_or_before, is_boundary
from seamline.ports import SentenceSplitter

Span = tuple[int, int]

# From the best place to cut to the worst; a cut comes after what is matched.
_PAUSES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n[^\S\n]*\n",
        r"\n",
        "[.!?\u2026\u203d\u061f\u06d4\u0964\u0965\u1362\u104b][\"'\u2019\u201d)\\]]{0,3}\\s",
        "[\u3002\uff01\uff1f\uff61][\u300d\u300f\uff09\u201d]{0,3}",
        "[;:,\u060c\u061b]\\s|[\uff0c\u3001\uff1b\uff1a]",
        r"\s",
    )
)


def cut(
    text: str, start: int, end: int, *, most: int, least: int, splitter: SentenceSplitter | None, language: str | None
) -> list[Span]:
    """Cut ``text[start:end]`` into ordered spans of at most ``most`` characters that cover what is visible.

    Sentences (of ``splitter``, where there is one) are packed; what is longer than ``most`` is cut at a blank
    line, else a line's end, else the end of a sentence, of a clause, of a word, else between two characters. A
    grapheme cluster is divided only where it alone is longer than ``most``.
    """
    spans: list[Span] = []
    ranges = sentence_spans(text, start, end, most=most, least=least, splitter=splitter, language=language)
    for left, right in ranges:
        if splitter is not None and spans and right - spans[-1][0] <= most:
            spans[-1] = (spans[-1][0], right)
        else:
            spans.append((left, right))
    return spans


def sentence_spans(
    text: str, start: int, end: int, *, most: int, least: int, splitter: SentenceSplitter | None, language: str | None
) -> Iterator[Span]:
    """The sentences of ``text[start:end]``, those over ``most`` characters cut; the whole range without a splitter."""
    ranges = [(start, end)] if splitter is None else _sentences(text, start, end, splitter, language)
    for left, right in ranges:
        yield from _windows(text, left, right, most, least)


def _sentences(text: str, start: int, end: int, splitter: SentenceSplitter, language: str | None) -> Iterator[Span]:
    """Sentences that together cover the range, whatever the splitter left out."""
    begin = start
    for _, right in splitter.sentences(text[start:end], language):
        stop = start + right
        if stop > begin and is_boundary(text, stop):
            yield from _visible(text, begin, stop)
            begin = stop
    yield from _visible(text, begin, end)


def _windows(text: str, start: int, end: int, most: int, least: int) -> Iterator[Span]:
    position = start
    while position < end:
        stop = next_stop(text, position, end, most, least)
        yield from _visible(text, position, stop)
        position = stop


def next_stop(text: str, position: int, end: int, most: int, least: int) -> int:
    """Where the window that begins at ``position`` ends: at a pause, after at most ``most`` characters.

    The last two windows share what is left, so that neither is a scrap of under ``least``.
    """
    left = end - position
    if left <= most:
        return end
    room = most if left >= most + least else (left + 1) // 2
    return _pause(text, position, position + room) or _pause(text, position, position + most) or position + most


def _pause(text: str, start: int, limit: int) -> int | None:
    """The best place to cut in the second half of ``text[start:limit]``; ``None`` when one cluster fills it."""
    middle = (start + limit) // 2
    for pattern in _PAUSES:
        last = None
        for last in pattern.finditer(text, middle, limit):  # noqa: B007 (the last match is wanted)
            pass
        if last is not None and is_boundary(text, last.end()):
            return last.end()
    return boundary_at_or_before(text, limit, start)


def _visible(text: str, start: int, end: int) -> Iterator[Span]:
    span = trim(text, start, end)
    if span is not None:
        yield span


def trim(text: str, start: int, end: int) -> Span | None:
    """The range without the whitespace around it, except for whitespace that a cluster needs (a mark on a space)."""
    piece = text[start:end]
    stripped = piece.lstrip()
    if not stripped:
        return None
    left = end - len(stripped)
    right = left + len(stripped.rstrip())
    while left > start and not is_boundary(text, left):
        left -= 1
    while right < end and not is_boundary(text, right):
        right += 1
    return left, right
