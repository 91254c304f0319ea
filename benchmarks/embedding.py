"""Speed of the local embedder on this machine, beside the bare ONNX Runtime session in the same run.

    python benchmarks/embedding.py [--cache DIR] [--passages N]

Passages of about 120 tokens, questions of about 12. One line a precision; "raw" is one single-threaded
session given the same token ids, one text a call for int8 and 8 for float32.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

import numpy as np
import onnxruntime  # type: ignore[import-untyped]

from seamline.embed import built, encoder, weights
from seamline.embed.local import LocalEmbedder, LocalOptions

WORDS = (__doc__ or "").split()


def texts(count: int, words: int) -> list[str]:
    generator = random.Random(20)
    return [" ".join(generator.choices(WORDS, k=words)) for _ in range(count)]


def rate(call: Callable[[], object], count: int) -> float:
    begun = time.perf_counter()
    call()
    return count / (time.perf_counter() - begun)


def milliseconds(call: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    taken = []
    for question in questions:
        begun = time.perf_counter()
        call(question)
        taken.append(1000 * (time.perf_counter() - begun))
    return sorted(taken)


def raw(model: Path, tokenizer: Path, passages: list[str], batch: int) -> Callable[[], object]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    tokens = encoder.load_tokenizer(tokenizer, 256)
    rows = sorted((tokens.encode(passage).ids for passage in passages), key=len)
    feeds = []
    for start in range(0, len(rows), batch):
        group = rows[start : start + batch]
        width = max(map(len, group))
        ids = np.array([row + [0] * (width - len(row)) for row in group], dtype=np.int64)
        mask = np.array([[1] * len(row) + [0] * (width - len(row)) for row in group], dtype=np.int64)
        feeds.append({"input_ids": ids, "attention_mask": mask})
    return lambda: [session.run(["embedding"], feed) for feed in feeds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "seamline-benchmark-models")
    parser.add_argument("--passages", type=int, default=200)
    arguments = parser.parse_args()
    passages, questions = texts(arguments.passages, 75), texts(200, 8)
    files = weights.locate(None, arguments.cache)
    print(f"onnxruntime {onnxruntime.__version__}, {encoder.available_cores()} cores, {files.found_in}")
    print(f"{'':<9}{'raw 1 core':>12}{'1 thread':>10}{'all cores':>11}   passages/s")
    for precision in get_args(built.Precision):
        embedders = {
            threads: LocalEmbedder(
                LocalOptions(precision=precision, threads=threads, model_dir=None, cache_dir=arguments.cache)
            )
            for threads in (1, 0)
        }
        for embedder in embedders.values():
            embedder.embed_passages(passages[:8])
        model = built.built_model(files, arguments.cache, precision)
        bare = rate(raw(model, files.tokenizer, passages, 8 if precision == "float32" else 1), len(passages))
        one, every = (
            rate(lambda embedder=embedder: embedder.embed_passages(passages), len(passages))  # type: ignore[misc]
            for embedder in embedders.values()
        )
        taken = milliseconds(embedders[0].embed_query, questions)
        tokens = statistics.mean(embedders[0].count_tokens(passages))
        print(
            f"{precision:<9}{bare:>12.1f}{one:>10.1f}{every:>11.1f}   at {tokens:.0f} tokens; "
            f"question P50 {statistics.median(taken):.2f} ms, P99 {taken[int(0.99 * len(taken))]:.2f} ms"
        )


if __name__ == "__main__":
    main()
