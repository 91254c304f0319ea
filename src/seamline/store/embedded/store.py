"""The embedded store: where readers, the writer and what they share are put together."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from seamline.errors import StoreCorruptError, StoreError
from seamline.store.embedded.check import findings
from seamline.store.embedded.failures import translated
from seamline.store.embedded.index import Index, load_index, read_stamp
from seamline.store.embedded.lock import write_lock
from seamline.store.embedded.options import Options
from seamline.store.embedded.postings import PostingsCache
from seamline.store.embedded.schema import FILE, connect_to_write
from seamline.store.embedded.session import ReadPool, Session
from seamline.store.embedded.snapshot import EmbeddedSnapshot, Engine
from seamline.store.embedded.writer import EmbeddedWriter
from seamline.types import Finding

LOCK = "write.lock"


class EmbeddedStore:
    """One kb in one folder. Safe for many threads and processes that read, and one writer among all of them."""

    def __init__(self, options: Options, *, folder: Path, workspace: str, kb: str) -> None:
        """Open nothing yet: a folder without a kb reads as an empty one, and the first write creates it."""
        self._options = options
        self._folder = folder
        self._path = folder / FILE
        self._kb = kb
        self._pool = ReadPool(self._path)
        split = options.scan_threads
        self._engine = Engine(
            folder,
            workspace,
            kb,
            PostingsCache(options.postings_cache_bytes, k1=options.bm25_k1, b=options.bm25_b),
            ThreadPoolExecutor(split, thread_name_prefix="seamline-scan") if split > 1 else None,
            max(split, 1),
        )
        self._index: Index | None = None
        self._lock = threading.Lock()
        self._closed = False

    @property
    def kb(self) -> str:
        """The knowledge base's name."""
        return self._kb

    @contextmanager
    def read(self) -> Iterator[EmbeddedSnapshot]:
        """The last committed state, whichever process committed it.

        Raises:
            StoreError: the store is closed, or the file cannot be read.
            StoreCorruptError: the file is damaged, or is gone while its vector cache is still there.
            SchemaError: the file is not a kb, or of a newer schema.
        """
        self._require_open()
        self._refuse_lost_file()
        with self._pool.session() as session:
            yield EmbeddedSnapshot(session, self._current(session), self._engine)

    @contextmanager
    def write(self, *, timeout: float = 10.0) -> Iterator[EmbeddedWriter]:
        """The one writer.

        Raises:
            StoreBusyError: another one held the lock for ``timeout`` seconds; its pid is in the message.
            StoreError: the store is closed, or the file cannot be written.
        """
        self._require_open()
        self._refuse_lost_file()
        with write_lock(self._folder / LOCK, timeout):
            connection = connect_to_write(self._path)
            try:
                writer = EmbeddedWriter(connection, self._path, self._options.vector_dtype)
                try:
                    yield writer
                finally:
                    with translated(self._path):
                        writer.end()
                # So that the folder can be copied as it is when nobody has it open; readers are not waited for.
                with translated(self._path):
                    connection.execute("PRAGMA busy_timeout = 0")
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.close()

    def check(self) -> list[Finding]:
        """Integrity findings: the file, both legs, statistics, spans and hashes, each recounted from the rows."""
        self._require_open()
        self._refuse_lost_file()
        with self._pool.session() as session:
            return findings(session, self._path)

    def capabilities(self) -> Mapping[str, str]:
        """Exact in both legs, durable on disk."""
        return {"dense": "exact", "keyword_scoring": "bm25", "durability": "disk"}

    def close(self) -> None:
        """Close the file; idempotent. Open snapshots stay readable."""
        self._closed = True
        self._pool.close()
        self._index = None

    def _current(self, session: Session) -> Index:
        """The index of the session's generation: the one in memory, or one that is built on it."""
        with self._lock:
            index = self._index
            generation, token = read_stamp(session.query, None)
            if index is not None and (index.generation, index.token) == (generation, token):
                return index
            # A snapshot that began before the last commit, or a file of another history, builds on nothing.
            known = index is not None and index.token == read_stamp(session.query, index.generation)[1]
            self._index = load_index(session.query, index if known else None)
            self._engine.cache.forget_other_than(self._index)
            return self._index

    def _refuse_lost_file(self) -> None:
        if not self._path.exists() and any(self._folder.glob("vectors-*.f32")):
            raise StoreCorruptError(
                f"{self._path} is gone, but what was derived from it is still there",
                hint="restore the file from a backup, or delete the folder and index the sources again",
            )

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError(f"kb {self._kb!r}: the store is closed", hint="open it again")
