"""What resiliparse's main-content heuristics make of parts of a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resiliparse.parse.html import HTMLTree

_LONGEST = 5
# A script without spaces counts by character.
_WORD = re.compile(
    r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af]+"
)


def in_main_content(tree: HTMLTree, texts: list[str]) -> list[bool]:
    """Whether most word sequences of each text occur in the page's main content.

    Sequences of up to five words are compared as sets: linear in the page, whatever its shape.
    """
    from resiliparse.extract.html2text import extract_plain_text

    if not texts:
        return []
    words = _words(extract_plain_text(tree, main_content=True, alt_texts=False, list_bullets=False))
    known: list[set[int]] = [_sequences(words, size) for size in range(1, _LONGEST + 1)]
    return [_mostly(_words(text), known) for text in texts]


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _sequences(words: list[str], size: int) -> set[int]:
    return {hash(tuple(words[i : i + size])) for i in range(len(words) - size + 1)}


def _mostly(own: list[str], known: list[set[int]]) -> bool:
    size = min(len(own), _LONGEST)
    if size == 0:
        return False
    sequences = _sequences(own, size)
    return 2 * len(sequences & known[size - 1]) >= len(sequences)
