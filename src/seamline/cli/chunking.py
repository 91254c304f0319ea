"""``seamline chunk``: documents as chunks, in an artifact or drawn in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from seamline.cli.options import Common, common, print_json

if TYPE_CHECKING:
    from seamline.ports import Embedder
    from seamline.types import Failure


@click.command("chunk")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Artifact to write; NAME.jsonl or NAME.jsonl.zst."
)
@click.option("--show", is_flag=True, help="Draw the borders of parents and children over the text.")
@common
def chunk_command(told: Common, paths: tuple[Path, ...], output: Path | None, show: bool) -> int:
    """Cut documents into chunks without indexing them.

    With --output, the chunks and their documents go into one checked file, which `seamline index` takes. How they
    are cut is decided by settings: --set chunker=fixed --set chunk_chars=300.
    """
    from seamline import wire
    from seamline.chunking import chunk_documents, folder_documents
    from seamline.cli import render_chunks

    if output is None and not show:
        raise click.UsageError("give --output FILE, --show, or both")
    failed: list[Failure] = []
    values = told.settings().values.mapping()
    embedder = _embedder(told)
    if show:
        render_chunks.drawn(folder_documents(paths, values, failed), values, embedder)
    if output is not None:
        failed.clear()
        given = folder_documents(paths, values, failed)
        result = chunk_documents(given, output=output, embedder=embedder, settings=values)
        if told.as_json:
            print_json(wire.plain(result) | {"failed": wire.plain(failed)})
        else:
            render_chunks.written(result)
    if not told.as_json:
        render_chunks.failures(failed)
    return 1 if failed else 0


def _embedder(told: Common) -> Embedder | None:
    """What the chunker divides by, of the kb where there is one; loaded only when the chunker needs it."""
    from seamline.settings import home_dir
    from seamline.spaces import embedder_for

    values = told.settings().values
    return embedder_for(values, None, home_dir(told.home)) if values.chunker in ("semantic", "hybrid") else None
