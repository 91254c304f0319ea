"""One read transaction on one connection, usable from several threads, and the pool that connections rest in."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seamline.errors import StoreError
from seamline.store.embedded.failures import translated
from seamline.store.embedded.schema import connect_to_read, empty_kb

_PARAMETERS = 500


class Session:
    """Statements of one snapshot, one at a time: both legs may read from it at once."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._lock = threading.Lock()
        self._ended = False

    def end(self) -> None:
        """End the transaction and refuse further statements."""
        with translated(self._path), self._lock:
            self._ended = True
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def query(self, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """All rows of a statement; raises what :func:`translated` makes of SQLite's errors."""
        with translated(self._path), self._lock:
            if self._ended:
                raise StoreError("this snapshot's context has ended", hint="read inside `with store.read()`")
            return self._connection.execute(sql, parameters).fetchall()

    def query_each(self, sql: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement that ends in ``IN``, for values however many; in no order, read by the page."""
        for start in range(0, len(values), _PARAMETERS):
            page = values[start : start + _PARAMETERS]
            yield from self.query(f"{sql} ({','.join('?' * len(page))})", page)


class ReadPool:
    """Read-only connections that wait for the next reader. Those to a file that was replaced are closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[tuple[int | None, sqlite3.Connection]] = []
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A read transaction that sees the last committed state, for as long as the context is open."""
        inode = self._inode()
        connection = self._take(inode)
        kept = connection is not None
        if connection is None:
            connection = empty_kb()  # and the next reader looks again
        try:
            session = Session(connection, self._path)
            session.query("BEGIN", ())
            session.query("SELECT 1 FROM sqlite_schema", ())  # a transaction begins with its first read
            yield session
            session.end()
        except BaseException:
            connection.close()
            raise
        self._give_back(inode if kept else None, connection)

    def close(self) -> None:
        """Close all that wait; connections in use close when they are given back."""
        with self._lock:
            self._closed = True
            for _, connection in self._idle:
                connection.close()
            self._idle.clear()

    def _inode(self) -> int | None:
        try:
            return self._path.stat().st_ino
        except FileNotFoundError:
            return None

    def _take(self, inode: int | None) -> sqlite3.Connection | None:
        with self._lock:
            while self._idle and inode is not None:
                known, connection = self._idle.pop()
                if known == inode:
                    return connection
                connection.close()
        return connect_to_read(self._path)

    def _give_back(self, inode: int | None, connection: sqlite3.Connection) -> None:
        with self._lock:
            if self._closed or inode is None:
                connection.close()
            else:
                self._idle.append((inode, connection))
