"""Embedded stores with the contract's settings, and small random corpora."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from seamline.conformance.store_case import filed
from seamline.ports import IndexedChunk
from seamline.store import embedded
from seamline.store.embedded.store import EmbeddedStore
from seamline.types import Document
from support.stores import store_settings

WORDS = ("red", "green", "blue", "stone", "river", "cloud", "lamp", "paper", "glass", "wool")


def open_store(folder: Path, **given: object) -> EmbeddedStore:
    """The store in a folder, as kb ``k`` of workspace ``w``."""
    return embedded.create(store_settings(**given), folder=folder, workspace="w", kb="k")


def made_up(document_id: str, seed: int, *, lines: int | None = None) -> tuple[Document, list[IndexedChunk]]:
    """A document of random words, the same for the same seed."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 5)) if lines is None else lines
    return filed(document_id, "\n".join(_words(random) for _ in range(count)))


def _words(random: np.random.Generator) -> str:
    chosen: Sequence[str] = random.choice(WORDS, size=int(random.integers(1, 9))).tolist()
    return " ".join(chosen)
