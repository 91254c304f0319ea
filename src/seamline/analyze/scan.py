r"""Where words begin and end in Unicode text, and which of them are written without spaces.

``\w`` of :mod:`re` leaves out combining marks, which would cut Devanagari, Thai or Arabic words at every
vowel sign; here a mark belongs to the word that it follows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_LAST_MARK = 0x1E94A
"""No combining mark of a living script lies above it (variation selectors are ignored anyway)."""

UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U00020000-\U0003ffff"  # Han, rare
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3100-\u312f\u31a0-\u31bf"  # bopomofo
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
)
"""Scripts whose words are taken as pairs of characters (Hangul has spaces, but its words carry particles)."""

CLUSTERED = "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese, Khmer: no spaces, and vowel signs that belong to their consonant."""

JOINERS = "-\u2010./@&'\u2019"
"""Between two words without a space, these make a compound: ``AX-200/7``, ``a.b@c.org``, ``l'eau``."""

IGNORABLE = ("\u00ad", "\u200c", "\u200d", "\u2060", "\ufeff", "\u0640")
"""Soft hyphen, joiners, tatweel: they change how a word looks, not what it is."""


def _marks() -> str:
    codes = [code for code in range(0x300, _LAST_MARK + 1) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)


WORD = rf"[\w{_marks()}]"
TOKEN = re.compile(rf"{WORD}+(?:[{JOINERS}]{WORD}+)*")
"""A word with all that is joined to it; punctuation at its ends is never part of it."""

_SEGMENT = re.compile(rf"([{UNSPACED}]+)|([{CLUSTERED}]+)|[^{UNSPACED}{CLUSTERED}]+")
_CLUSTER = re.compile(
    r"[\u0e40-\u0e44\u0ec0-\u0ec4]?[^\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece]"
    r"[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    r"\u102b-\u103e\u1056-\u1059\u17b4-\u17d3]*|."
)


def clean(text: str) -> str:
    """NFKC, without characters that do not show."""
    text = unicodedata.normalize("NFKC", text)
    if not text.isascii():
        for character in IGNORABLE:
            text = text.replace(character, "")
        text = text.replace("\u200b", " ")  # zero width space: a word boundary
    return text


def segments(token: str) -> Iterator[tuple[str, str]]:
    """A token's runs by way of writing: ``("unspaced" | "clustered" | "word", run)``."""
    for match in _SEGMENT.finditer(token):
        yield ("unspaced" if match[1] else "clustered" if match[2] else "word"), match[0]


def clusters(run: str) -> list[str]:
    """A run's written syllables: a consonant with the signs before, above, below and after it."""
    return _CLUSTER.findall(run)
