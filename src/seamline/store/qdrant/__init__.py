"""Qdrant for the dense leg; text, postings and states in a record store (SQLite) beside it.

``create`` is the entry point; everything else loads when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seamline.store.qdrant.store import QdrantStore


def create(settings: Mapping[str, object], *, folder: Path, workspace: str, kb: str) -> QdrantStore:
    """The store of one kb: records in ``folder``, vectors in Qdrant.

    Reads the settings ``qdrant_url`` (unset: the client's own local mode in ``folder``), ``qdrant_api_key`` and
    those of the embedded store.
    """
    from seamline.store import embedded
    from seamline.store.qdrant.points import connect
    from seamline.store.qdrant.store import QdrantStore

    records = embedded.create(settings, folder=folder, workspace=workspace, kb=kb)
    return QdrantStore(records, lambda: connect(settings, folder), workspace=workspace, kb=kb)
