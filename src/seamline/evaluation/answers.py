"""How good answers are, without a model as judge: evidence quoted, honest abstention, citations that resolve.

An answer is right when its citations cover the gold evidence (at least :data:`COVERED` of the characters of one quote,
by spans of the document), or, in a set without evidence, when what it quotes contains the answer string. On an
unanswerable question only an abstention is right. A threshold is judged on questions that it was not chosen on.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seamline.errors import UsageError
from seamline.evaluation.golden import Evidence, GoldenQuery, GoldenSet
from seamline.folding import fold
from seamline.types import Answer, Citation

COVERED = 0.8
"""Share of a gold quote's characters (blanks left out) that citations must cover."""
FOLDS = 5

TextOf = Callable[[str], str | None]
"""A document's normalised text by its id; ``None`` when there is no such document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuery:
    """One question. ``right`` judges what was said, or would have been said without the threshold.

    ``score`` is the generator's own, ``None`` where it has none. ``token_f1`` is ``None`` without a gold answer.
    """

    id: str
    answerable: bool
    abstained: bool
    right: bool
    score: float | None
    token_f1: float | None
    characters: int
    citations: int
    resolved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """``evidence``: of the answerable, those answered rightly; ``abstains``: of the unanswerable, those refused."""

    evidence: float | None
    abstains: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReport:
    """Every question's row, and the shares over them. ``held_out`` and ``threshold`` need scores."""

    golden: str
    rows: tuple[AnsweredQuery, ...]
    configured: Shares
    threshold: float | None
    chosen: Shares | None
    held_out: Shares | None
    right_of_answered: float | None
    token_f1: float | None
    citations: int
    resolved: int
    risk_coverage: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """JSON types, rows last."""
        shown = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "rows"}
        for name in ("configured", "chosen", "held_out"):
            value: Shares | None = shown[name]
            shown[name] = value and {"evidence": value.evidence, "abstains": value.abstains}
        shown["risk_coverage"] = dict(self.risk_coverage)
        shown["rows"] = [{name: getattr(row, name) for name in row.__dataclass_fields__} for row in self.rows]
        return shown


def evaluate_answers(
    golden: GoldenSet,
    *,
    ask: Callable[[str], Answer],
    ask_anyway: Callable[[str], Answer] | None,
    text_of: TextOf,
    seed: int,
) -> AnswerReport:
    """Ask every question; ``ask_anyway`` asks again, without a threshold, what was refused by one.

    Raises ``UsageError`` when a question that can be answered has neither evidence nor an answer.
    """
    blind = [query.id for query in golden.judged if not query.evidence and query.answer is None]
    if blind:
        raise UsageError(
            f"{golden.name}: no evidence and no answer for {', '.join(blind[:10])}",
            hint='add "evidence" or "answer" to these questions, or mark them unanswerable',
        )
    rows = tuple(_asked(query, ask, ask_anyway, text_of) for query in golden.queries)
    scored = all(row.score is not None for row in rows) and len({row.answerable for row in rows}) == 2
    threshold = best_threshold(rows) if scored else None
    said = [row for row in rows if row.answerable and not row.abstained]
    f1 = [row.token_f1 for row in said if row.token_f1 is not None]
    return AnswerReport(
        golden=golden.name,
        rows=rows,
        configured=shares(rows, [not row.abstained for row in rows]),
        threshold=threshold,
        chosen=None if threshold is None else shares(rows, _above(rows, threshold)),
        held_out=cross_validated(rows, seed) if scored else None,
        right_of_answered=_share([row.right for row in said]),
        token_f1=sum(f1) / len(f1) if f1 else None,
        citations=sum(row.citations for row in rows),
        resolved=sum(row.resolved for row in rows),
        risk_coverage=risk_coverage(rows) if all(row.score is not None for row in rows) else {},
    )


def shares(rows: Sequence[AnsweredQuery], answers: Sequence[bool]) -> Shares:
    """Both shares, where ``answers`` says which questions are answered; ``None`` over no question."""
    both = list(zip(rows, answers, strict=True))
    return Shares(
        evidence=_share([row.right and answered for row, answered in both if row.answerable]),
        abstains=_share([not answered for row, answered in both if not row.answerable]),
    )


