"""A copy of a kb's file while it is in use, and the way back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from seamline.errors import StoreError, UsageError
from seamline.store.embedded.failures import translated
from seamline.store.embedded.schema import FILE, connect_to_read, holds_kb


def save(folder: Path, destination: Path) -> None:
    """Copy the last committed state of the kb in ``folder`` to a new file, with SQLite's online backup.

    Raises:
        UsageError: the destination exists.
        StoreError: nothing was ever written to the kb, or a file cannot be read or written.
    """
    if destination.exists():
        raise UsageError(f"{destination} exists already", hint="name a new file")
    if not (folder / FILE).exists():
        raise StoreError(f"there is nothing to back up in {folder}", hint="index something first")
    draft = destination.with_name(f"{destination.name}.part")
    with closing(connect_to_read(folder / FILE).connection) as source, translated(draft):
        draft.unlink(missing_ok=True)
        try:
            with closing(sqlite3.connect(draft)) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
            draft.replace(destination)
        finally:
            draft.unlink(missing_ok=True)


def restore(saved: Path, folder: Path) -> None:
    """Put a saved file into the empty folder of a new kb.

    Raises:
        SchemaError: the file is not a kb, or of a newer schema.
        StoreError: a file cannot be read or written.
    """
    path = folder / FILE
    with closing(connect_to_read(saved).connection) as source, translated(path):
        holds_kb(source, saved)
        with closing(sqlite3.connect(path)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = WAL")
