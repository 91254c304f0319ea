"""Golden sets: questions with the documents that answer them, keyed so that re-chunking changes nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from seamline.errors import UsageError
from seamline.fingerprint import canonical_json, sha256_text

_SHOWN = 10
"""Problems spelt out in one message; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage that answers a query: an exact quote, so that it can be found again after any re-chunking."""

    document: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenQuery:
    """One question. ``relevance`` maps document ids to grades from 0; an unanswerable query has none above 0."""

    id: str
    query: str
    relevance: Mapping[str, int] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    answer: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = ()
    unanswerable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSet:
    """Validated queries in file order; ``name`` is where they came from."""

    name: str
    queries: tuple[GoldenQuery, ...]

    @property
    def judged(self) -> tuple[GoldenQuery, ...]:
        """The queries that ranking measures are taken over: all but the unanswerable ones."""
        return tuple(query for query in self.queries if not query.unanswerable)

    @property
    def sha256(self) -> str:
        """Identity of the content, whatever the file it came from."""
        return sha256_text(canonical_json(self.queries))

    @property
    def documents(self) -> frozenset[str]:
        """Every document id that a label or a piece of evidence names."""
        return frozenset(
            document
            for query in self.queries
            for document in (*query.relevance, *(evidence.document for evidence in query.evidence))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of a golden set the corpus holds. ``missing`` are sorted ids.

    ``unmatched`` are ids of queries with a quote that its document no longer holds: their labels want another look.
    """

    documents: int
    missing: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()


class _EvidenceRecord(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    document: str
    quote: str


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    id: str
    query: str
    relevantDocumentIds: list[str] = []
    relevance: dict[str, int] = {}
    evidence: list[_EvidenceRecord] = []
    answer: str | None = None
    language: str | None = None
    tags: list[str] = []
    unanswerable: bool = False


def read_golden(path: Path) -> GoldenSet:
    """Read and validate a JSON Lines golden set.

    Raises ``UsageError`` that lists every bad line and every contradiction, not only the first.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: the golden set cannot be read: {error}") from error
    queries: list[GoldenQuery] = []
    problems: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = _Record.model_validate(json.loads(line))
        except json.JSONDecodeError as error:
            problems.append(f"line {number}: not JSON: {error}")
        except ValidationError as error:
            problems.extend(f"line {number}: {_where(item['loc'])}{item['msg']}" for item in error.errors())
        else:
            problems.extend(f"line {number}: {problem}" for problem in _label_conflicts(record))
            queries.append(_query(record))
    refuse(str(path), problems)
    return golden_set(path.name, queries)


def golden_set(name: str, queries: Iterable[GoldenQuery]) -> GoldenSet:
    """Queries as a validated set. Raises ``UsageError`` on duplicate ids, empty queries or contradictions."""
    golden = GoldenSet(name=name, queries=tuple(queries))
    counts = Counter(query.id for query in golden.queries)
    problems = [f"query id {query_id!r} occurs {count} times" for query_id, count in counts.items() if count > 1]
    for query in golden.queries:
        problems.extend(f"query {query.id!r}: {problem}" for problem in _query_problems(query))
    if not golden.queries:
        problems.append("it holds no query")
    refuse(name, problems)
    return golden


def check_documents(golden: GoldenSet, known: Collection[str], *, allow_missing: bool = False) -> Coverage:
    """Compare a golden set with the ids of a corpus.

    Raises ``UsageError`` listing the unknown documents, unless ``allow_missing``: then they stay in the
    denominators (a relevant document that is not there is never found) and the coverage reports them.
    """
    coverage = Coverage(documents=len(golden.documents), missing=tuple(sorted(golden.documents.difference(known))))
    if not allow_missing:
        refuse(
            golden.name,
            [f"unknown document {document!r}" for document in coverage.missing],
            hint="index the missing documents, or pass --allow-missing to go on and report the coverage",
        )
    return coverage


def unmatched_evidence(golden: GoldenSet, texts: Mapping[str, str]) -> list[tuple[str, Evidence]]:
    """``(query id, evidence)`` of every quote that is not a substring of its document's text."""
    return [
        (query.id, evidence)
        for query in golden.queries
        for evidence in query.evidence
        if evidence.quote not in texts.get(evidence.document, "")
    ]


def refuse(where: str, problems: list[str], *, hint: str | None = None) -> None:
    """Raise ``UsageError`` with the problems of a golden set; returns when there is none."""
    if problems:
        more = f"\n... and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        listed = "\n".join(problems[:_SHOWN])
        raise UsageError(
            f"{where}: not a usable golden set, problems found: {len(problems)}\n{listed}{more}",
            hint=hint or "the guide 'Evaluate retrieval' shows the format",
        )


def _query(record: _Record) -> GoldenQuery:
    return GoldenQuery(
        id=record.id,
        query=record.query,
        relevance=record.relevance or dict.fromkeys(record.relevantDocumentIds, 1),
        evidence=tuple(Evidence(document=item.document, quote=item.quote) for item in record.evidence),
        answer=record.answer,
        language=record.language,
        tags=tuple(record.tags),
        unanswerable=record.unanswerable,
    )


def _label_conflicts(record: _Record) -> Iterable[str]:
    repeated = sorted(name for name, count in Counter(record.relevantDocumentIds).items() if count > 1)
    if repeated:
        yield f"relevantDocumentIds holds {', '.join(repeated)} more than once"
    positive = {document for document, grade in record.relevance.items() if grade > 0}
    if record.relevance and record.relevantDocumentIds and positive != set(record.relevantDocumentIds):
        yield "relevance and relevantDocumentIds contradict each other"


def _query_problems(query: GoldenQuery) -> Iterable[str]:
    if not query.id.strip():
        yield "the id is empty"
    if not query.query.strip():
        yield "the query is empty"
    relevant = {document for document, grade in query.relevance.items() if grade > 0}
    if query.unanswerable and (relevant or query.evidence):
        yield "it is marked unanswerable and has relevant documents or evidence"
    if not query.unanswerable and not relevant:
        yield "no document is relevant, and it is not marked unanswerable"
    stray = sorted({evidence.document for evidence in query.evidence} - relevant)
    if stray and not query.unanswerable:
        yield f"evidence comes from documents that are not relevant: {', '.join(stray)}"
    if any(not evidence.quote.strip() for evidence in query.evidence):
        yield "a quote is empty"


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, location)) + ": " if location else ""