def best_threshold(rows: Sequence[AnsweredQuery]) -> float:
    """The score with the largest smaller share, so that neither side is bought with the other; of equals the lowest."""
    candidates = sorted({_score(row) for row in rows})

    def smaller(threshold: float) -> float:
        found = shares(rows, _above(rows, threshold))
        return min(found.evidence or 0.0, found.abstains or 0.0)

    return max(candidates, key=smaller)


def cross_validated(rows: Sequence[AnsweredQuery], seed: int) -> Shares:
    """Both shares on held-out questions: five folds of the shuffled rows, each kind spread evenly over them."""
    shuffled = list(rows)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - a split, not a secret
    shuffled.sort(key=lambda row: row.answerable)
    held: list[AnsweredQuery] = []
    answers: list[bool] = []
    for place in range(FOLDS):
        fold_rows = shuffled[place::FOLDS]
        threshold = best_threshold([row for at, row in enumerate(shuffled) if at % FOLDS != place])
        held += fold_rows
        answers += _above(fold_rows, threshold)
    return shares(held, answers)


def risk_coverage(rows: Sequence[AnsweredQuery]) -> dict[str, float]:
    """Share of wrong answers among the best-scored 25, 50, 75 and 100% of questions, and the mean over all cuts."""
    ordered = sorted(rows, key=lambda row: (-_score(row), row.id))
    wrong = 0
    risks: list[float] = []
    for answered, row in enumerate(ordered, 1):
        wrong += not (row.answerable and row.right)
        risks.append(wrong / answered)
    cuts = {f"at {share}%": risks[max(0, len(risks) * share // 100 - 1)] for share in (25, 50, 75, 100)}
    return {**cuts, "area": sum(risks) / len(risks)}


def covers(citations: Sequence[Citation], evidence: Evidence, text: str | None) -> bool:
    """Whether the cited spans of its document cover enough of one occurrence of a gold quote."""
    if text is None:
        return False
    spans = [(c.char_start, c.char_end) for c in citations if c.document_id == evidence.document]
    for found in re.finditer(re.escape(evidence.quote), text):
        places = [at for at in range(*found.span()) if not text[at].isspace()]
        if sum(any(start <= at < end for start, end in spans) for at in places) >= COVERED * len(places):
            return True
    return False


def token_f1(said: str, gold: str) -> float:
    """Harmonic mean of precision and recall of words, as in SQuAD; 0 when no word is shared."""
    first, second = (Counter(re.findall(r"\w+", fold(text))) for text in (said, gold))
    shared = sum((first & second).values())
    return 2 * shared / (sum(first.values()) + sum(second.values())) if shared else 0.0


def _asked(
    query: GoldenQuery,
    ask: Callable[[str], Answer],
    ask_anyway: Callable[[str], Answer] | None,
    text_of: TextOf,
) -> AnsweredQuery:
    answer = ask(query.query)
    said = ask_anyway(query.query) if answer.abstained and ask_anyway is not None else answer
    quotes = " ".join(citation.quote for citation in said.citations)
    return AnsweredQuery(
        id=query.id,
        answerable=not query.unanswerable,
        abstained=answer.abstained,
        right=not query.unanswerable and _right(query, said, quotes, text_of),
        score=said.score,
        token_f1=None if query.answer is None else token_f1(quotes, query.answer),
        characters=len(quotes),
        citations=len(answer.citations),
        resolved=sum(_resolves(citation, text_of) for citation in answer.citations),
    )


def _right(query: GoldenQuery, said: Answer, quotes: str, text_of: TextOf) -> bool:
    if query.evidence:
        return any(covers(said.citations, evidence, text_of(evidence.document)) for evidence in query.evidence)
    return fold(query.answer or "") in fold(quotes)


def _resolves(citation: Citation, text_of: TextOf) -> bool:
    text = text_of(citation.document_id)
    return text is not None and text[citation.char_start : citation.char_end] == citation.quote


def _above(rows: Sequence[AnsweredQuery], threshold: float) -> list[bool]:
    return [_score(row) >= threshold for row in rows]


def _score(row: AnsweredQuery) -> float:
    if row.score is None:
        raise ValueError(f"{row.id} has no score")
    return row.score


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None
