"""Reads BEIR folders: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seamline.errors import UsageError
from seamline.evaluation.golden import GoldenQuery, GoldenSet, golden_set, refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class BeirDocument:
    """One line of ``corpus.jsonl``; ``title`` may be empty."""

    id: str
    title: str
    text: str


def read_beir(folder: Path, *, split: str = "test") -> GoldenSet:
    """The judged queries of one split, in file order.

    A query without any label in the split is left out: it belongs to another split. So is one whose labels
    are all 0 or below, which no ranking can satisfy. Raises ``UsageError`` on a missing or malformed file,
    on contradictory labels, and on labels for queries that do not exist.
    """
    labels = _labels(folder / "qrels" / f"{split}.tsv")
    queries = []
    for where, record in _records(folder / "queries.jsonl"):
        relevance = labels.pop(_text(record, "_id", where), {})
        if any(grade > 0 for grade in relevance.values()):
            queries.append(
                GoldenQuery(
                    id=str(record["_id"]),
                    query=_text(record, "text", where),
                    relevance=relevance,
                    answer=_answer(record.get("metadata")),
                )
            )
    refuse(f"{folder} ({split})", [f"labels for an unknown query {query!r}" for query in labels])
    return golden_set(f"{folder.name}/{split}", queries)


def read_beir_corpus(folder: Path) -> Iterator[BeirDocument]:
    """The documents, one at a time; raises ``UsageError`` on a missing or malformed file."""
    for where, record in _records(folder / "corpus.jsonl"):
        title = _text(record, "title", where) if record.get("title") is not None else ""
        yield BeirDocument(id=_text(record, "_id", where), title=title, text=_text(record, "text", where))


def _answer(metadata: object) -> str | None:
    """The answer that some sets keep in a query's metadata: ``answer``, or the first of ``answers``."""
    if not isinstance(metadata, dict):
        return None
    answers = metadata.get("answers")
    found = metadata.get("answer", answers[0] if isinstance(answers, list) and answers else None)
    return str(found) if isinstance(found, str | int | float) and not isinstance(found, bool) else None


def _records(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield f"{path} line {number}", _object(line, f"{path} line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}", hint="is this a BEIR folder?") from error


def _object(line: str, where: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise UsageError(f"{where}: not JSON: {error}") from error
    if not isinstance(record, dict):
        raise UsageError(f"{where}: not a JSON object")
    return record


def _text(record: dict[str, object], key: str, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise UsageError(f"{where}: {key!r} is missing or not a string")
    return value


def _labels(path: Path) -> dict[str, dict[str, int]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}", hint="splits are the files in qrels/") from error
    labels: dict[str, dict[str, int]] = {}
    problems = []
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if not line.strip() or (number == 1 and cells[0] == "query-id"):
            continue
        try:
            query, document, grade = cells[0], cells[1], int(cells[2])
        except (IndexError, ValueError):
            problems.append(f"line {number}: not query-id, corpus-id and an integer score, separated by tabs")
            continue
        if labels.setdefault(query, {}).setdefault(document, grade) != grade:
            problems.append(f"line {number}: {document!r} has two different grades for query {query!r}")
    refuse(str(path), problems)
    return labels
