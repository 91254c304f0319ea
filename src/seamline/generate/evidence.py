"""Which sentences of the given passages answer a question best: similarity and term evidence, added up.

``score = SIMILARITY_WEIGHT * similarity + evidence``. Similarity in [-1, 1] comes from the injected scorer.
Evidence in [0, 1] is the share of the question's content words (weighted by how rarely they occur in the
passages) that a sentence states, or that its headings or its passage state for it.
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
from seamline.ports import SentenceScorer, SentenceSplitter
from seamline.types import Passage

SIMILARITY_WEIGHT = 0.6
"""Of a sentence's similarity to the question, beside its evidence of weight 1."""
IN_SENTENCE, IN_HEADINGS, IN_PASSAGE = 1.0, 0.7, 0.5
"""What a question's word counts for, by where it is found."""
LOOSE_PENALTY = 0.05
"""Taken from a line that does not end like a sentence: a list item, a table row, a caption."""
MOST_SCORED = 64
"""Sentences given to the scorer, those with most evidence."""

_FEWEST_CHARS = 12
_ENDS = (".", "!", "。", "！", "…", '."', ".”", ".)", "؟.", "।", "۔")
_QUESTIONS = ("?", "？", "؟", ";?", '?"', "?”")
# Vowel signs and diacritics belong to the word that they stand in, and are no word characters to ``re``.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u200c\u200d"
_WORD = re.compile(rf"[\w{_MARKS}]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+")
_UNSPACED_ASKING = re.compile(
    r"多少|什么|什麼|哪里|哪裡|哪儿|哪个|哪個|哪些|为什么|為什麼|怎么|怎麼|怎样|如何|几个|幾個|是谁|是誰|谁|誰"
    r"|何ですか|でしょうか|ですか|ますか|ましたか|なぜ|どこ|いつ|だれ|どの|いくつ|何|อะไร|ที่ไหน|เมื่อไร|อย่างไร|กี่|ใคร"
)
_STEM = 6
_FUNCTION_WORD_LIST = """
    a about an and are as at be been before by can could did do does during for from had has have how i if in into
    is it its long made make many may me might mostly much my name of often on or our shall should tell than that the
    their them then there they this those to under was we were what when where which who whom whose why will with
    would you your aber als am an auf aus bei das dem den der des die durch ein eine einem einen einer er es für hat
    im in ist mit nach oder sie sind und von war was wann warum welche welchem welcher welches wer wie wo wurde zu
    zum zur au aux ce comment dans de des du elle en est et il la le les leur l ou où par pour pourquoi quand que
    quel quelle quelles quels qui sont sur un une cual cuál cuales cómo como con cuando cuándo cuántos de del dónde
    el en es la las los para por qué que quien quién se son su un una y
"""
_FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of passage ``number`` (from 1) with its score."""

    text: str
    number: int
    score: float


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    number: int
    evidence: float


def score_sentences(
    question: str, passages: Sequence[Passage], *, scorer: SentenceScorer | None, splitter: SentenceSplitter
) -> list[ScoredSentence]:
    """Every sentence that could answer, best first; equals keep the order of the passages.

    Without a scorer the score is the evidence alone. At most :data:`MOST_SCORED` sentences are compared.
    """
    sentences = _with_evidence(question, passages, splitter)
    sentences = sorted(sentences, key=lambda sentence: -sentence.evidence)[:MOST_SCORED]
    similarities = scorer(question, [s.text for s in sentences]) if scorer and sentences else [0.0] * len(sentences)
    scored = [
        ScoredSentence(
            sentence.text,
            sentence.number,
            SIMILARITY_WEIGHT * similarity + sentence.evidence - _looseness(sentence.text),
        )
        for sentence, similarity in zip(sentences, similarities, strict=True)
    ]
    return sorted(scored, key=lambda sentence: (-sentence.score, sentence.number))


def _with_evidence(question: str, passages: Sequence[Passage], splitter: SentenceSplitter) -> list[_Sentence]:
    found: list[_Sentence] = []
    split = [_declarative(passage, splitter) for passage in passages]
    counts: Counter[str] = Counter()
    for sentence in (sentence for sentences in split for sentence in sentences):
        counts.update(_stems(sentence))
    total = sum(len(sentences) for sentences in split)
    weights = {stem: math.log((total + 1) / (counts[stem] + 0.5)) for stem in _question_stems(question)}
    for number, (passage, sentences) in enumerate(zip(passages, split, strict=True), start=1):
        headings = " ".join(filter(None, (passage.chunk.title, *passage.chunk.heading_path)))
        around = _stems(headings), _stems(shown(passage)[0])
        found.extend(_Sentence(text, number, _evidence(weights, _stems(text), *around)) for text in sentences)
    return found


def _declarative(passage: Passage, splitter: SentenceSplitter) -> list[str]:
    """The passage's sentences without questions, headings and fragments."""
    text, _ = shown(passage)
    headings = {fold(heading) for heading in (passage.chunk.title or "", *passage.chunk.heading_path)}
    # A reference mark after a full stop ("way.[12] Honey") would hide the boundary from a splitter.
    unmarked = MARK.sub(lambda mark: " " * len(mark[0]), text)
    sentences = (text[start:end] for start, end in splitter.sentences(unmarked, passage.chunk.language))
    return [
        sentence
        for sentence in sentences
        if not sentence.endswith(_QUESTIONS)
        and fold(sentence.lstrip("# ")) not in headings
        and not re.match(r"#{1,6}\s", sentence)
        and (len(sentence) >= _FEWEST_CHARS or _UNSPACED.search(sentence))
    ]


def _evidence(weights: dict[str, float], inside: set[str], headings: set[str], passage: set[str]) -> float:
    whole = sum(weights.values())
    if whole <= 0:
        return 0.0
    places = ((IN_SENTENCE, inside), (IN_HEADINGS, headings), (IN_PASSAGE, passage))
    return (
        sum(weight * next((share for share, stems in places if stem in stems), 0.0) for stem, weight in weights.items())
        / whole
    )


def _question_stems(question: str) -> set[str]:
    """The question's content words; all its words when none is a content word."""
    words = [match[0] for match in _WORD.finditer(_UNSPACED_ASKING.sub(" ", question))]
    content = [word for word in words if fold(word) not in _FUNCTION_WORDS] or words
    return _stems(" ".join(content))


def _stems(text: str) -> set[str]:
    """Folded words cut to their first letters; pairs of characters where a script has no spaces."""
    folded = fold(text)
    pairs = {run[0][at : at + 2] for run in _UNSPACED.finditer(folded) for at in range(len(run[0]) - 1)}
    return pairs | {word[0][:_STEM] for word in _WORD.finditer(_UNSPACED.sub(" ", folded))}


def _looseness(sentence: str) -> float:
    return 0.0 if sentence.endswith(_ENDS) else LOOSE_PENALTY
