"""PostgreSQL with pgvector: several knowledge bases and workspaces in one database, for many processes at once.

``create`` is the entry point; everything else loads when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seamline.store.postgres.store import PostgresStore


def create(settings: Mapping[str, object], *, folder: Path | None, workspace: str, kb: str) -> PostgresStore:
    """The store of one kb; connects when it is used, and the first write makes the tables.

    Reads the settings ``postgres_dsn``, ``postgres_pool_size``, ``postgres_keyword_scoring``, ``vector_dtype``,
    ``bm25_k1`` and ``bm25_b``; ``folder`` is not used. Raises ``SettingsError`` without a DSN.
    """
    from seamline.store.postgres.options import options_from
    from seamline.store.postgres.store import PostgresStore

    del folder
    return PostgresStore(options_from(settings), workspace=workspace, kb=kb)
