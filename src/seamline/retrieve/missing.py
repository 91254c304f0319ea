"""The words of a question that a chunk lacks, as the user wrote them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from seamline.folding import fold
from seamline.ports import Analyzer


def missing_words(
    analyzer: Analyzer,
    text: str,
    languages: Sequence[str | None],
    asked: Collection[str],
    matched: Collection[str],
) -> tuple[str, ...]:
    """The words of ``text`` of which no analysed form, in any of ``languages``, is among the ``matched`` terms.

    In the order of the question, each once whatever its case. A word that asks for nothing (a stop word, an excluded
    one) lacks nothing: only the ``asked`` terms count. Of a run that is written without spaces, the stretches that
    no matched term covers.
    """
    wanted, held = set(asked), set(matched)
    missing: dict[str, str] = {}
    for word in text.split():
        forms = [set(analyzer.query(word, [language]).terms) & wanted for language in languages or (None,)]
        if not any(forms):
            continue
        if _unspaced(fold(word), forms):
            for stretch in _uncovered(fold(word), set().union(*forms), held):
                missing.setdefault(stretch, stretch)
        elif held.isdisjoint(set().union(*forms)):
            missing.setdefault(fold(_bare(word)), _bare(word))
    return tuple(missing.values())


def _unspaced(word: str, forms: Sequence[set[str]]) -> bool:
    """Whether one language's terms of the word are pieces of it that overlap, as pairs of characters do."""
    return any(
        word not in terms and all(term in word for term in terms) and sum(map(len, terms)) > len(word)
        for terms in forms
        if len(terms) > 1
    )


def _uncovered(word: str, terms: set[str], held: set[str]) -> list[str]:
    """The longest stretches of what the terms cover in ``word`` and the held ones do not."""
    asked, found = _places(word, terms), _places(word, terms & held)
    marked = "".join(
        character if place in asked and place not in found else " " for place, character in enumerate(word)
    )
    return marked.split()


def _places(word: str, terms: set[str]) -> set[int]:
    places: set[int] = set()
    for term in terms:
        start = word.find(term)
        while start >= 0:
            places.update(range(start, start + len(term)))
            start = word.find(term, start + 1)
    return places


def _bare(word: str) -> str:
    """Without the punctuation around it."""
    kept = [place for place, character in enumerate(word) if character.isalnum()]
    return word[kept[0] : kept[-1] + 1] if kept and word.isascii() else word.strip("\"'.,;:!?()[]{}«»“”„¿¡،؟।")
