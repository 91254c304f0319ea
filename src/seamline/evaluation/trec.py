"""Reads TREC topics, qrels and run files.

Topics are ``id<TAB>question`` lines, or the classic ``<top>`` blocks with ``<num>`` and ``<title>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from seamline.errors import UsageError
from seamline.evaluation.golden import GoldenQuery, GoldenSet, golden_set, refuse

_TOP = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(r"<(num|title)>(.*?)(?=<|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"^\s*Number\s*:\s*", re.IGNORECASE)

Labels = dict[str, dict[str, int]]


def read_trec(topics: Path, qrels: Path) -> GoldenSet:
    """The judged topics, in file order; a topic without a label above 0 is left out.

    Raises ``UsageError`` on malformed lines, contradictory labels, and labels for unknown topics.
    """
    labels = read_qrels(qrels)
    queries = []
    for query_id, text in read_topics(topics):
        relevance = labels.pop(query_id, {})
        if any(grade > 0 for grade in relevance.values()):
            queries.append(GoldenQuery(id=query_id, query=text, relevance=relevance))
    refuse(str(qrels), [f"labels for an unknown query {query!r}" for query in labels])
    return golden_set(topics.name, queries)


def read_topics(path: Path) -> list[tuple[str, str]]:
    """``(id, question)`` of every topic; raises ``UsageError``."""
    text = _text(path)
    blocks = _TOP.findall(text)
    if blocks:
        return [_block(block, f"{path} topic {number}") for number, block in enumerate(blocks, 1)]
    found = []
    for where, line in _lines(text, path):
        query_id, tab, question = line.partition("\t")
        if not tab:
            raise UsageError(
                f"{where}: no tab between the id and the question", hint="id<TAB>question, or <top> blocks"
            )
        found.append((query_id.strip(), question.strip()))
    return found


def read_qrels(path: Path) -> Labels:
    """Query id to document id to grade, from ``query iteration document grade`` lines."""
    labels: Labels = {}
    problems = []
    for where, line in _lines(_text(path), path):
        try:
            query, _, document, grade = line.split()
            value = int(grade)
        except ValueError:
            problems.append(f"{where}: not: query iteration document integer-grade")
            continue
        if labels.setdefault(_id(query), {}).setdefault(_id(document), value) != value:
            problems.append(f"{where}: {document!r} has two different grades for query {query!r}")
    refuse(str(path), problems)
    return labels


def read_run(path: Path) -> dict[str, tuple[str, ...]]:
    """Query id to documents, best first, from ``query Q0 document rank score tag`` lines.

    Ordered as trec_eval does, by score descending; ties by rank ascending, then document id. Raises
    ``UsageError`` on a malformed line and on a document that is ranked twice for one query.
    """
    rows: dict[str, list[tuple[float, int, str]]] = {}
    problems = []
    for where, line in _lines(_text(path), path):
        try:
            query, _, document, rank, score, _ = line.split()
            rows.setdefault(_id(query), []).append((-float(score), int(rank), _id(document)))
        except ValueError:
            problems.append(f"{where}: not: query Q0 document rank score tag")
    ranked = {query: tuple(document for _, _, document in sorted(found)) for query, found in rows.items()}
    problems += [f"query {query!r} ranks a document twice" for query, ids in ranked.items() if len(set(ids)) < len(ids)]
    if problems or not ranked:
        raise UsageError(f"{path}: not a usable run: {'; '.join(problems[:10]) or 'it holds no line'}")
    return ranked


def _block(block: str, where: str) -> tuple[str, str]:
    fields = {name.lower(): " ".join(value.split()) for name, value in _FIELD.findall(block)}
    if "num" not in fields or "title" not in fields:
        raise UsageError(f"{where}: a topic needs <num> and <title>")
    return _NUMBER.sub("", fields["num"]), fields["title"]


def _id(token: str) -> str:
    """An id as our own files spell it: whitespace and ``%`` are percent-encoded there."""
    return unquote(token) if "%" in token else token


def _lines(text: str, path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{path} line {number}", line.rstrip("\r")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
