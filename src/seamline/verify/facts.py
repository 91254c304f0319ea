"""What may never differ between a sentence and its source: numbers, names and quotations."""

from __future__ import annotations

import re
from dataclasses import dataclass

from seamline.verify.words import Word, ascii_digits, find_run, words

_NUMBER = re.compile(r"(?<![\w.])[-−+](?=\d)|\d+(?:[.,'’\u00a0\u202f]\d+)*")
_THOUSANDS = re.compile(r"[,'’\u00a0\u202f](?=\d{3}(?!\d))")
_PERCENT = re.compile(r"\s*(?:%|％|per\s?cent\b)", re.IGNORECASE)
_QUOTATION = re.compile(r"“([^“”]*)”|\"([^\"]*)\"|«([^«»]*)»|»([^«»]*)«|„([^„“”]*)[“”]|「([^「」]*)」|『([^『』]*)』")
_QUOTE_MARKS = re.compile(r"[“”\"«»„「」『』]")
_NEGATION = re.compile(
    r"\b(?:not?|never|none|nor|neither|without|cannot|nicht|kein\w*|nie|ohne|pas|jamais|sans|nunca|sin|не|нет|без)\b"
    r"|n['’]t\b|[不没沒無未]|ない|ません|ไม่|नहीं|ليس",
    re.IGNORECASE,
)
_OPENER_LIST = """
    a according additionally after all also although an and as at because before both but by during each for from
    he her his how however if in it its many most no of on one or our she since so some such that the their there
    these they this those through to under we when where which while who with you der die das ein eine er sie es im
    in le la les un une il elle en el los las del o os a
"""
_OPENERS = frozenset(_OPENER_LIST.split())


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that a sentence states, as its source must state them too."""

    numbers: frozenset[str]
    names: frozenset[str]
    quotations: tuple[tuple[Word, ...], ...]
    opening: str | None
    """A capitalised first word: a name, or only the first word."""
    unclosed_quotation: bool
    negated: bool

    def missing_from(self, span: str) -> bool:
        """Whether the span lacks a number, a name or a quotation."""
        found = words(span)
        texts = {word.text for word in found}
        return bool(
            self.numbers - numbers(span)
            or any(not _named(name, texts) for name in self.names)
            or any(find_run(list(quotation), found) is None for quotation in self.quotations)
        )

    def doubtful_in(self, span: str) -> bool:
        """Whether a doubt is left that words cannot settle: a name's ending, half a quotation, a negation."""
        texts = {word.text for word in words(span)}
        names = self.names if self.opening is None else self.names | {self.opening}
        return bool(names - texts) or self.unclosed_quotation or self.negated != is_negated(span)


def facts_of(sentence: str) -> Facts:
    """Read the facts of one sentence."""
    found = words(sentence)
    capitalised = [word.raw[0].isupper() and not word.caseless for word in found]
    names = frozenset(word.text for word, is_name in zip(found[1:], capitalised[1:], strict=True) if is_name)
    opening = found[0].text if found and capitalised[0] and found[0].text not in _OPENERS else None
    quoted = [next(filter(None, match.groups()), "") for match in _QUOTATION.finditer(sentence)]
    return Facts(
        numbers=numbers(sentence),
        names=names - {"i"},
        quotations=tuple(tuple(words(text)) for text in quoted if words(text)),
        opening=opening,
        unclosed_quotation=_QUOTE_MARKS.search(_QUOTATION.sub("", sentence)) is not None,
        negated=is_negated(sentence),
    )


def numbers(text: str) -> frozenset[str]:
    """Numbers in one form: ASCII digits, no thousands separators, with sign and per cent."""
    found: set[str] = set()
    sign = ""
    for match in _NUMBER.finditer(text):
        if not match[0][0].isdigit():
            sign = "" if match[0] == "+" else "-"
            continue
        plain = _THOUSANDS.sub("", ascii_digits(match[0]))
        found.add(sign + plain + ("%" if _PERCENT.match(text, match.end()) else ""))
        sign = ""
    return frozenset(found)


def whole_numbers(text: str, start: int, end: int) -> tuple[int, int]:
    """The span, grown so that it cuts no number in two: ``1`` out of ``1.5`` is not what the text says."""
    for match in _NUMBER.finditer(text):
        left, right = match.span()
        if not match[0][0].isdigit():
            continue
        if left and text[left - 1] in "-−+" and _NUMBER.match(text, left - 1):
            left -= 1
        percent = _PERCENT.match(text, right)
        right = percent.end() if percent else right
        if left < end and start < right:
            start, end = min(start, left), max(end, right)
    return start, end


def is_negated(text: str) -> bool:
    """Whether a text holds a word of negation, in the languages that this table knows."""
    return _NEGATION.search(text) is not None


def _named(name: str, texts: set[str]) -> bool:
    """A name occurs as it is, or with an ending of at most two letters more or less (a genitive)."""
    return name in texts or any(_differs_by_ending(name, text) for text in texts)


def _differs_by_ending(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    return len(short) > 3 and long.startswith(short) and len(long) - len(short) <= 2
