"""The write lock: one writer a kb among all processes, freed by the system when its holder dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seamline.errors import StoreBusyError
from seamline.store.embedded.failures import translated

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        # Far beyond the content, because a locked range cannot be read on Windows.
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


_POLL_S = 0.01


@contextmanager
def write_lock(path: Path, timeout: float) -> Iterator[None]:
    """Hold the lock file ``path``; it stays on disk and holds the pid of its last holder.

    Raises:
        StoreBusyError: another writer held it for ``timeout`` seconds; its pid is in the message.
        StoreError: the lock file cannot be made.
    """
    with translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _acquire(descriptor, path, timeout)
        with translated(path):
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, str(os.getpid()).encode("ascii"))
        yield
    finally:
        os.close(descriptor)  # which frees the lock


def _acquire(descriptor: int, path: Path, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while not _try_lock(descriptor):
        if time.monotonic() >= deadline:
            holder = path.read_text(encoding="ascii", errors="replace").strip() or "unknown"
            raise StoreBusyError(
                f"{path.parent}: another writer, process {holder}, holds the lock (waited {timeout:g} s)",
                hint="wait until it is done, or raise write_timeout_s",
            )
        time.sleep(_POLL_S)
