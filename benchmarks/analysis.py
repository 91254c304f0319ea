"""Keyword retrieval with the analyzer alone: plain BM25 over the test collections, and the speed of analysis.

    SEAMLINE_DATA=... python benchmarks/analysis.py [--unknown-language] [SET ...]

BM25 as Lucene scores it (idf = ln(1 + (N - n + 0.5) / (n + 0.5)), k1 1.2, b 0.75), title and text as one
document, nDCG@10 with linear gain as trec_eval computes it. The references are an independent implementation's,
the better one of k1 0.9, b 0.4 and k1 1.2, b 0.75 on each set. Exits with 1 when a set is more than 0.005 below.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seamline.analyze.text import TextAnalyzer

K1, B = 1.2, 0.75
TOLERANCE = 0.005

REFERENCE = {
    "scifact": 0.686,
    "cranfield": 0.375,
    "cisi": 0.385,
    "time": 0.682,
    "nq-utd": 0.805,
    "limit-small": 0.992,
    "fquad-fr": 0.801,
    "jsquad-ja": 0.944,
    "xquad-en": 0.969,
    "xquad-de": 0.946,
    "xquad-es": 0.965,
    "xquad-zh": 0.967,
    "xquad-ar": 0.934,
    "xquad-ru": 0.953,
    "xquad-hi": 0.956,
    "xquad-th": 0.916,
}


class Bm25:
    """An in-memory index: per term the documents that hold it and how often."""

    def __init__(self, documents: Iterable[list[str]]) -> None:
        postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = []
        for number, terms in enumerate(documents):
            lengths.append(len(terms))
            for term, count in Counter(terms).items():
                postings[term].append((number, count))
        self.count = len(lengths)
        self.norm = K1 * (1 - B + B * np.array(lengths) / max(1.0, float(np.mean(lengths))))
        self.postings = {term: np.array(entries) for term, entries in postings.items()}

    def scores(self, terms: Iterable[tuple[str, int]]) -> NDArray[np.float64]:
        scores = np.zeros(self.count)
        for term, times in terms:
            if term in self.postings:
                documents, counts = self.postings[term].T
                idf = math.log(1 + (self.count - len(documents) + 0.5) / (len(documents) + 0.5))
                scores[documents] += times * idf * counts / (counts + self.norm[documents])
        return scores


def ndcg(scores: NDArray[np.float64], ids: list[str], gains: dict[str, int], depth: int = 10) -> float:
    top = sorted(np.flatnonzero(scores), key=lambda number: (-scores[number], ids[number]))[:depth]
    discounts = 1 / np.log2(np.arange(2, depth + 2))
    found = sum(gains.get(ids[number], 0) * discount for number, discount in zip(top, discounts, strict=False))
    ideal = sum(gain * d for gain, d in zip(sorted(gains.values(), reverse=True), discounts, strict=False))
    return float(found / ideal) if ideal else 0.0


def records(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def measure(folder: Path, language: str | None) -> tuple[float, float]:
    """nDCG@10, and the speed of analysing the corpus in MB of UTF-8 a second."""
    analyzer = TextAnalyzer()
    corpus = [
        (record["_id"], f"{record.get('title', '')}\n{record['text']}") for record in records(folder / "corpus.jsonl")
    ]
    begun = time.perf_counter()
    analysed = [analyzer.terms(text, language) for _, text in corpus]
    seconds = time.perf_counter() - begun
    index, ids = Bm25(analysed), [document_id for document_id, _ in corpus]
    judged: defaultdict[str, dict[str, int]] = defaultdict(dict)
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if int(row["score"]) > 0:
                judged[row["query-id"]][row["corpus-id"]] = int(row["score"])
    values = [
        ndcg(index.scores(analyzer.query(record["text"], [language]).counted()), ids, judged[record["_id"]])
        for record in records(folder / "queries.jsonl")
        if record["_id"] in judged
    ]
    return float(np.mean(values)), sum(len(text.encode()) for _, text in corpus) / 1e6 / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=list(REFERENCE))
    parser.add_argument("--unknown-language", action="store_true", help="analyse as text of unknown language")
    arguments = parser.parse_args()
    data = Path(os.environ["SEAMLINE_DATA"])
    behind = []
    print(f"{'set':<14}{'nDCG@10':>9}{'reference':>11}{'difference':>12}{'MB/s':>7}")
    for name in arguments.sets:
        suffix = name.rpartition("-")[2]
        language = None if arguments.unknown_language else suffix if len(suffix) == 2 else "en"
        value, speed = measure(data / name, language)
        difference = value - REFERENCE[name]
        print(f"{name:<14}{value:>9.4f}{REFERENCE[name]:>11.3f}{difference:>+12.4f}{speed:>7.1f}", flush=True)
        if difference < -TOLERANCE:
            behind.append(name)
    if behind:
        raise SystemExit(f"more than {TOLERANCE} below the reference: {', '.join(behind)}")


if __name__ == "__main__":
    main()
