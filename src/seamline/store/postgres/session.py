"""One read transaction on one connection, usable from several threads, and the pool that connections rest in."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool

from seamline.errors import StoreError
from seamline.store.postgres.failures import translated
from seamline.store.postgres.schema import CONNECT_TIMEOUT_S, connect, installed_version, narrow

Parameters = Sequence[Any] | Mapping[str, Any]


class Session:
    """Statements of one snapshot, one at a time: both legs may read from it at once."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._ended = False

    def query(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement; raises what :func:`translated` makes of the driver's errors."""
        with translated("read"), self._lock:
            if self._ended:
                raise StoreError("this snapshot's context has ended", hint="read inside `with store.read()`")
            return self._connection.execute(sql.encode(), parameters).fetchall()

    def end(self) -> None:
        """End the transaction and refuse further statements."""
        with self._lock:
            self._ended = True
            if not self._connection.closed:
                self._connection.execute("ROLLBACK")


class ReadPool:
    """Connections narrowed to one workspace, made when the first reader comes to a database with our schema."""

    def __init__(self, dsn: str, workspace: str, size: int) -> None:
        self._dsn = dsn
        self._workspace = workspace
        self._size = size
        self._pool: ConnectionPool[psycopg.Connection] | None = None
        self._lock = threading.Lock()

    @contextmanager
    def session(self) -> Iterator[Session | None]:
        """A snapshot of the last committed state; ``None`` for a database to which nothing was written yet."""
        pool = self._ready()
        if pool is None:
            yield None
            return
        with self._connection(pool) as connection:
            with translated("read"):
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                connection.execute("SELECT 1")  # the snapshot is taken by the first statement
            session = Session(connection)
            try:
                yield session
            finally:
                with translated("read"):
                    session.end()

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            if self._pool is not None:
                self._pool.close()
                self._pool = None

    @contextmanager
    def _connection(self, pool: ConnectionPool[psycopg.Connection]) -> Iterator[psycopg.Connection]:
        with translated("read"):
            connection = pool.getconn()
        try:
            yield connection
        finally:
            pool.putconn(connection)

    def _ready(self) -> ConnectionPool[psycopg.Connection] | None:
        with self._lock, translated("read"):
            if self._pool is None:
                with connect(self._dsn) as connection:
                    if not installed_version(connection):
                        return None
                self._pool = ConnectionPool(
                    self._dsn,
                    kwargs={"autocommit": True, "application_name": "seamline reader"},
                    min_size=1,
                    max_size=self._size,
                    timeout=CONNECT_TIMEOUT_S,
                    configure=lambda connection: narrow(connection, self._workspace),
                    check=ConnectionPool.check_connection,
                    open=True,
                )
            return self._pool
