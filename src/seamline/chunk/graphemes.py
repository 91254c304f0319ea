"""Where a text may be cut without dividing what a reader sees as one character.

A superset of the rules of Unicode's extended grapheme clusters (UAX #29, GB3 to GB13), from the standard
library's character data: where the two differ, this one joins more, never less.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_LONGEST_FLAG_RUN = 4096
"""Regional indicators looked back at to pair them; a longer run of flags may be paired wrongly."""

_LONGEST_MARK_RUN = 64
"""Marks on one consonant among which a virama is looked for."""

_REGIONAL = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_EXTENDING = frozenset("\u200c\u200d\uff9e\uff9f\u0e33\u0eb3") | frozenset(
    map(chr, (*range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080)))
)
_PREPENDED = frozenset("\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd\U000111c2\U000111c3") | frozenset(
    map(chr, (*range(0x600, 0x606), 0x113D1, 0x1193F, 0x11941, 0x11A3A, *range(0x11A84, 0x11A8A), 0x11D46, 0x11F02))
)
_JAMO = (
    ("L", "\u1100", "\u115f"), ("L", "\ua960", "\ua97c"), ("V", "\u1160", "\u11a7"),
    ("V", "\ud7b0", "\ud7c6"), ("T", "\u11a8", "\u11ff"), ("T", "\ud7cb", "\ud7fb"),
)  # fmt: skip
_HANGUL = frozenset(
    [("L", "L"), ("L", "V"), ("L", "LV"), ("L", "LVT"), ("LV", "V"), ("LV", "T"), ("V", "V"), ("V", "T"),
     ("LVT", "T"), ("T", "T")]
)  # fmt: skip


def is_boundary(text: str, index: int) -> bool:
    """Whether ``text`` may be cut before ``index``; the ends always may."""
    if index <= 0 or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if before < "\u0300" and after < "\u0300":
        return not (before == "\r" and after == "\n")
    left, right = _kind(before), _kind(after)
    if left == "control" or right == "control":
        return True
    if right == "extend" or left == "prepend" or (before == "\u200d" and not after.isspace()):
        return False
    if left == right == "regional":
        run = text[max(0, index - _LONGEST_FLAG_RUN) : index]
        return (len(run) - len(run.rstrip(_REGIONAL))) % 2 == 0
    if left == "extend" and right == "letter" and _virama_before(text, index):
        return False
    return (left, right) not in _HANGUL


def boundary_at_or_before(text: str, index: int, lowest: int) -> int | None:
    """The last boundary in ``(lowest, index]``; ``None`` when one cluster fills it all."""
    for candidate in range(index, lowest, -1):
        if is_boundary(text, candidate):
            return candidate
    return None


def boundary_at_or_after(text: str, index: int, highest: int) -> int:
    """The first boundary at or after ``index``, but ``highest`` where there is none before it."""
    while index < highest and not is_boundary(text, index):
        index += 1
    return index


def _virama_before(text: str, index: int) -> bool:
    """Whether the marks before ``index`` hold a virama, which may join two consonants (GB9c)."""
    for char in reversed(text[max(0, index - _LONGEST_MARK_RUN) : index]):
        if unicodedata.combining(char) == 9:
            return True
        if _kind(char) != "extend":
            return False
    return False


@lru_cache(maxsize=65_536)
def _kind(char: str) -> str:
    if char in _EXTENDING:
        return "extend"
    if char in _PREPENDED:
        return "prepend"
    if char in _REGIONAL:
        return "regional"
    if "\uac00" <= char <= "\ud7a3":
        return "LV" if (ord(char) - 0xAC00) % 28 == 0 else "LVT"
    for name, first, last in _JAMO:
        if first <= char <= last:
            return name
    category = unicodedata.category(char)
    if category in ("Mn", "Mc", "Me"):
        return "extend"
    if category in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return "control"
    return "letter" if category == "Lo" else "other"
