"""The PostgreSQL store: where readers, the writer and their connections are put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from seamline.errors import StoreError
from seamline.store.memory_snapshot import MemorySnapshot, State
from seamline.store.memory_snapshot import Options as EmptyOptions
from seamline.store.postgres.check import findings
from seamline.store.postgres.failures import translated
from seamline.store.postgres.kb import read_kb
from seamline.store.postgres.lock import write_lock
from seamline.store.postgres.options import Options
from seamline.store.postgres.schema import connect, migrate, narrow
from seamline.store.postgres.session import ReadPool
from seamline.store.postgres.snapshot import PostgresSnapshot
from seamline.store.postgres.writer import PostgresWriter
from seamline.types import Finding


class PostgresStore:
    """One kb of one workspace. Safe for many threads and processes that read, and one writer among all of them."""

    def __init__(self, options: Options, *, workspace: str, kb: str) -> None:
        """Connect to nothing yet: a database without our tables reads as an empty kb, the first write makes them."""
        self._options = options
        self._workspace = workspace
        self._kb = kb
        self._pool = ReadPool(options.postgres_dsn, workspace, options.postgres_pool_size)
        self._closed = False

    @property
    def kb(self) -> str:
        """The knowledge base's name."""
        return self._kb

    @contextmanager
    def read(self) -> Iterator[PostgresSnapshot | MemorySnapshot]:
        """The last committed state, whoever committed it.

        Raises:
            StoreError: the store is closed, or the server cannot be reached.
            SchemaError: a newer version wrote the schema.
        """
        self._require_open()
        with self._pool.session() as session:
            found = None if session is None else read_kb(session, self._workspace, self._kb)
            if session is None or found is None:
                yield self._empty()
            else:
                yield PostgresSnapshot(session, found, self._options)

    @contextmanager
    def write(self, *, timeout: float = 10.0) -> Iterator[PostgresWriter]:
        """The one writer; makes or upgrades the tables when needed.

        Raises:
            StoreBusyError: another one held the lock for ``timeout`` seconds; its process is in the message.
            StoreError: the store is closed, or the server cannot be reached.
        """
        self._require_open()
        migrate(self._options.postgres_dsn)
        with translated("write"):
            connection = connect(self._options.postgres_dsn)
        try:
            with translated("write"):
                narrow(connection, self._workspace)
                write_lock(connection, self._workspace, self._kb, timeout)
            writer = PostgresWriter(connection, self._workspace, self._kb, self._options.vector_dtype)
            try:
                yield writer
            finally:
                writer.end()
        finally:
            connection.close()  # which frees the lock

    def check(self) -> list[Finding]:
        """Integrity findings: statistics and postings recounted, spans, hashes, search configurations."""
        self._require_open()
        with self._pool.session() as session:
            found = None if session is None else read_kb(session, self._workspace, self._kb)
            return [] if session is None or found is None else findings(session, found)

    def capabilities(self) -> Mapping[str, str]:
        """Exact dense leg, the named keyword scoring, durable in the server."""
        return {
            "dense": "exact",
            "keyword_scoring": self._options.postgres_keyword_scoring,
            "durability": "server",
        }

    def drop(self) -> None:
        """Delete the kb with all that belongs to it; does nothing when it is not there."""
        with self.write() as writer:
            writer.drop()

    def close(self) -> None:
        """Close the connections; idempotent."""
        self._closed = True
        self._pool.close()

    def _empty(self) -> MemorySnapshot:
        options = EmptyOptions(
            vector_dtype=self._options.vector_dtype, bm25_k1=self._options.bm25_k1, bm25_b=self._options.bm25_b
        )
        return MemorySnapshot(State(), options, workspace=self._workspace, kb=self._kb)

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError(f"kb {self._kb!r}: the store is closed", hint="open it again")
