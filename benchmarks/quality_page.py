"""Writes docs/quality.md from the figures of :mod:`benchmarks.quality`."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SETS = (
    "scifact", "cranfield", "cisi", "time", "nq-utd", "xquad-en", "limit-small", "fquad-fr", "jsquad-ja",
    "xquad-de", "xquad-es", "xquad-ru", "xquad-zh", "xquad-ar", "xquad-hi", "xquad-th",
)  # fmt: skip
PAGE = Path(__file__).parents[1] / "docs" / "quality.md"
DEFAULT = "hybrid weighted"

HEAD = """# Measured quality

<!-- Written by `python -m benchmarks.quality --table`; edit benchmarks/quality_page.py instead. -->

nDCG@10 by set and variant, of the local model all-MiniLM-L6-v2 (int8) and our BM25 (k1 1.2, b 0.75), pools of 100, one
chunk a document. In brackets the 95% bootstrap interval of the mean. The model is English: on the other sets its leg
weighs less by the language rule. Made on {date}, at most {most} questions a set, evenly spaced, on a machine that other
work shared: the latencies are upper bounds.

"""
TAIL = """
`limit-small` is made so that no vector of one size can tell its documents apart: what the dense leg adds there can only
cost. `weighted shifted` is alpha 0.8 (0.4 where the language is not covered). Every figure, with recall@100 and the
median latency, is in `benchmarks/results/quality-table.json`.
"""


def write_page(rows: Sequence[dict[str, Any]]) -> None:
    """The table, the recall and latency of the default, and where the default loses to a leg."""
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    found = {(row["set"], row["variant"]): row for row in rows}
    sets = [name for name in SETS if (name, DEFAULT) in found]
    most = max(row["queries"] for row in rows)
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    lines = [
        HEAD.format(date=today, most=f"{most:,}"),
        f"| set | {' | '.join(variants)} |",
        "|---" * (len(variants) + 1) + "|",
    ]
    lines += [f"| {name} | {' | '.join(_cell(found[name, variant]) for variant in variants)} |" for name in sets]
    lines += ["", "## The default beside its legs", ""]
    lines += [
        "| set | questions | default minus keyword | default minus dense | recall@100 | P50 ms |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_beside(name, found) for name in sets]
    PAGE.write_text("\n".join(lines) + "\n" + TAIL, encoding="utf-8")
    print(f"written: {PAGE.relative_to(PAGE.parents[1])}")


def _cell(row: dict[str, Any]) -> str:
    return f"{row['ndcg@10']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def _beside(name: str, found: dict[tuple[str, str], dict[str, Any]]) -> str:
    default, keyword, dense = (found[name, variant] for variant in (DEFAULT, "keyword", "dense"))
    against = [f"{default['ndcg@10'] - other['ndcg@10']:+.3f}" for other in (keyword, dense)]
    return (
        f"| {name} | {default['queries']:,} | {against[0]} | {against[1]} "
        f"| {default['recall@100']:.3f} | {default['p50_ms']:.1f} |"
    )
