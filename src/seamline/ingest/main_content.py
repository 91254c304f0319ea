"""Which leaves of a page are its content: those that resiliparse's main-content heuristics keep as well."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from resiliparse.parse.html import HTMLTree

T = TypeVar("T")

MIN_SHARE = 0.4
"""Below this share of the visible words the heuristics are not believed, and every leaf is kept."""

_LONGEST = 5
# A script without spaces counts by character.
_WORD = re.compile(
    r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af]+"
)


def main_content_filter(tree: HTMLTree, leaves: list[T], *, text_of: Callable[[T], str]) -> list[T]:
    """The leaves most of whose word sequences occur in the main content.

    Sequences of up to five words are compared as sets: linear in the page, whatever its shape.
    """
    from resiliparse.extract.html2text import extract_plain_text

    words = _words(extract_plain_text(tree, main_content=True, alt_texts=False, list_bullets=False))
    known: list[set[int]] = [_sequences(words, size) for size in range(1, _LONGEST + 1)]
    split = [_words(text_of(leaf)) for leaf in leaves]
    kept = [not own or _mostly(own, known) for own in split]
    total = sum(map(len, split))
    if sum(len(own) for own, keep in zip(split, kept, strict=True) if keep) < MIN_SHARE * total:
        return leaves
    return [leaf for leaf, keep in zip(leaves, kept, strict=True) if keep]


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _sequences(words: list[str], size: int) -> set[int]:
    return {hash(tuple(words[i : i + size])) for i in range(len(words) - size + 1)}


def _mostly(own: list[str], known: list[set[int]]) -> bool:
    size = min(len(own), _LONGEST)
    sequences = _sequences(own, size)
    return 2 * len(sequences & known[size - 1]) >= len(sequences)
