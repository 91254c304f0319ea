"""SQLite's and the file system's errors as ours: what failed, where, and what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seamline.errors import SeamlineError, StoreBusyError, StoreCorruptError, StoreError

_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_HINTS = {
    sqlite3.SQLITE_FULL: "free disk space and try again; the last committed state is intact",
    sqlite3.SQLITE_READONLY: "the file or its folder is read-only; make it writable to index",
    sqlite3.SQLITE_CANTOPEN: "check that the folder exists and that you may read and write it",
    sqlite3.SQLITE_IOERR: "the disk failed or is full; the last committed state is intact",
    sqlite3.SQLITE_PERM: "check the permissions of the file and its folder",
}


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise ``StoreCorruptError``, ``StoreBusyError`` or ``StoreError`` for what SQLite and the system raise."""
    try:
        yield
    except sqlite3.Error as error:
        raise _named(error, path) from error
    except OSError as error:
        raise StoreError(
            f"{path}: {error.strerror or error}", hint="check free space and permissions of the folder"
        ) from error


def _named(error: sqlite3.Error, path: Path) -> SeamlineError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _CORRUPT:
        return StoreCorruptError(
            f"{path} is damaged: {error}", hint="restore a backup, or delete the file and index the sources again"
        )
    if code in _BUSY:
        return StoreBusyError(f"{path} is locked by another program: {error}", hint="close it and try again")
    return StoreError(f"{path}: {error}", hint=_HINTS.get(code, "run `seamline doctor`"))
