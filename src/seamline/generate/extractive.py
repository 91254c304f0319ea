"""``extractive``: answers with sentences of the passages, word for word. No model writes anything.

It abstains when no sentence scores well enough. Not a stand-in: what it says is always in a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from seamline.folding import fold
from seamline.generate.citations import MARK, parse_citations
from seamline.generate.evidence import ScoredSentence, score_sentences
from seamline.ports import SentenceScorer, SentenceSplitter
from seamline.types import GenerationPiece, GenerationRequest

DEFAULT_MIN_SCORE = 1.15
"""Threshold for a space that none was calibrated for. Tried with all-MiniLM-L6-v2 on XQuAD-en: of questions whose
passage is there 90% are answered with it, of questions whose passage was taken out 88% are refused."""
DEFAULT_MIN_SCORE_TERMS = 0.4
"""The same where no sentence scorer is configured and term evidence stands alone: 85% and 85%."""
CALIBRATED_MIN_SCORES: Mapping[str, float] = {
    "space:954031674fb0906965171bba538e0aa517438d3aa6acc8f17132d81c3dce0110": 0.807,
    "space:cb7285c6b7bbfa2bfcf57808a0da04a8a2d37188dae8b59c8c0b0877c3bbbe42": 0.814,
}
"""Calibrated thresholds by the fingerprint of the embedding space that they hold for: all-MiniLM-L6-v2 in int8, then
in float32, by ``seamline eval answers`` on the sample golden set. Figures: docs/adr/0050-extractive-answers.md."""
FURTHER_SENTENCE_MARGIN = 0.4
"""A further sentence must score this near to the best one."""

_REFERENCE_MARK = re.compile(rf"\s*{MARK.pattern}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractiveOptions:
    """Limits of an answer, in sentences and characters, and the score below which it abstains."""

    sentences: int
    chars: int
    min_score: float


class ExtractiveGenerator:
    """Quotes the sentences that answer best, each followed by its citation."""

    name = "extractive"
    stand_in = False

    def __init__(
        self, options: ExtractiveOptions, *, scorer: SentenceScorer | None, splitter: SentenceSplitter
    ) -> None:
        """Score with ``scorer`` where one is given, else by the question's words alone."""
        self.options = options
        self._scorer = scorer
        self._splitter = splitter

    @property
    def model(self) -> str:
        """What decides: ``similarity+terms``, or ``terms-only`` without a scorer."""
        return "similarity+terms" if self._scorer else "terms-only"

    def stream(self, request: GenerationRequest) -> Iterator[GenerationPiece]:
        """One piece a sentence, or one that abstains and says by how much the best sentence fell short."""
        scored = score_sentences(request.question, request.passages, scorer=self._scorer, splitter=self._splitter)
        chosen = self._choose(scored, len(request.passages))
        best_score = scored[0].score if scored else None
        if not chosen:
            best = f"the best scores {scored[0].score:.3f}" if scored else "the passages have none"
            yield GenerationPiece(
                score=best_score,
                abstained=f"no sentence reaches the score {self.options.min_score:.3f} that an answer needs; {best}",
            )
        for place, sentence in enumerate(chosen):
            yield GenerationPiece(
                text=("\n" if place else "") + f"{sentence.text} [{sentence.number}]", score=best_score
            )

    def _choose(self, scored: Sequence[ScoredSentence], passages: int) -> list[ScoredSentence]:
        chosen: list[ScoredSentence] = []
        seen: list[str] = []
        left = self.options.chars
        for candidate in scored:
            floor = chosen[0].score - FURTHER_SENTENCE_MARGIN if chosen else self.options.min_score
            if candidate.score < floor or len(chosen) == self.options.sentences:
                break
            sentence = _quotable(candidate, passages)
            if sentence is None or len(sentence.text) > left:
                continue
            folded = fold(sentence.text)
            if any(folded in other or other in folded for other in seen):
                continue
            chosen.append(sentence)
            seen.append(folded)
            left -= len(sentence.text)
        return chosen


def _quotable(sentence: ScoredSentence, passages: int) -> ScoredSentence | None:
    """The sentence on one line, without the document's own ``[12]`` marks, which would read as ours.

    ``None`` when its text (an open code span, say) would swallow the citation that follows it.
    """
    text = " ".join(_REFERENCE_MARK.sub("", sentence.text).split())
    cited = f"{text} [{sentence.number}]"
    parsed = parse_citations(cited, passages)
    if parsed.text != cited or [mark.numbers for mark in parsed.marks] != [(sentence.number,)]:
        return None
    return ScoredSentence(text, sentence.number, sentence.score)


def create(
    settings: Mapping[str, object],
    *,
    scorer: SentenceScorer | None,
    splitter: SentenceSplitter,
    space_fingerprint: str | None,
) -> ExtractiveGenerator:
    """The extractive generator; its threshold is the setting, else the calibrated one of the space."""
    given = settings["extractive_min_score"]
    fallback = DEFAULT_MIN_SCORE if scorer else DEFAULT_MIN_SCORE_TERMS
    calibrated = CALIBRATED_MIN_SCORES.get(space_fingerprint or "", fallback) if scorer else fallback
    return ExtractiveGenerator(
        ExtractiveOptions(
            sentences=settings["extractive_sentences"],  # type: ignore[arg-type]
            chars=settings["extractive_chars"],  # type: ignore[arg-type]
            min_score=calibrated if given is None else given,  # type: ignore[arg-type]
        ),
        scorer=scorer,
        splitter=splitter,
    )
