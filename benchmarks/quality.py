"""Retrieval quality on test collections: nDCG@10 and recall@100 by leg and fusion, with 95% intervals.

    SEAMLINE_DATA=... python -m benchmarks.quality scifact --precision int8 float32
    SEAMLINE_DATA=... python -m benchmarks.quality --table      every set; writes docs/quality.md

Documents are indexed whole (one chunk each, cut by the model's window), as the published figures were made;
``--chunked`` uses the shipped chunk size instead. ``--queries`` takes that many of each set's questions, evenly spaced.
The ranking that is measured is that of the candidates before near-duplicates are folded; the latency is that of a
whole call with the default limit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import collection
from benchmarks.quality_page import SETS, write_page
from benchmarks.results import write
from seamline.evaluation.measures import ndcg, recall
from seamline.evaluation.significance import bootstrap_interval
from seamline.knowledge_base import KnowledgeBase

VARIANTS: dict[str, dict[str, object]] = {
    "keyword": {"mode": "keyword"},
    "dense": {"mode": "dense"},
    "hybrid rrf": {"mode": "hybrid", "fusion": "rrf"},
    "hybrid weighted": {"mode": "hybrid", "fusion": "weighted"},
    "weighted shifted": {
        "mode": "hybrid", "fusion": "weighted", "fusion_normaliser": "shifted",
        "fusion_alpha": 0.8, "fusion_alpha_uncovered": 0.4,
    },
    "weighted min_max": {"mode": "hybrid", "fusion": "weighted", "fusion_normaliser": "min_max"},
    "weighted z_score": {"mode": "hybrid", "fusion": "weighted", "fusion_normaliser": "z_score"},
    "dbsf": {"mode": "hybrid", "fusion": "dbsf"},
}  # fmt: skip
WHOLE = {"chunk_chars": 10_000, "max_chunk_chars": 10_000, "child_overlap": 0.0, "embed_max_chars": 100_000}
SEED = 20260


def main() -> None:
    """Index (once), retrieve the judged queries by every variant, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--precision", nargs="+", default=["int8"], choices=["int8", "float32"])
    parser.add_argument("--chunked", action="store_true")
    parser.add_argument("--chunk-chars", type=int, nargs="+", help="chunked, at each of these sizes")
    parser.add_argument("--queries", type=int, help="most questions a set")
    parser.add_argument("--table", action="store_true", help="write docs/quality.md")
    parser.add_argument("--home", type=Path, default=Path(".cache/bench"))
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    sizes: list[int | None] = options.chunk_chars or [None]
    for name, precision, size in product(options.sets, options.precision, sizes):
        settings: dict[str, object] = {"embedding_provider": "local", "embedding_precision": precision}
        settings |= {"chunk_chars": size} if size else {} if options.chunked else WHOLE
        kb_name = f"{name}-{precision}{f'-{size}' if size else '-chunked' if options.chunked else ''}"
        with collection.index(collection.data_folder() / name, options.home, kb_name, settings) as kb:
            for variant, overrides in VARIANTS.items():
                row = {"set": name, "precision": precision, "chunk_chars": size, "variant": variant}
                row |= measure(kb, collection.data_folder() / name, overrides, options.queries)
                rows.append(row)
                print(
                    f"{name:12} {precision:8} {size or '':5} {variant:16} nDCG@10 {row['ndcg@10']:.4f} "
                    f"[{row['low']:.3f}, {row['high']:.3f}]  recall@100 {row['recall@100']:.4f}  "
                    f"P50 {row['p50_ms']:.1f} ms",
                    flush=True,
                )
    if options.table:
        write("quality-table", rows)
        write_page(rows)
    else:
        write("quality-sizes" if options.chunk_chars else "quality-chunked" if options.chunked else "quality", rows)


def measure(
    kb: KnowledgeBase, folder: Path, overrides: Mapping[str, object], most: int | None = None
) -> dict[str, float]:
    """Mean nDCG@10 (with a bootstrap interval) and recall@100 over judged queries, and the median latency in ms."""
    judged = collection.qrels(folder)
    ndcgs, recalls, latencies = [], [], []
    mode = str(overrides["mode"])
    rest = {name: value for name, value in overrides.items() if name != "mode"}
    for query_id, text in spaced(list(collection.queries(folder).items()), most):
        began = time.perf_counter()
        result = kb.retrieve(text, mode=mode, overrides=rest, query_language=collection.language_of(folder.name))
        latencies.append((time.perf_counter() - began) * 1000)
        ranking = documents(kb, [candidate.chunk_id for candidate in result.candidates[:100]])
        ndcgs.append(ndcg(ranking, judged[query_id], 10))
        recalls.append(recall(ranking, judged[query_id], 100))
    interval = bootstrap_interval(ndcgs, seed=SEED)
    return {
        "queries": len(ndcgs),
        "ndcg@10": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "recall@100": sum(recalls) / len(recalls),
        "p50_ms": sorted(latencies)[len(latencies) // 2],
    }


def documents(kb: KnowledgeBase, ids: Sequence[Any]) -> list[str]:
    """The documents of chunks in their order, each once."""
    with kb.read() as snapshot:
        return list(dict.fromkeys(str(chunk.document_id) for chunk in snapshot.chunks(kb.scope, ids)))


def spaced(queries: list[tuple[str, str]], most: int | None) -> list[tuple[str, str]]:
    """At most ``most`` of the queries, evenly spaced; all without it."""
    if most is None or len(queries) <= most:
        return queries
    return [queries[place * len(queries) // most] for place in range(most)]


if __name__ == "__main__":
    main()
