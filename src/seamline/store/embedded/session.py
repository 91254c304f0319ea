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
from seamline.store.embedded.schema import Opened, connect_to_read

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
        self._idle: list[tuple[int, Opened]] = []
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A read transaction that sees the last committed state, for as long as the context is open."""
        inode = self._inode()
        opened = self._take(inode)
        session = Session(opened.connection, self._path)
        try:
            session.query("BEGIN", ())
            session.query("SELECT 1 FROM sqlite_schema", ())  # a transaction begins with its first read
            yield session
        except BaseException:
            session.end()  # first, so that a thread that still reads gets an error and not a closed connection
            opened.connection.close()
            raise
        session.end()
        self._give_back(inode, opened)

    def close(self) -> None:
        """Close all that wait; connections in use close when they are given back."""
        with self._lock:
            self._closed = True
            for _, opened in self._idle:
                opened.connection.close()
            self._idle.clear()

    def _inode(self) -> int | None:
        try:
            return self._path.stat().st_ino
        except FileNotFoundError:
            return None

    def _take(self, inode: int | None) -> Opened:
        with self._lock:
            while self._idle:
                known, opened = self._idle.pop()
                if known == inode:
                    return opened
                opened.connection.close()
        return connect_to_read(self._path)

    def _give_back(self, inode: int | None, opened: Opened) -> None:
        with self._lock:
            if opened.follows and inode is not None and not self._closed:
                self._idle.append((inode, opened))
            else:
                opened.connection.close()
