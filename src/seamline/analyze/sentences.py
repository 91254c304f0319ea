"""Sentences as spans: the ``sentencex`` library inside each run of prose, and line structure around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sentencex import get_sentence_boundaries  # type: ignore[import-untyped]

_DEFAULT_LANGUAGE = "en"

# A line that is a whole by itself: a heading, a table's row (with outer bars or without), a rule, a fence.
_STANDING = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\||[-=*_]{3,}\s*$|```|~~~)|.*\|\s*$|.* \| ")
# A line that begins a list item, which plain lines may continue.
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦–][ \t]+|\(?(?:\d{1,3}|[a-zA-Z])[.)][ \t]+)(?=\S)")
_LINE = re.compile(r"[^\r\n\x0b\x0c\x85\u2028\u2029]*(?:\r\n|[\r\n\x0b\x0c\x85\u2028\u2029]|$)")

# Abbreviations that the library's lists lack: what follows them belongs to the same sentence.
_ABBREVIATIONS: Mapping[str, frozenset[str]] = {
    "en": frozenset({"approx."}),
    "fr": frozenset(
        {"M.", "Mme.", "Mlle.", "janv.", "févr.", "avr.", "juil.", "sept.", "oct.", "nov.", "déc.", "env."}
    ),
}


_LONG_RUN = 20_000
"""Characters from which the library is shown parentheses in place of quotation marks: for every opening mark it
looks for the closing one to the end of the run, so that unclosed ones take quadratic time (140,000 characters
of them 7 s); for parentheses it does not."""
_QUOTES = str.maketrans("“„‟‘‚‛«‹「『”»›」』", "(((((((((()))))")


_LONE = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which the library cannot be handed."""


class SentencexSplitter:
    """Implements ``ports.SentenceSplitter``; without state, safe to call from several threads.

    Blank lines, headings, table rows and list items always end a sentence; other line breaks are soft.
    Chinese, Japanese, Hindi and other full stops are known whatever the language; Thai, which has none, is
    split at its line structure only.
    """

    def sentences(self, text: str, language: str | None) -> list[tuple[int, int]]:
        """Half-open ``(start, end)`` in code points, ordered, without surrounding whitespace.

        Every character that is not whitespace lies in exactly one span; a blank text has none.
        """
        tag = (language or _DEFAULT_LANGUAGE).replace("_", "-").split("-")[0].lower()
        return [
            span
            for start, end in _runs(text)
            for piece in _prose(text[start:end], tag)
            if (span := _stripped(text, start + piece[0], start + piece[1])) is not None
        ]


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Ranges that no sentence crosses, in order; together they hold all but blank lines."""
    begun: int | None = None
    for match in _LINE.finditer(text):
        line, start, end = match[0].strip(), match.start(), match.end()
        standing = bool(_STANDING.match(match[0]))
        if begun is not None and (not line or standing or _ITEM.match(match[0])):
            yield begun, start
            begun = None
        if standing and line:
            yield start, end
        elif line and begun is None:
            begun = start
    if begun is not None:
        yield begun, len(text)


def _prose(run: str, tag: str) -> Iterator[tuple[int, int]]:
    """The library's sentences, those after an abbreviation of ours joined to it.

    A list item's marker is kept from the library, which takes ``1.`` for a sentence.
    """
    abbreviations = _ABBREVIATIONS.get(tag, frozenset())
    marker = _ITEM.match(run)
    skipped = marker.end() if marker else 0
    prose = _LONE.sub("\ufffd", run[skipped:])
    if len(prose) > _LONG_RUN:
        prose = prose.translate(_QUOTES)
    begun: int | None = 0
    end = 0
    for boundary in get_sentence_boundaries(tag, prose):
        start, end = skipped + boundary["start_index"], skipped + boundary["end_index"]
        begun = start if begun is None else begun
        words = run[start:end].split()
        if not words or words[-1] not in abbreviations:
            yield begun, end
            begun = None
    if begun is not None:
        yield begun, end


def _stripped(text: str, start: int, end: int) -> tuple[int, int] | None:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end -= len(piece) - len(piece.rstrip())
    return (start, end) if start < end else None
