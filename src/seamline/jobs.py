"""Which syncs of a knowledge base did not come to their end: a small file a source, beside the index.

It is written when a sync begins to work and removed when it is done, so that one that is left tells of a run that
was interrupted, however it ended. The index itself never depends on it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from seamline.errors import SeamlineError, StoreBusyError, StoreError
from seamline.store.embedded.lock import write_lock
from seamline.types import Progress

_EVERY_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A sync that has not ended: ``done`` of ``total`` entries, and the last one it worked on.

    ``reason`` is ``None`` while nothing is known but that it stopped; ``running`` says that it has not.
    """

    source: str
    started_at: str
    done: int
    total: int
    document_id: str | None
    reason: str | None = None
    running: bool = False


@contextmanager
def recorded(
    folder: Path | None,
    source: str,
    progress: Callable[[Progress], None],
    *,
    timeout: float,
) -> Iterator[Callable[[Progress], None]]:
    """Keep a journal of one sync; gives the progress function to hand to it. No folder, no journal.

    What is refused before work begins leaves the journal of an earlier run as it is. Raises ``StoreBusyError``
    when another sync of the same source runs for longer than ``timeout`` seconds.
    """
    if folder is None:
        yield progress
        return
    path = _path(folder, source)
    with ExitStack() as held:
        held.enter_context(write_lock(path.with_suffix(".lock"), timeout))
        started_at, last, run = datetime.now(UTC).isoformat(timespec="seconds"), 0.0, None

        def step(now: Progress) -> None:
            nonlocal last, run
            run = Job(
                source=source,
                started_at=started_at,
                done=now.done,
                total=now.total or 0,
                document_id=now.document_id,
            )
            if time.monotonic() - last >= _EVERY_S:
                _write(path, run)
                last = time.monotonic()
            progress(now)

        try:
            yield step
        except BaseException as error:
            if run is not None:
                _write(path, run, error.message if isinstance(error, SeamlineError) else type(error).__name__)
            raise
        path.unlink(missing_ok=True)


def unfinished(folder: Path | None) -> list[Job]:
    """The runs that did not end, those still running included, by source. Raises ``StoreError`` for a broken file."""
    if folder is None:
        return []
    return sorted((_read(path) for path in folder.glob("sync-*.json")), key=lambda run: run.source)


def _path(folder: Path, source: str) -> Path:
    return folder / f"sync-{hashlib.sha256(source.encode('utf-8', 'replace')).hexdigest()[:16]}.json"


def _write(path: Path, run: Job, reason: str | None = None) -> None:
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(asdict(run) | {"reason": reason}), encoding="utf-8")
    os.replace(partial, path)


def _read(path: Path) -> Job:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        run = Job(**(held | {"running": False}))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(
            f"{path}: not a journal of a run ({error})", hint="remove it; the index does not need it"
        ) from error
    try:
        with write_lock(path.with_suffix(".lock"), 0.0):
            return run
    except StoreBusyError:
        return replace(run, running=True)
