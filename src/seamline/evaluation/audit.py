"""Looks for signs that a golden set flatters an engine. It warns, and cannot prove that a set is honest."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from seamline.evaluation.golden import GoldenQuery, GoldenSet
from seamline.folding import fold

COPIED_SHARE = 0.8
"""A query with at least this share of its longer words in one relevant document counts as copied from it."""
WARN_COPIED = 0.5
WARN_TRIVIAL = 0.3
LONG_WORD = 4
"""Letters from which a word counts; shorter ones occur everywhere."""
SHINGLE = 8
"""Words a shingle; documents are near-duplicates when :data:`NEAR` of their shingles agree."""
NEAR = 0.8
FEW_JUDGED = 0.5
"""Below this share of labelled documents in its first ten, a variant's numbers rest on the labels' gaps."""
UNEVEN = 0.1
"""Variants whose labelled shares differ by more than this are not measured with the same care."""
DISCLAIMER = "An audit finds some kinds of easy questions. It cannot show that a set is honest."
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Shares are of the judged queries. ``labels`` maps the number of relevant documents to queries with it.

    ``twins`` are ``(query, labelled document, unlabelled near-duplicate)``; lists hold query ids. ``judged_at_10`` is,
    for each variant that ran, the share of its first ten documents that carries any label.
    """

    judged: int
    unanswerable: int
    copied: tuple[str, ...]
    trivial: tuple[str, ...]
    labels: Mapping[int, int]
    twins: tuple[tuple[str, str, str], ...]
    repeated: tuple[tuple[str, ...], ...]
    judged_at_10: Mapping[str, float]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """As JSON values, the disclaimer included."""
        return {**asdict(self), "disclaimer": DISCLAIMER}


def audit(golden: GoldenSet, texts: Mapping[str, str], judged_at_10: Mapping[str, float] | None = None) -> Audit:
    """Audit a golden set against the texts of its corpus, by document id, and the shares that a run measured."""
    words = {document: frozenset(_words(text)) for document, text in texts.items()}
    frequency = Counter(word for found in words.values() for word in found)
    judged = golden.judged
    copied = tuple(query.id for query in judged if _copied(query, words))
    trivial = tuple(query.id for query in judged if _trivial(query, words, frequency))
    labels = Counter(sum(grade > 0 for grade in query.relevance.values()) for query in judged)
    twins = _twins(judged, texts)
    repeated = _repeated(golden.queries)
    return Audit(
        judged=len(judged),
        unanswerable=len(golden.queries) - len(judged),
        copied=copied,
        trivial=trivial,
        labels=dict(sorted(labels.items())),
        twins=twins,
        repeated=repeated,
        judged_at_10=judged_at_10 or {},
        warnings=(*_warnings(golden, copied, trivial, labels, twins, repeated), *_gaps(judged_at_10 or {})),
    )


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(fold(text)) if len(word) >= LONG_WORD]


def _relevant(query: GoldenQuery) -> list[str]:
    return [document for document, grade in query.relevance.items() if grade > 0]


def _copied(query: GoldenQuery, words: Mapping[str, frozenset[str]]) -> bool:
    asked = set(_words(query.query))
    held = (words.get(document, frozenset()) for document in _relevant(query))
    return bool(asked) and any(len(asked & found) >= COPIED_SHARE * len(asked) for found in held)


def _trivial(query: GoldenQuery, words: Mapping[str, frozenset[str]], frequency: Counter[str]) -> bool:
    """Whether one word of the question stands in a single document, and that one is relevant."""
    unique = {word for word in _words(query.query) if frequency[word] == 1}
    return any(unique & words.get(document, frozenset()) for document in _relevant(query))


def _twins(queries: Sequence[GoldenQuery], texts: Mapping[str, str]) -> tuple[tuple[str, str, str], ...]:
    """Near-duplicates of a labelled document that carry no label, or another one."""
    shingles = {document: _shingles(text) for document, text in texts.items()}
    holders: dict[int, list[str]] = defaultdict(list)
    for document, found in shingles.items():
        for shingle in found:
            holders[shingle].append(document)
    near: dict[str, list[str]] = {}
    for document in {document for query in queries for document in _relevant(query) if document in shingles}:
        shared = Counter(other for shingle in shingles[document] for other in holders[shingle] if other != document)
        near[document] = sorted(
            other
            for other, count in shared.items()
            if count >= NEAR * (len(shingles[document]) + len(shingles[other]) - count)
        )
    return tuple(
        (query.id, document, other)
        for query in queries
        for document in _relevant(query)
        for other in near.get(document, ())
        if query.relevance.get(other) != query.relevance[document]
    )


def _shingles(text: str) -> set[int]:
    words = _WORD.findall(fold(text))
    return {hash(tuple(words[start : start + SHINGLE])) for start in range(max(1, len(words) - SHINGLE + 1))}


def _repeated(queries: Sequence[GoldenQuery]) -> tuple[tuple[str, ...], ...]:
    by_text: dict[str, list[str]] = defaultdict(list)
    for query in queries:
        by_text[" ".join(_WORD.findall(fold(query.query)))].append(query.id)
    return tuple(tuple(ids) for ids in by_text.values() if len(ids) > 1)


def _warnings(
    golden: GoldenSet,
    copied: Sequence[str],
    trivial: Sequence[str],
    labels: Mapping[int, int],
    twins: Sequence[object],
    repeated: Sequence[object],
) -> tuple[str, ...]:
    count = len(golden.judged)
    found = []
    if len(copied) > WARN_COPIED * count:
        found.append(
            f"{len(copied) / count:.0%} of the queries take most of their words from a document that answers them: "
            "the keyword leg will look better than it is"
        )
    if len(trivial) > WARN_TRIVIAL * count:
        found.append(f"{len(trivial) / count:.0%} of the queries hold a word that only their answer holds")
    if labels.get(1, 0) == count:
        found.append("every query has exactly one relevant document: others that answer it count as wrong")
    if twins:
        found.append(f"{len(twins)} near-duplicates of relevant documents are labelled otherwise, or not at all")
    if repeated:
        found.append(f"{len(repeated)} questions are asked more than once")
    if count == len(golden.queries):
        found.append("no query is unanswerable: abstention cannot be measured or calibrated")
    return tuple(found)


def _gaps(judged_at_10: Mapping[str, float]) -> tuple[str, ...]:
    """What the unlabelled documents among the first ten may do to the numbers."""
    if not judged_at_10:
        return ()
    least, most = min(judged_at_10.values()), max(judged_at_10.values())
    found = []
    if least < FEW_JUDGED:
        found.append(
            f"down to {least:.0%} of the first ten documents carry a label: "
            "right answers that nobody labelled count as wrong"
        )
    if most - least > UNEVEN:
        found.append(
            f"labelled among the first ten are from {least:.0%} to {most:.0%}, by variant: "
            "the lower ones may look worse than they are"
        )
    return tuple(found)
