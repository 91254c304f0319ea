"""Reads a golden set in whatever format it is in, and its corpus where the format carries one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from seamline.errors import UsageError
from seamline.evaluation.beir import BeirDocument, read_beir, read_beir_corpus
from seamline.evaluation.golden import GoldenSet, read_golden
from seamline.evaluation.squad import read_squad, read_squad_corpus
from seamline.evaluation.trec import read_trec


def read(path: Path, *, split: str = "test", qrels: Path | None = None) -> GoldenSet:
    """A golden set: a folder is BEIR, ``.json`` is SQuAD, topics with ``qrels`` are TREC, all else JSON Lines.

    Raises ``UsageError`` with everything that is wrong with it.
    """
    if qrels is not None:
        if path.is_dir():
            raise UsageError(f"{path}: --qrels belongs to TREC topics, and this is a folder")
        return read_trec(path, qrels)
    if path.is_dir():
        return read_beir(path, split=split)
    return read_squad(path) if path.suffix == ".json" else read_golden(path)


def corpus(path: Path) -> Iterator[BeirDocument] | None:
    """The documents that a golden set brings with it; ``None`` when it brings none."""
    if path.is_dir():
        return read_beir_corpus(path)
    return read_squad_corpus(path) if path.suffix == ".json" else None
