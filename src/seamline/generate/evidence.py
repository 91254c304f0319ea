"""Which sentences of the given passages answer a question best: similarity and term evidence, added up.

``score = similarity of the sentence, of the sentence in its place, and of its passage (each by its weight) + evidence
- what it lacks``. Similarities in [-1, 1] come from the injected scorer and from retrieval. A sentence's place is its
headings and, for a table's row, the table's first row. Evidence in [0, 1] is the share of the question's content words
(weighted by how rarely they occur in the passages) that a sentence states, or that its place or its passage
states for it. What it lacks in [0, 1] is the share of the question's identifiers (words with a digit) that neither the
sentence nor its place nor its passage holds: a sentence about ``E-114`` does not answer a question about ``E-115``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from seamline.folding import fold
from seamline.generate.citations import MARK
from seamline.generate.prompt import shown
from seamline.generate.question import UNSPACED, identifiers, question_stems, stems
from seamline.ports import SentenceScorer, SentenceSplitter
from seamline.types import Passage

SENTENCE_WEIGHT, PLACED_WEIGHT, PASSAGE_WEIGHT = 0.5, 0.5, 0.5
"""Of the similarities to the question: the sentence alone, with its headings, and its passage's cosine."""
IN_SENTENCE, IN_PLACE, IN_PASSAGE = 1.0, 0.7, 0.4
"""What a question's word counts for, by where it is found."""
LACKING_WEIGHT = 1.0
"""Of the share of the question's identifiers that are not to be found around a sentence."""
MOST_SCORED = 64
"""Sentences given to the scorer, those with most evidence."""

_FEWEST_CHARS = 12
_QUESTIONS = ("?", "？", "؟", ";?", '?"', "?”")
_ROW = re.compile(r"\||.* \| ")
_RULE = re.compile(r"[|\s:-]+")


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of passage ``number`` (from 1) with its score."""

    text: str
    number: int
    score: float


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    place: str
    number: int
    passage: Passage
    evidence: float

    @property
    def placed(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text


def score_sentences(
    question: str, passages: Sequence[Passage], *, scorer: SentenceScorer | None, splitter: SentenceSplitter
) -> list[ScoredSentence]:
    """Every sentence that could answer, best first; equals keep the order of the passages.

    Without a scorer the score is the evidence alone. At most :data:`MOST_SCORED` sentences are compared.
    """
    sentences = _with_evidence(question, passages, splitter)
    sentences = sorted(sentences, key=lambda sentence: -sentence.evidence)[:MOST_SCORED]
    similarities = _similarities(question, sentences, scorer)
    scored = [
        ScoredSentence(sentence.text, sentence.number, similarity + sentence.evidence)
        for sentence, similarity in zip(sentences, similarities, strict=True)
    ]
    return sorted(scored, key=lambda sentence: (-sentence.score, sentence.number))


def _similarities(question: str, sentences: Sequence[_Sentence], scorer: SentenceScorer | None) -> list[float]:
    if scorer is None or not sentences:
        return [0.0] * len(sentences)
    texts = list(dict.fromkeys(text for sentence in sentences for text in (sentence.text, sentence.placed)))
    found = dict(zip(texts, scorer(question, texts), strict=True))
    return [
        SENTENCE_WEIGHT * found[sentence.text]
        + PLACED_WEIGHT * found[sentence.placed]
        + PASSAGE_WEIGHT * (sentence.passage.stages.cosine or 0.0)
        for sentence in sentences
    ]


def _with_evidence(question: str, passages: Sequence[Passage], splitter: SentenceSplitter) -> list[_Sentence]:
    split = [_declarative(passage, splitter) for passage in passages]
    counts = Counter(stem for sentences in split for text, _ in sentences for stem in stems(text))
    total = sum(len(sentences) for sentences in split)
    weights = {stem: math.log((total + 1) / (counts[stem] + 0.5)) for stem in question_stems(question)}
    asked = identifiers(question)
    found: list[_Sentence] = []
    for number, (passage, sentences) in enumerate(zip(passages, split, strict=True), start=1):
        headings = " > ".join(dict.fromkeys(filter(None, (passage.chunk.title, *passage.chunk.heading_path))))
        text, _ = shown(passage)
        around = stems(text)
        lacking = asked - identifiers(f"{headings} {text}")
        lack = LACKING_WEIGHT * len(lacking) / len(asked) if asked else 0.0
        for sentence, first_row in sentences:
            place = " ".join(filter(None, (headings, first_row)))
            evidence = _evidence(weights, stems(sentence), stems(place), around)
            found.append(_Sentence(sentence, place, number, passage, evidence - lack))
    return found


def _declarative(passage: Passage, splitter: SentenceSplitter) -> list[tuple[str, str]]:
    """The passage's sentences without questions, headings and fragments; with a table's row its first row."""
    text, _ = shown(passage)
    headings = tuple(fold(heading) for heading in (passage.chunk.title or "", *passage.chunk.heading_path))
    # A reference mark after a full stop ("way.[12] Honey") would hide the boundary from a splitter.
    unmarked = MARK.sub(lambda mark: " " * len(mark[0]), text)
    found: list[tuple[str, str]] = []
    first_row = ""
    for start, end in splitter.sentences(unmarked, passage.chunk.language):
        sentence = text[start:end]
        is_row = _ROW.match(sentence) is not None
        if _may_answer(sentence, headings):
            found.append((sentence, first_row if is_row else ""))
        first_row = (first_row or sentence) if is_row else ""
    return found


def _may_answer(sentence: str, headings: Sequence[str]) -> bool:
    bare = fold(sentence.lstrip("# "))
    return not (
        sentence.endswith(_QUESTIONS)
        or any(heading.endswith(bare) for heading in headings)
        or re.match(r"#{1,6}\s", sentence)
        or _RULE.fullmatch(sentence)
        or (len(sentence) < _FEWEST_CHARS and not UNSPACED.search(sentence))
    )


def _evidence(weights: dict[str, float], inside: set[str], place: set[str], passage: set[str]) -> float:
    whole = sum(weights.values())
    if whole <= 0:
        return 0.0
    shares = ((IN_SENTENCE, inside), (IN_PLACE, place), (IN_PASSAGE, passage))
    return (
        sum(weight * next((share for share, known in shares if stem in known), 0.0) for stem, weight in weights.items())
        / whole
    )
