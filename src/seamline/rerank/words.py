"""Words of folded text, for comparisons that need no language: overlap and shingles."""

from __future__ import annotations

import re

from seamline.folding import fold

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts written without spaces: Thai, Lao, Burmese, Khmer, kana and Chinese characters."""
_WORD = re.compile(f"[^\\W{_UNSPACED}]+|[{_UNSPACED}]")


def words(folded: str) -> list[str]:
    """The words of text that :func:`seamline.folding.fold` made; each character of an unspaced script is one."""
    return _WORD.findall(folded)


def words_of(text: str) -> list[str]:
    """The words of raw text."""
    return words(fold(text))
