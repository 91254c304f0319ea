"""Retrieval test collections (``corpus.jsonl``, ``queries.jsonl``, ``qrels/test.tsv``) as knowledge bases."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import seamline
from seamline.collection import index_records
from seamline.ingest.records import RecordSource
from seamline.knowledge_base import KnowledgeBase
from seamline.types import Progress

LANGUAGES = {"fquad-fr": "fr", "jsquad-ja": "ja", "chunking-eval-docs": "en"}


def data_folder() -> Path:
    """``SEAMLINE_DATA``; exits with a hint when it is not set."""
    folder = os.environ.get("SEAMLINE_DATA")
    if not folder:
        sys.exit("SEAMLINE_DATA is not set\nhint: point it to a folder of retrieval test collections")
    return Path(folder).resolve()


def language_of(name: str) -> str:
    """The language of a collection, by its name (``xquad-de``) or the short table above."""
    return LANGUAGES.get(name) or (name.rsplit("-", 1)[1] if name.startswith("xquad-") else "en")


def queries(folder: Path) -> dict[str, str]:
    """Query id to text, of the queries that have judgements."""
    judged = qrels(folder)
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line.strip()]
    return {str(row["_id"]): row["text"] for row in rows if str(row["_id"]) in judged}


def qrels(folder: Path) -> dict[str, dict[str, int]]:
    """Query id to document id to relevance, from ``qrels/test.tsv``."""
    found: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").split("\n")[1:]:
        if line.strip():
            query, document, relevance = line.split("\t")
            found.setdefault(query, {})[document] = int(relevance)
    return found


def index(folder: Path, home: Path, kb: str, settings: Mapping[str, object]) -> KnowledgeBase:
    """Index a collection, each record one document in its known language; quick when it already is."""
    opened = seamline.open(kb, home=home, settings=settings)
    source = RecordSource(folder / "corpus.jsonl")
    report = index_records(opened, source, language=language_of(folder.name), progress=_line)
    if report.added:
        print(f"{kb}: {len(report.added)} documents, {report.embedded} embedded in {report.seconds['total']:.0f} s")
    return opened


def _line(step: Progress) -> None:
    if step.done % 1000 == 0 and step.status.value == "committed":
        print(f"  {step.done}/{step.total}", file=sys.stderr, flush=True)
