"""Traces: one JSON record a request, newest kept, in a file of their own beside the kb.

A trace holds ids, spans, hashes and numbers, never document text, so that a deleted document leaves no text
behind. What is kept is bounded by a count; the oldest go first.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from seamline.errors import NotFoundError, StoreError
from seamline.store.sqlite_file import SqliteFile

SCHEMA_VERSION = 1
MAX_TRACES = 10_000
"""How many traces a kb keeps unless told."""
BUSY_TIMEOUT_S = 2.0
"""How long a trace waits for another one to be written."""

_SCHEMA = """
CREATE TABLE traces (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  record TEXT NOT NULL
) STRICT
"""


class TraceStore:
    """The traces of one kb (:class:`~seamline.ports.TraceSink`); safe to use from any thread.

    ``put`` raises ``StoreError`` when a trace cannot be kept: whether a request may go on without one is the
    caller's decision.
    """

    def __init__(self, path: Path, *, max_traces: int = MAX_TRACES) -> None:
        """Keep traces in the SQLite file ``path``, made at the first ``put``; ``max_traces`` is at least 1."""
        self._file = SqliteFile(
            path=path,
            what="traces",
            schema=_SCHEMA,
            version=SCHEMA_VERSION,
            busy_timeout_s=BUSY_TIMEOUT_S,
            durable=False,
        )
        self._max_traces = max_traces
        self._lock = threading.Lock()
        # Kept open: closing the last connection of a WAL file copies the log back, some 30 ms a request.
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        """Let go of the file; idempotent. A later ``put`` opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def put(self, trace_id: str, record: Mapping[str, object]) -> None:
        """Store one trace, or replace the one with this id; the oldest beyond ``max_traces`` are dropped.

        Raises:
            StoreError: the record is not JSON, or the file cannot be written.
            SchemaError: a newer version wrote the file.
        """
        try:
            text = json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            raise StoreError(f"trace {trace_id!r} is not JSON: {error}") from error
        with self._lock:
            if self._connection is None:
                self._connection = self._file.open_to_write()
            with self._file.transaction(self._connection):
                self._connection.execute("INSERT OR REPLACE INTO traces (id, record) VALUES (?, ?)", (trace_id, text))
                self._connection.execute(
                    "DELETE FROM traces WHERE number <= "
                    "(SELECT number FROM traces ORDER BY number DESC LIMIT 1 OFFSET ?)",
                    (self._max_traces,),
                )

    def get(self, trace_id: str) -> dict[str, object]:
        """One trace; raises ``NotFoundError``."""
        found = self._select("WHERE id = ?", (trace_id,))
        if not found:
            raise NotFoundError(f"no trace {trace_id!r}", hint=f"only the last {self._max_traces} are kept")
        return found[0]

    def recent(self, limit: int) -> list[dict[str, object]]:
        """The newest traces, newest first, at most ``limit``."""
        return self._select("ORDER BY number DESC LIMIT ?", (max(limit, 0),))

    def _select(self, clause: str, values: Sequence[object]) -> list[dict[str, object]]:
        with self._file.reading() as connection:
            if connection is None:
                return []
            rows = connection.execute(f"SELECT record FROM traces {clause}", values).fetchall()  # noqa: S608
        return [json.loads(text) for (text,) in rows]
