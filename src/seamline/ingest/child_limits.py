"""Caps that the parser child puts on itself. Windows has none of them, and the child's greeting says so."""

from __future__ import annotations

import os
import signal
import sys

if sys.platform != "win32":
    import resource

_LARGEST_FILE = 1024 * 1024


def limit_files() -> None:
    """No core dumps, and no file larger than what a parser may print."""
    if sys.platform == "win32":
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def renew(*, memory: int | None, seconds: float) -> None:
    """Allow ``memory`` bytes beyond what is mapped now (``None``: no cap), and CPU time for one more file."""
    if sys.platform == "win32":
        return
    mapped = address_space()
    if mapped is not None:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (hard if memory is None else mapped + memory, hard))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    # The parent's clock ends a slow file; this one ends a child whose parent is gone.
    seconds_allowed = int(usage.ru_utime + usage.ru_stime + 2 * seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (seconds_allowed, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def address_space() -> int | None:
    """Bytes mapped by this process; ``None`` where the system does not say, and a cap would be a guess."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None
