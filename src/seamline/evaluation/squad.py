"""Reads SQuAD-style JSON: articles with paragraphs, and questions on each paragraph.

Each paragraph is one document, whose id is ``<article title>#<paragraph number>``, from 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from seamline.errors import UsageError
from seamline.evaluation.beir import BeirDocument
from seamline.evaluation.golden import Evidence, GoldenQuery, GoldenSet, golden_set


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")
    text: str


class _Question(BaseModel):
    model_config = ConfigDict(extra="ignore")
    id: str
    question: str
    answers: list[_Answer] = []
    is_impossible: bool = False


class _Paragraph(BaseModel):
    model_config = ConfigDict(extra="ignore")
    context: str
    qas: list[_Question] = []


class _Article(BaseModel):
    model_config = ConfigDict(extra="ignore")
    title: str
    paragraphs: list[_Paragraph]


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")
    data: list[_Article]


def read_squad(path: Path) -> GoldenSet:
    """Every question, with its paragraph as the relevant document; ``is_impossible`` ones are unanswerable.

    Raises ``UsageError`` on a malformed file.
    """
    return golden_set(
        path.name,
        [_query(question, document) for document, paragraph in _paragraphs(path) for question in paragraph.qas],
    )


def read_squad_corpus(path: Path) -> Iterator[BeirDocument]:
    """The paragraphs as documents; raises ``UsageError``."""
    for document, paragraph in _paragraphs(path):
        yield BeirDocument(id=document, title=document.rpartition("#")[0].replace("_", " "), text=paragraph.context)


def _paragraphs(path: Path) -> Iterator[tuple[str, _Paragraph]]:
    try:
        found = _File.model_validate(json.loads(path.read_text(encoding="utf-8-sig")))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: the golden set cannot be read: {error}") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}: not JSON: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}", hint="SQuAD JSON") from error
    for article in found.data:
        for number, paragraph in enumerate(article.paragraphs):
            yield f"{article.title}#{number}", paragraph


def _query(question: _Question, document: str) -> GoldenQuery:
    if question.is_impossible:
        return GoldenQuery(id=question.id, query=question.question, unanswerable=True)
    quotes = tuple(dict.fromkeys(answer.text for answer in question.answers))
    return GoldenQuery(
        id=question.id,
        query=question.question,
        relevance={document: 1},
        evidence=tuple(Evidence(document=document, quote=quote) for quote in quotes),
        answer=quotes[0] if quotes else None,
    )
