"""Writes TREC run and qrels files, which any evaluation tool reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from seamline.evaluation.golden import GoldenSet
from seamline.evaluation.report import Report


def run_lines(query: str, documents: Sequence[str], tag: str) -> Iterator[str]:
    """``query Q0 document rank score tag`` lines. Scores are derived from ranks, so that no reader sees a tie."""
    for rank, document in enumerate(documents, 1):
        yield f"{_token(query)} Q0 {_token(document)} {rank} {len(documents) - rank + 1} {_token(tag)}"


def write_runs(report: Report, folder: Path) -> list[Path]:
    """One ``<variant>.run`` for each variant that ran, invalid ones included, to the full depth."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for variant in report.variants:
        if not variant.queries:
            continue
        path = folder / f"{quote(variant.name, safe='+ ')}.run"
        lines = [line for query in variant.queries for line in run_lines(query.id, query.documents, variant.name)]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        written.append(path)
    return written


def write_qrels(golden: GoldenSet, path: Path) -> None:
    """The labels as ``query 0 document grade`` lines, with the same spelling of ids as the run files."""
    lines = [
        f"{_token(query.id)} 0 {_token(document)} {grade}\n"
        for query in golden.judged
        for document, grade in query.relevance.items()
    ]
    path.write_text("".join(lines), encoding="utf-8")


def _token(text: str) -> str:
    """Whitespace separates the columns of a run file, so it is percent-encoded in ids (and so is ``%``)."""
    return "".join(quote(char) if char.isspace() or char == "%" else char for char in text)
