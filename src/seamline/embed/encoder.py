"""A loaded encoder: tokenizer and ONNX Runtime session, from texts to vectors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seamline.errors import EmbeddingError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from seamline.ports import Matrix

BATCH_TEXTS = 8
"""Texts in one float32 call; measured: 8 beats 1 and 32."""
BATCH_TOKENS = 1024
"""Tokens in one float32 call, padding included: bounds the memory of attention."""


class Encoder:
    """One single-threaded session, which any number of threads may run at once.

    Measured (benchmarks/embedding.py): calls side by side scale with the cores, and a question needs no
    more than one thread to stay far below 5 ms; so one copy of the weights serves both.
    """

    def __init__(self, model: Path, tokenizer: Path, *, window: int, batched: bool, threads: int) -> None:
        """Load both files. ``batched`` puts several texts into one call; ``threads`` 0 is one a core."""
        self._tokenizer = load_tokenizer(tokenizer, window)
        self._session = _session(model)
        self._batch_texts = BATCH_TEXTS if batched else 1
        self._threads = threads or available_cores()

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Float32 of shape ``(n, hidden)``, in the order of ``texts``, cut to the window."""
        import numpy as np

        # One call a text: the batch call would start threads of the tokenizer's own.
        tokens = [self._tokenizer.encode(text).ids for text in texts]
        batches = list(_batches([len(ids) for ids in tokens], self._batch_texts))
        runs = ([tokens[position] for position in batch] for batch in batches)
        if len(batches) == 1 or self._threads == 1:
            results = [self._run(run) for run in runs]
        else:
            with ThreadPoolExecutor(min(self._threads, len(batches)), "seamline-embed") as pool:
                results = list(pool.map(self._run, runs))
        vectors = np.empty((len(texts), results[0].shape[1]), dtype=np.float32)
        for batch, result in zip(batches, results, strict=True):
            vectors[batch] = result
        return vectors

    def _run(self, rows: Sequence[Sequence[int]]) -> Matrix:
        import numpy as np

        width = max(map(len, rows))
        ids = np.zeros((len(rows), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for position, row in enumerate(rows):
            ids[position, : len(row)] = row
            mask[position, : len(row)] = 1
        (output,) = self._session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})
        return cast("Matrix", output)


def load_tokenizer(path: Path, window: int | None) -> Tokenizer:
    """The tokenizer with truncation to ``window`` tokens (``None``: none) and without padding.

    The file's own truncation and padding (128 tokens, padded to 128) are not what the model card asks for.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    if window is None:
        tokenizer.no_truncation()
    else:
        tokenizer.enable_truncation(window)
    return tokenizer


def available_cores() -> int:
    """Cores that this process may use, which a container or ``taskset`` can make fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def _batches(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Positions sorted by length, longest first, in groups of at most ``most`` texts and ``BATCH_TOKENS`` tokens."""
    batch: list[int] = []
    widest = 0
    for position in sorted(range(len(lengths)), key=lambda position: -lengths[position]):
        if batch and (len(batch) == most or (len(batch) + 1) * widest > BATCH_TOKENS):
            yield batch
            batch = []
        if not batch:
            widest = lengths[position]
        batch.append(position)
    if batch:
        yield batch


def _session(model: Path) -> Any:  # noqa: ANN401 - onnxruntime ships no types
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises several unrelated types, all made in C++
        raise EmbeddingError(
            f"{model} cannot be loaded by onnxruntime {onnxruntime.__version__}: {error}",
            hint="delete the file: it is rebuilt from the weights",
        ) from error
