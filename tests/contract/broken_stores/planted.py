"""The reference store with a place to plant one bug: another snapshot, or another writer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from seamline.store.memory import MemoryStore, MemoryWriter
from seamline.store.memory_snapshot import MemorySnapshot


class BrokenStore(MemoryStore):
    """``fails`` names exactly the conformance tests that must notice the bug."""

    fails: ClassVar[frozenset[str]] = frozenset()
    snapshot: ClassVar[type[MemorySnapshot]] = MemorySnapshot
    writer: ClassVar[type[MemoryWriter]] = MemoryWriter

    @contextmanager
    def read(self) -> Iterator[MemorySnapshot]:
        self._require_open()
        yield self.snapshot(self._state, self._options, workspace=self._workspace, kb=self._kb)

    @contextmanager
    def write(self, *, timeout: float = 10.0) -> Iterator[MemoryWriter]:
        with super().write(timeout=timeout):
            writer = self.writer(self, self._options)
            try:
                yield writer
            finally:
                writer.close()
