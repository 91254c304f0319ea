"""Words of a text with their places, in the form that two texts are compared in.

Scripts without spaces (Chinese, Japanese, Thai...) yield overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from seamline.folding import fold

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
# Vowel signs and diacritics belong to the word that they stand in, and are no word characters to ``re``.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u200c\u200d"
_RUN = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[\w{_MARKS}])+")
_UNSPACED_START = re.compile(rf"[{_UNSPACED}]")
_STEM = 6
_SHORT = 3


@dataclass(frozen=True, slots=True)
class Word:
    """A folded word (or pair of characters) at ``start:end``; ``raw`` is as written."""

    text: str
    raw: str
    start: int
    end: int

    @property
    def caseless(self) -> bool:
        """Whether the script has no capitals, so that a name cannot be told from another word."""
        return self.raw.lower() == self.raw.upper() and not self.raw.isdigit()

    @property
    def telling(self) -> bool:
        """Whether it says what a text is about; short words of cased scripts mostly do not."""
        return self.caseless or len(self.text) > _SHORT or any(char.isdigit() for char in self.text)

    @property
    def stem(self) -> str:
        """The first letters of a long word: a rough stem, the same for every cased language."""
        return self.text if self.caseless else self.text[:_STEM]


def ascii_digits(text: str) -> str:
    """The text with the decimal digits of every script written as 0 to 9."""
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def words(text: str) -> list[Word]:
    """Every word in order."""
    found: list[Word] = []
    for run in _RUN.finditer(text):
        start, end = run.span()
        if _UNSPACED_START.match(text, start) and end - start > 1:
            places = [(first, second + 1) for first, second in pairwise(range(start, end))]
        else:
            places = [(start, end)]
        found.extend(Word(ascii_digits(fold(text[a:b])), text[a:b], a, b) for a, b in places)
    return found


def find_run(needle: list[Word], haystack: list[Word]) -> tuple[int, int] | None:
    """The ``(first, last)`` place in ``haystack`` where the words of ``needle`` stand in a row."""
    if not needle:
        return None
    wanted = [word.text for word in needle]
    texts = [word.text for word in haystack]
    for place in range(len(texts) - len(wanted) + 1):
        if texts[place] == wanted[0] and texts[place : place + len(wanted)] == wanted:
            return place, place + len(wanted) - 1
    return None
