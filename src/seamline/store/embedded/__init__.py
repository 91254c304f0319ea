"""The default store: one SQLite file a kb, holding text, postings and vectors that commit together.

``create`` is the entry point; everything else loads when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seamline.store.embedded.store import EmbeddedStore


def create(settings: Mapping[str, object], *, folder: Path, workspace: str, kb: str) -> EmbeddedStore:
    """The store in ``folder``; opening writes nothing, the first write creates the file.

    Reads the settings ``vector_dtype``, ``postings_cache_bytes``, ``scan_threads``, ``bm25_k1`` and ``bm25_b``.
    """
    from seamline.store.embedded.options import options_from
    from seamline.store.embedded.store import EmbeddedStore

    return EmbeddedStore(options_from(settings), folder=folder, workspace=workspace, kb=kb)
