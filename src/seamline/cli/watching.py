"""``seamline index --watch``: a sync whenever the listing has changed and settled."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import click

from seamline.cli.options import Common, print_json


def watch_paths(told: Common, paths: Sequence[Path], interval: float, **options: Any) -> int:  # noqa: ANN401
    """Look every ``interval`` seconds; Ctrl-C and SIGTERM end it after the sync that runs, with exit code 0.

    A change is acted on when two looks in a row agree: a file that is being written is not read half.
    """
    from seamline import wire
    from seamline.cli import printing, render
    from seamline.errors import ListingError, MassDeletionError

    ended = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        ended.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with told.open() as kb:
            seen: object = None
            settled: object = None
            while not ended.is_set():
                try:
                    now = kb.listing(list(paths), source=options["source"], source_name=options["source_name"])
                    if now != settled and (now == seen or settled is None):
                        report = kb.index(list(paths), **options)
                        settled = now
                        if told.as_json:
                            print_json(wire.plain(report))
                        elif report.added or report.replaced or report.removed or report.failed or seen is None:
                            click.echo(time.strftime("%H:%M:%S "), nl=False)
                            render.sync_report(report, kb.embedder().space)
                    seen = now
                except (ListingError, MassDeletionError) as error:
                    render.errors.print(f"[yellow]not synced:[/] {printing.escape(str(error))}")
                    seen = None
                ended.wait(interval)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if not told.as_json:
        click.echo("ended; what was committed is kept")
    return 0
