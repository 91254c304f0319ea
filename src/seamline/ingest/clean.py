r"""The one place where text is cleaned. What is not named here is left alone, so that spans stay honest.

``\r\n`` and ``\r`` become ``\n``; form feed and vertical tab become ``\n``; the other C0 controls but tab are
removed, as are byte-order marks; lone surrogates become U+FFFD. No normalisation, no trimming.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

_UNCLEAN = re.compile("\r\n?|[\x0b\x0c]|[\x00-\x08\x0e-\x1f]|\ufeff|[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Cleaned text, and where the offsets of the original went.

    ``edges`` are the ends of edits in the original, ``shifts`` what to subtract from an offset at or after
    them. ``controls`` counts removed control characters.
    """

    text: str
    controls: int = 0
    edges: tuple[int, ...] = ()
    shifts: tuple[int, ...] = ()

    def position(self, offset: int) -> int:
        """The offset in ``text`` of an offset of the original."""
        index = bisect_right(self.edges, offset) - 1
        return offset if index < 0 else max(0, offset - self.shifts[index])


def clean(text: str) -> Cleaned:
    """Clean a text in linear time; a clean text comes back as it is."""
    if _UNCLEAN.search(text) is None:
        return Cleaned(text)
    parts: list[str] = []
    edges: list[int] = []
    shifts: list[int] = []
    last = shift = controls = 0
    for found in _UNCLEAN.finditer(text):
        matched = found.group()
        replacement = _replacement(matched)
        controls += matched < "\x20" and not replacement
        parts += (text[last : found.start()], replacement)
        last = found.end()
        if len(replacement) != len(matched):
            shift += len(matched) - len(replacement)
            edges.append(last)
            shifts.append(shift)
    parts.append(text[last:])
    return Cleaned("".join(parts), controls, tuple(edges), tuple(shifts))


def _replacement(matched: str) -> str:
    if matched[0] in "\r\x0b\x0c":
        return "\n"
    return "\ufffd" if "\ud800" <= matched <= "\udfff" else ""
