"""How two texts are compared when their exact form does not matter. Cited text itself is never changed.

Used by identity (chunk ids), by phrase checks in every store, by near-duplicates and by verification, so
that they cannot drift apart.
"""

from __future__ import annotations

import unicodedata

from seamline.types import Chunk


def collapse(text: str) -> str:
    """NFC, runs of whitespace as one space, ends stripped: the form that decides a chunk's id."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def fold(text: str) -> str:
    """NFKC, case fold, runs of whitespace as one space, ends stripped: the form phrases are matched in."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def holds_phrases(chunk: Chunk, phrases: tuple[str, ...]) -> bool:
    """Whether every folded phrase occurs in the chunk's title, one of its headings, or its text."""
    parts = [fold(part) for part in (chunk.title or "", *chunk.heading_path, chunk.text)]
    return all(any(phrase in part for part in parts) for phrase in phrases)
