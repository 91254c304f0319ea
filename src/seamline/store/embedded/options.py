"""What the embedded store can be told; the defaults live in the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``vector_dtype`` holds for vectors written from now on; stored ones keep theirs.

    ``postings_cache_bytes`` bounds decoded postings of one open store; ``scan_threads`` splits the dense scan
    (0 and 1 leave that to the threads of numpy's own matrix library); ``bm25_k1`` and ``bm25_b`` apply at query time.
    """

    vector_dtype: Literal["float16", "float32"]
    postings_cache_bytes: int
    scan_threads: int
    bm25_k1: float
    bm25_b: float


def options_from(settings: Mapping[str, object]) -> Options:
    """Pick this store's keys out of all settings, which have been validated already."""
    picked: dict[str, Any] = {item.name: settings[item.name] for item in fields(Options)}
    return Options(**picked)
