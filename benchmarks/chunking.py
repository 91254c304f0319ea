"""Chunkers and sizes compared on ``chunking-eval-docs``: which share of the gold spans a budget of characters holds.

    SEAMLINE_DATA=... python -m benchmarks.chunking                 every candidate
    SEAMLINE_DATA=... python -m benchmarks.chunking structural-400  some

For each question the ranked passages are taken until the budget is full, the last one cut where it ends, so that
large and small chunks are shown the same number of characters. Figures are means over questions, by character:
recall is the share of the gold spans that is shown, precision the share of what is shown that is gold, IoU their
intersection over their union. Passages come from the engine itself, by the dense leg and by the hybrid.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks import collection
from benchmarks.results import write
from seamline.knowledge_base import KnowledgeBase
from seamline.settings import Settings

SET = "chunking-eval-docs"
BUDGETS = (400, 800, 1200, 2000, 3000, 4000)
MODES = ("dense", "hybrid")
BASELINE = "fixed-800"
Range = tuple[int, int]


def candidates() -> dict[str, dict[str, object]]:
    """Name to settings. ``fixed-800`` is the plain window that the default must beat."""
    found: dict[str, dict[str, object]] = {}
    for mode in ("fixed", "structural"):
        for size in (200, 300, 400, 500, 600, 700, 800, 1000):
            found[f"{mode}-{size}"] = {"chunker": mode, "chunk_chars": size, "child_overlap": 0.0}
    for size in (400, 500, 600):
        found[f"structural-{size}-overlap"] = {"chunker": "structural", "chunk_chars": size, "child_overlap": 0.2}
        found[f"semantic-{size}"] = {"chunker": "semantic", "chunk_chars": size}
        found[f"hybrid-{size}"] = {"chunker": "hybrid", "chunk_chars": size}
    found["fixed-800-overlap"] = {"chunker": "fixed", "chunk_chars": 800, "child_overlap": 0.2}
    found["window-1000-200"] = {"chunker": "window-1000-200"}
    return found


def main() -> None:
    """Index each candidate (once), ask every question, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--home", type=Path, default=Path(".cache/bench"))
    options = parser.parse_args()
    known = candidates()
    folder = collection.data_folder() / SET
    gold = spans(folder)
    rows: list[dict[str, object]] = []
    for name in options.names or known:
        settings = {"embedding_provider": "local", "embedding_precision": "int8"} | known[name]
        with collection.index(folder, options.home, f"{SET}-{name}", settings) as kb:
            with kb.read() as snapshot:
                chunks = snapshot.statistics(kb.scope).chunks
            for mode in MODES:
                named = {"chunker": name, "chunks": chunks, "mode": mode}
                rows.extend(named | row for row in measure(kb, folder, gold, mode))
                print(_line(name, chunks, mode, rows[-len(BUDGETS) :]), flush=True)
    if not options.names:
        write("chunking", {"settings": known, "rows": rows, **lead(rows)})


def measure(
    kb: KnowledgeBase, folder: Path, gold: Mapping[str, Mapping[str, list[Range]]], mode: str
) -> Iterable[dict[str, object]]:
    """One row a budget: mean recall, precision and IoU over all questions."""
    sums = {budget: [0.0, 0.0, 0.0] for budget in BUDGETS}
    questions = collection.queries(folder)
    for query_id, text in questions.items():
        result = kb.retrieve(text, limit=40, mode=mode, query_language="en")
        passages = [(p.chunk.document_id, p.chunk.char_start, p.chunk.char_end) for p in result.passages]
        for budget in BUDGETS:
            for index, value in enumerate(scores(shown(passages, budget), gold[query_id])):
                sums[budget][index] += value
    for budget, (recall, precision, iou) in sums.items():
        count = len(questions)
        yield {"budget": budget, "recall": recall / count, "precision": precision / count, "iou": iou / count}


def shown(passages: Iterable[tuple[str, int, int]], budget: int) -> dict[str, list[Range]]:
    """By document, the ranges that the budget pays for; what a passage repeats is paid for again."""
    taken: dict[str, list[Range]] = {}
    for document, start, end in passages:
        end = min(end, start + budget)
        taken.setdefault(document, []).append((start, end))
        budget -= end - start
        if budget == 0:
            break
    return taken


def scores(taken: Mapping[str, list[Range]], gold: Mapping[str, list[Range]]) -> tuple[float, float, float]:
    """Recall, precision and IoU by character. Characters shown twice count twice against precision."""
    paid = sum(end - start for ranges in taken.values() for start, end in ranges)
    held = {document: union(ranges) for document, ranges in taken.items()}
    wanted = {document: union(ranges) for document, ranges in gold.items()}
    total = sum(end - start for ranges in wanted.values() for start, end in ranges)
    hit = sum(
        max(0, min(end, right) - max(start, left))
        for document, ranges in wanted.items()
        for start, end in ranges
        for left, right in held.get(document, ())
    )
    return hit / total, hit / paid if paid else 0.0, hit / (total + paid - hit)


def union(ranges: Iterable[Range]) -> list[Range]:
    """The same characters in ranges that do not overlap."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def spans(folder: Path) -> dict[str, dict[str, list[Range]]]:
    """Question id to document id to gold ranges."""
    found: dict[str, dict[str, list[Range]]] = {}
    for line in (folder / "spans.jsonl").read_text(encoding="utf-8").split("\n"):
        if line.strip():
            row = json.loads(line)
            ranges = found.setdefault(row["query-id"], {}).setdefault(row["corpus-id"], [])
            ranges.append((row["start"], row["end"]))
    return found


def lead(rows: Iterable[Mapping[str, object]]) -> dict[str, float]:
    """By mode, the least lead in recall of the shipped default over the plain windows at any budget."""
    shipped = Settings()
    name = f"{shipped.chunker}-{shipped.chunk_chars}"
    recall = {(row["chunker"], row["mode"], row["budget"]): float(str(row["recall"])) for row in rows}
    return {
        f"{mode} least lead over {BASELINE}": min(recall[name, mode, b] - recall[BASELINE, mode, b] for b in BUDGETS)
        for mode in MODES
    }


def _line(name: str, chunks: int, mode: str, rows: Iterable[Mapping[str, object]]) -> str:
    figures = "  ".join(f"{row['recall']:.3f}/{row['precision']:.3f}/{row['iou']:.3f}" for row in rows)
    return f"{name:24} {chunks:6} {mode:7} {figures}"


if __name__ == "__main__":
    main()
