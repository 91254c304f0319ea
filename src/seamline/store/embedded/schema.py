"""The tables of ``kb.sqlite``, and how connections to it are opened.

``documents`` are the truth and belong to every index generation; what is derived from them (``chunks``,
``vectors``, ``segments``) carries ``index_generation``, so that a second one can be built beside the live one.
An ``ordinal`` numbers a chunk for good: it is never used again. A posting whose ordinal is no longer in
``chunks`` is dead; there is no other record of deletions that could disagree.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from seamline.errors import SchemaError
from seamline.store.embedded.failures import translated

FILE = "kb.sqlite"
"""The name of the kb's file in its folder."""
APPLICATION_ID = 0x5345414D
"""``SEAM``: tells our files from other SQLite files."""
SCHEMA_VERSION = 1
_PAGE_SIZE = 8192
"""Vectors and texts of about 1 kB waste less of a larger page: a tenth of the file against 4,096."""
LIVE = 1
"""The index generation that reads see."""

_TABLES = """
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counters VALUES ('generation', 0), ('next_ordinal', 1);
CREATE TABLE commits (generation INTEGER PRIMARY KEY, token BLOB NOT NULL);
CREATE TABLE bindings (index_generation INTEGER PRIMARY KEY, payload TEXT NOT NULL);
CREATE TABLE states (
    source TEXT NOT NULL, document_id TEXT NOT NULL, payload TEXT NOT NULL, PRIMARY KEY (source, document_id)
) WITHOUT ROWID;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, readable_by TEXT, metadata TEXT NOT NULL
);
CREATE TABLE document_payloads (number INTEGER PRIMARY KEY, payload BLOB NOT NULL);
CREATE TABLE chunks (
    index_generation INTEGER NOT NULL, id TEXT NOT NULL, ordinal INTEGER NOT NULL, document INTEGER NOT NULL,
    language TEXT, PRIMARY KEY (index_generation, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX chunks_by_ordinal ON chunks (index_generation, ordinal);
CREATE INDEX chunks_by_document ON chunks (document);
CREATE TABLE chunk_payloads (ordinal INTEGER PRIMARY KEY, payload BLOB NOT NULL);
CREATE TABLE vectors (
    ordinal INTEGER NOT NULL, name TEXT NOT NULL, text_sha256 TEXT NOT NULL, data BLOB NOT NULL
);
CREATE UNIQUE INDEX vectors_by_ordinal ON vectors (ordinal, name);
CREATE INDEX vectors_by_text ON vectors (text_sha256);
CREATE TABLE segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, index_generation INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, chunks INTEGER NOT NULL, live INTEGER NOT NULL, ordinals BLOB NOT NULL,
    lengths BLOB NOT NULL, terms BLOB NOT NULL, term_ends BLOB NOT NULL, posting_ends BLOB NOT NULL
);
CREATE TABLE posting_blocks (
    segment INTEGER NOT NULL, block INTEGER NOT NULL, width INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (segment, block)
);
"""


def connect_to_write(path: Path) -> sqlite3.Connection:
    """A connection for the holder of the write lock; creates the tables of a new kb.

    Raises:
        SchemaError: the file is not a kb, or of a newer schema; it is left as it is.
        StoreError: the file cannot be opened or written.
    """
    with translated(path):
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10.0)
        try:
            fresh = not holds_kb(connection, path)
            connection.execute("PRAGMA synchronous = FULL")
            if fresh:
                connection.execute(f"PRAGMA page_size = {_PAGE_SIZE}")
                connection.execute("PRAGMA journal_mode = WAL")
                _create(connection)
        except BaseException:
            connection.close()
            raise
    return connection


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection that cannot write, and whether it will see what others commit later."""

    connection: sqlite3.Connection
    follows: bool


def connect_to_read(path: Path) -> Opened:
    """Open a kb for reading. A folder in which none was written yet reads as an empty one.

    Raises:
        SchemaError: the file is not a kb, or of a newer schema.
        StoreError: the file cannot be opened.
    """
    if not path.exists():
        return Opened(_empty_kb(), follows=False)
    with translated(path):
        opened = _open_read_only(path)
        try:
            written = holds_kb(opened.connection, path)
        except BaseException:
            opened.connection.close()
            raise
        if not written:
            opened.connection.close()
            return Opened(_empty_kb(), follows=False)
    return opened


def _empty_kb() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _create(connection)
    return connection


def holds_kb(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is a kb that we can use; false for a file that nothing was written to yet."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == 0 and version == 0:
        (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if objects == 0:
            return False
    if application != APPLICATION_ID:
        raise SchemaError(f"{path} is an SQLite file, but not a knowledge base", hint="move it out of the kb's folder")
    if version != SCHEMA_VERSION:
        raise SchemaError(
            f"{path} has schema {version}; this version reads schema {SCHEMA_VERSION}",
            hint="upgrade Seamline; the file was not changed",
        )
    return True


def _create(connection: sqlite3.Connection) -> None:
    # One transaction, so that a crash leaves either no kb or a whole one.
    try:
        connection.execute("BEGIN IMMEDIATE")
        for statement in _TABLES.split(";\n"):
            if statement.strip():
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _open_read_only(path: Path) -> Opened:
    uri = path.absolute().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        connection.close()
        # A folder in which the -shm file cannot be made: readable all the same when no commit waits in a -wal.
        refused = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        wal = path.with_name(f"{path.name}-wal")
        if not refused or (wal.exists() and wal.stat().st_size):
            raise
        frozen = sqlite3.connect(f"{uri}?immutable=1", uri=True, isolation_level=None, check_same_thread=False)
        return Opened(frozen, follows=False)
    return Opened(connection, follows=True)
