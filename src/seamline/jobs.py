"""Which sync of a knowledge base has begun and not ended: a small file beside the store, so that a restart knows it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from seamline.errors import SeamlineError

FILE_NAME = "sync.json"


@dataclass(frozen=True, slots=True)
class Job:
    """A sync that has not ended. ``started_at`` is ISO 8601 in UTC; ``running``: its process lives on this machine."""

    source: str
    started_at: str
    running: bool


@contextmanager
def recorded(folder: Path | None, source: str) -> Iterator[None]:
    """Record a sync while it runs. An interruption or a crash leaves the record; an error that was told does not."""
    if folder is None:
        yield
        return
    file = folder / FILE_NAME
    started = datetime.now(UTC).isoformat(timespec="seconds")
    partial = file.with_suffix(f".{os.getpid()}")
    partial.write_text(json.dumps({"source": source, "started_at": started, "pid": os.getpid()}), encoding="utf-8")
    partial.replace(file)
    try:
        yield
    except SeamlineError:
        file.unlink(missing_ok=True)
        raise
    file.unlink(missing_ok=True)


def unfinished(folder: Path | None) -> Job | None:
    """The sync of a kb's folder that has not ended; ``None`` for none, and for a record that cannot be read."""
    if folder is None:
        return None
    try:
        record = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        return Job(str(record["source"]), str(record["started_at"]), _alive(int(record["pid"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        try:
            os.kill(pid, 0)
        except PermissionError:  # alive, and another user's
            return True
        return True
    return False
