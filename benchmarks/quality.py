"""Retrieval quality on test collections: nDCG@10 and recall@100 by leg and fusion.

    SEAMLINE_DATA=... python -m benchmarks.quality scifact --precision int8 float32

Documents are indexed whole (one chunk each, cut by the model's window), as the published figures were made;
``--chunked`` uses the shipped chunk size instead.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks import collection
from benchmarks.results import write
from seamline.evaluation.measures import ndcg, recall
from seamline.knowledge_base import KnowledgeBase

VARIANTS: dict[str, dict[str, object]] = {
    "keyword": {"mode": "keyword"},
    "dense": {"mode": "dense"},
    "hybrid rrf": {"mode": "hybrid", "fusion": "rrf"},
    "hybrid weighted": {"mode": "hybrid", "fusion": "weighted"},
}
WHOLE = {"chunk_chars": 10_000, "max_chunk_chars": 10_000, "child_overlap": 0.0, "embed_max_chars": 100_000}


def main() -> None:
    """Index (once), retrieve every judged query by every variant, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--precision", nargs="+", default=["int8"], choices=["int8", "float32"])
    parser.add_argument("--chunked", action="store_true")
    parser.add_argument("--home", type=Path, default=Path(".cache/bench"))
    options = parser.parse_args()
    rows = []
    for name in options.sets:
        for precision in options.precision:
            settings = {"embedding_provider": "local", "embedding_precision": precision}
            settings |= {} if options.chunked else WHOLE
            kb_name = f"{name}-{precision}{'-chunked' if options.chunked else ''}"
            with collection.index(collection.data_folder() / name, options.home, kb_name, settings) as kb:
                for variant, overrides in VARIANTS.items():
                    row = {"set": name, "precision": precision, "variant": variant}
                    row |= measure(kb, collection.data_folder() / name, overrides)
                    rows.append(row)
                    print(
                        f"{name:12} {precision:8} {variant:16} nDCG@10 {row['ndcg@10']:.4f}  "
                        f"recall@100 {row['recall@100']:.4f}  P50 {row['p50_ms']:.1f} ms",
                        flush=True,
                    )
    write("quality-chunked" if options.chunked else "quality", rows)


def measure(kb: KnowledgeBase, folder: Path, overrides: Mapping[str, object]) -> dict[str, float]:
    """Mean nDCG@10 and recall@100 over all judged queries, and the median latency in ms."""
    judged = collection.qrels(folder)
    ndcgs, recalls, latencies = [], [], []
    mode = str(overrides["mode"])
    rest = {name: value for name, value in overrides.items() if name != "mode"} | {"near_duplicate_jaccard": 1.0}
    for query_id, text in collection.queries(folder).items():
        began = time.perf_counter()
        result = kb.retrieve(
            text, limit=100, mode=mode, overrides=rest, query_language=collection.language_of(folder.name)
        )
        latencies.append((time.perf_counter() - began) * 1000)
        ranking = list(dict.fromkeys(str(passage.chunk.document_id) for passage in result.passages))
        ndcgs.append(ndcg(ranking, judged[query_id], 10))
        recalls.append(recall(ranking, judged[query_id], 100))
    count = len(ndcgs)
    return {
        "queries": count,
        "ndcg@10": sum(ndcgs) / count,
        "recall@100": sum(recalls) / count,
        "p50_ms": sorted(latencies)[count // 2],
    }


if __name__ == "__main__":
    main()
