"""Whether a source supports a sentence, decided on the words alone, without a model.

The best span of the source is the shortest run of up to three sentences that shares most words with the
sentence. Numbers, names (capitalised words) and quotations of the sentence must occur in that span. What
words cannot settle (a paraphrase, a negation, a first word that may be a name, facts gathered from several
sentences) is ``partial``, never more. Words put in another order within one sentence go unnoticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from seamline.types import Support
from seamline.verify.facts import Facts, facts_of, is_negated, whole_numbers
from seamline.verify.words import Word, find_run, words

SUPPORTED_SHARE = 0.9
"""Share of the sentence's words that a span must hold, exactly as they are, to support it."""
PARTIAL_SHARE = 0.4
"""Below this share, inflected forms included, the span is about something else."""

_WINDOW = 3
_SENTENCE_END = re.compile(r"[.!?…][\"”’»)\]]*(?:\[\d+\])*(?=\s)|[。！？][」』”]*|\n")


def check(sentence: str, source: str) -> tuple[Support, int, int]:
    """The verdict, and the best supporting ``(start, end)`` in ``source``; ``(0, 0)`` when there is none.

    A sentence that stands in the source word for word is ``supported`` by exactly that span.
    """
    said = words(sentence)
    facts = facts_of(sentence)
    windows = list(_windows(source))
    verbatim = _verbatim(sentence, said, source)
    if verbatim is not None and not facts.missing_from(source[slice(*verbatim)]):
        return _verbatim_verdict(facts, windows, verbatim, source), *verbatim
    best = _best_window(said, facts, windows, source)
    if best is None:
        return "unsupported", 0, 0
    sentences, start, end = best
    support = _verdict(said, facts, source[start:end])
    # Facts gathered from several sentences may be put together in a way that none of them says.
    return ("partial" if support == "supported" and sentences > 1 else support), start, end


def _verbatim(sentence: str, said: list[Word], source: str) -> tuple[int, int] | None:
    """Where the sentence's words stand in a row in the source, whole numbers and final stop included."""
    there = words(source)
    run = find_run(said, there)
    if run is None:
        return None
    start, end = there[run[0]].start, there[run[1]].end
    exact = start - said[0].start
    if exact >= 0 and source.startswith(sentence, exact):
        start, end = exact, exact + len(sentence)
    return whole_numbers(source, start, end)


def _verbatim_verdict(facts: Facts, windows: list[tuple[int, int, int]], span: tuple[int, int], source: str) -> Support:
    """A fragment may have lost the "not" of the sentence that it stands in."""
    start, end = span
    around = [source[left:right] for length, left, right in windows if length == 1 and left < end and start < right]
    return "supported" if facts.negated == is_negated(" ".join(around)) else "partial"


def _best_window(
    said: list[Word], facts: Facts, windows: list[tuple[int, int, int]], source: str
) -> tuple[int, int, int] | None:
    """The run of sentences with all facts and most words; of equals the shortest, then the first."""
    stems = {word.stem for word in _telling(said)}
    best: tuple[tuple[bool, int, int], tuple[int, int, int]] | None = None
    for length, start, end in windows:
        shared = len(stems & {word.stem for word in words(source[start:end])})
        key = (shared > 0 and not facts.missing_from(source[start:end]), shared, -length)
        if shared and (best is None or key > best[0]):
            best = key, (length, start, end)
    return None if best is None else best[1]


def _windows(source: str) -> Iterator[tuple[int, int, int]]:
    """``(sentences, start, end)`` of every run of up to three sentences, without surrounding blanks."""
    spans: list[tuple[int, int]] = []
    start = 0
    for cut in [*(match.end() for match in _SENTENCE_END.finditer(source)), len(source)]:
        piece = source[start:cut]
        if piece.strip():
            left = start + len(piece) - len(piece.lstrip())
            spans.append((left, left + len(piece.strip())))
        start = cut
    for first in range(len(spans)):
        for last in range(first, min(first + _WINDOW, len(spans))):
            yield last - first + 1, spans[first][0], spans[last][1]


def _verdict(said: list[Word], facts: Facts, span: str) -> Support:
    if facts.missing_from(span):
        return "unsupported"
    there = words(span)
    exact, stems = {word.text for word in there}, {word.stem for word in there}
    distinct = {word.text: word for word in _telling(said)}.values()
    if sum(word.stem in stems for word in distinct) < PARTIAL_SHARE * len(distinct):
        return "unsupported"
    # In a script without capitals any word may be a name, so that none may be missing.
    missing = [word for word in distinct if word.text not in exact]
    enough = len(missing) <= (1 - SUPPORTED_SHARE) * len(distinct) and not any(word.caseless for word in missing)
    return "supported" if enough and not facts.doubtful_in(span) else "partial"


def _telling(said: list[Word]) -> list[Word]:
    """The words that say what the sentence is about; all of them when none does."""
    return [word for word in said if word.telling] or said
