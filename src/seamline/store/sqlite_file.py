"""A small SQLite file of one table set: made at the first write, never changed by reading.

What the catalogue and the traces share: WAL mode, so that readers never wait; one writer at a time with a
bounded wait; a schema version that is checked before anything else; every failure a ``StoreError``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from seamline.errors import SchemaError, StoreBusyError, StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteFile:
    """The file ``path``; ``schema`` makes its tables at ``version``, ``what`` names it in errors.

    ``busy_timeout_s`` bounds the wait for another writer. ``durable``: a commit is on disk when it returns; else
    a power cut (not a crash of the process) may lose the last ones.
    """

    path: Path
    what: str
    schema: str
    version: int
    busy_timeout_s: float
    durable: bool

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection that cannot write, or ``None`` where nothing was written yet.

        Raises:
            SchemaError: a newer version wrote the file.
            StoreError: the file cannot be read.
        """
        if not self.path.exists():
            yield None
            return
        with self._failures("read"), closing(self._open_to_read()) as connection:
            # Version 0 is a file whose first commit never came.
            yield connection if self._checked_version(connection) else None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction on a connection of its own: see :meth:`open_to_write` and :meth:`transaction`."""
        with closing(self.open_to_write()) as connection, self.transaction(connection):
            yield connection

    def open_to_write(self) -> sqlite3.Connection:
        """A connection for :meth:`transaction`, from any thread, one at a time; makes what is absent.

        Raises:
            SchemaError: a newer version wrote the file.
            StoreBusyError: another writer took longer than ``busy_timeout_s``.
            StoreError: the file cannot be written.
        """
        with self._failures("write"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self.path, timeout=self.busy_timeout_s, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    @contextmanager
    def transaction(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Committed when the block ends, rolled back when it raises; raises as :meth:`open_to_write`."""
        with self._failures("write"):
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                self._checked_version(connection)  # another process may have upgraded it since it was opened
                yield

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if self._checked_version(connection) == 0:
            connection.execute("PRAGMA journal_mode = WAL")  # kept in the file
            with self.transaction(connection):
                if self._checked_version(connection) == 0:  # else another process was first
                    connection.execute(self.schema)
                    connection.execute(f"PRAGMA user_version = {self.version}")
        connection.execute(f"PRAGMA synchronous = {'FULL' if self.durable else 'NORMAL'}")

    def _open_to_read(self) -> sqlite3.Connection:
        uri = self.path.absolute().as_uri()
        connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=self.busy_timeout_s)
        try:
            connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            if self.path.with_name(f"{self.path.name}-wal").exists():
                raise
            # WAL needs a writable folder even to read. In one that is not, the file does not change either.
            return sqlite3.connect(f"{uri}?immutable=1", uri=True)
        except BaseException:
            connection.close()
            raise
        return connection

    def _checked_version(self, connection: sqlite3.Connection) -> int:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found > self.version:
            raise SchemaError(
                f"{self.path} has schema version {found}; this version knows up to {self.version}",
                hint="upgrade seamline; the file was left as it is",
            )
        return int(found)

    @contextmanager
    def _failures(self, verb: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise StoreBusyError(
                    f"{self.path}: another process is writing {self.what} (waited {self.busy_timeout_s:g} s)",
                    hint="try again",
                ) from error
            raise self._failed(verb, error) from error
        except (sqlite3.Error, OSError) as error:
            raise self._failed(verb, error) from error

    def _failed(self, verb: str, error: Exception) -> StoreError:
        return StoreError(
            f"cannot {verb} {self.what} in {self.path}: {error}",
            hint="check the folder's permissions and its free space",
        )
