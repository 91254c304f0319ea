"""What in a question is syntax: phrases in double quotes and ``-word``. Everything else is plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from seamline.analyze.scan import TOKEN
from seamline.folding import fold

_PHRASE = re.compile(
    r'(?<!\w)"([^"\s][^"]*)"(?!\w)'
    r"|[\u201c\u201e\u201f]([^\u201c\u201d\u201e\u201f]+)[\u201c\u201d]"
    r"|\u00ab([^\u00ab\u00bb]+)\u00bb"
)
# A letter after the sign, not a digit: "-40 degrees" is a temperature.
_EXCLUDED = re.compile(rf"(?<!\S)-(?=[^\W\d_])({TOKEN.pattern})")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySyntax:
    """A question taken apart. ``text`` holds the plain words, those of the phrases included."""

    text: str
    phrases: tuple[str, ...]
    excluded: tuple[str, ...]


def parse(text: str) -> QuerySyntax:
    """Take apart a question that is in NFKC; never raises."""
    phrases: list[str] = []
    spoken: list[str] = []

    def lift(match: re.Match[str]) -> str:
        phrase = next(group for group in match.groups() if group is not None)
        if folded := fold(phrase):
            phrases.append(folded)
            spoken.append(phrase)
        return " "

    rest = _PHRASE.sub(lift, text)
    excluded = tuple(dict.fromkeys(_EXCLUDED.findall(rest)))
    plain = _EXCLUDED.sub(" ", rest)
    return QuerySyntax(text=" ".join([plain, *spoken]), phrases=tuple(dict.fromkeys(phrases)), excluded=excluded)
