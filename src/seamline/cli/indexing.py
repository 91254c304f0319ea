"""``seamline index``, ``status`` and ``access``: what is in a knowledge base, and how it gets there."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seamline.cli.options import Common, common, names, print_json
from seamline.errors import MassDeletionError

if TYPE_CHECKING:
    from seamline.types import SyncReport


@click.command("index")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, allow_dash=True, path_type=Path))
@click.option("--source", default="folder", show_default=True, metavar="KIND", help="What PATHS are; see providers.")
@click.option("--source-name", metavar="S", help="Name of the source [default: its path].")
@click.option("--readable-by", metavar="NAME,...", help="Who may read these documents (users or groups).")
@click.option("--allow-mass-delete", is_flag=True, help="Allow removing a large share of the documents.")
@click.option("--dry-run", is_flag=True, help="Only list what would happen.")
@click.option("--strict", is_flag=True, help="Stop at the first document that cannot be indexed.")
@click.option("--watch", is_flag=True, help="Keep the knowledge base equal to PATHS until Ctrl-C.")
@click.option(
    "--interval", type=click.FloatRange(0.05, 3600), default=2.0, show_default=True, help="Seconds between looks."
)
@click.option("--explain", is_flag=True, help="Show what would be extracted from files, and index nothing.")
@common
def index_command(
    told: Common,
    paths: tuple[Path, ...],
    source: str,
    source_name: str | None,
    readable_by: str | None,
    allow_mass_delete: bool,
    dry_run: bool,
    strict: bool,
    watch: bool,
    interval: float,
    explain: bool,
) -> int:
    """Make a knowledge base equal to folders or files; ``-`` is a document on standard input.

    New documents are added, changed ones replaced, vanished ones removed, unchanged ones skipped. Exit code
    1 means that some documents could not be indexed; they are listed with the reason.
    """
    from seamline import wire
    from seamline.cli import render

    if watch and (dry_run or explain or source == "stdin" or Path("-") in paths):
        raise click.UsageError("--watch goes neither with --dry-run, nor with --explain, nor with standard input")
    if explain:
        from seamline.cli.explaining import explain_files

        return explain_files(told, paths)
    if watch:
        from seamline.cli.watching import watch_paths

        options = {"readable_by": names(readable_by), "allow_mass_delete": allow_mass_delete, "strict": strict}
        return watch_paths(told, paths, interval, source=source, source_name=source_name, **options)
    with told.open() as kb:

        def synced(*, allowed: bool) -> SyncReport:
            with render.sync_progress(quiet=told.as_json) as progress:
                return kb.index(
                    list(paths),
                    source=source,
                    source_name=source_name,
                    readable_by=names(readable_by),
                    allow_mass_delete=allowed,
                    dry_run=dry_run,
                    strict=strict,
                    progress=progress,
                )

        try:
            report = synced(allowed=allow_mass_delete)
        except MassDeletionError as error:
            _ask(error, told)
            report = synced(allowed=True)
        space = kb.embedder().space
    if told.as_json:
        print_json(wire.plain(report))
    else:
        render.sync_report(report, space)
    return _exit_code(report)


def _ask(error: MassDeletionError, told: Common) -> None:
    """On a terminal the owner decides; elsewhere the refusal stands, and names the flag."""
    if told.as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise error
    click.echo(error.message, err=True)
    click.confirm("Remove them?", abort=True, err=True)


def _exit_code(report: SyncReport) -> int:
    return 1 if report.failed else 0


@click.command("status")
@common
@click.option("--documents", "listed", is_flag=True, help="List the documents that you may read.")
def status_command(told: Common, listed: bool) -> int:
    """Show what a knowledge base holds, and which documents could not be indexed and why."""
    from seamline import jobs, wire
    from seamline.cli import render
    from seamline.ingest.plan import indexed

    with told.open() as kb, kb.read() as snapshot:
        statistics = snapshot.statistics(kb.scope)
        states = snapshot.states(kb.scope)
        bound = snapshot.binding(kb.scope)
        folder = str(kb.folder) if kb.folder else None
        unfinished = jobs.unfinished(kb.folder)
        documents = [document.id for document in snapshot.documents(kb.scope)] if listed else None
    failed = [state for state in states.values() if state.status.value == "failed"]
    shown: dict[str, Any] = {
        "kb": told.kb,
        "workspace": told.workspace,
        "folder": folder,
        "documents": statistics.documents,
        "chunks": statistics.chunks,
        "generation": statistics.generation,
        "languages": dict(statistics.languages),
        "space": f"{bound.space.provider} {bound.space.model} {bound.space.precision}" if bound else None,
        "stand_in": bound.space.stand_in if bound else None,
        "sources": dict(Counter(state.source for state in states.values() if indexed(state))),
        "states": dict(Counter(state.status.value for state in states.values())),
        "failed": [
            {"document_id": s.document_id, "reason": s.reason, "retryable": s.retryable, "source": s.source}
            for s in sorted(failed, key=lambda s: s.document_id)
        ],
    }
    if unfinished:
        shown["unfinished"] = [wire.plain(job) for job in unfinished]
    if documents is not None:
        shown["document_ids"] = sorted(documents)
    if told.as_json:
        print_json(shown)
    else:
        render.status(shown)
    return 0


@click.group("access")
def access_command() -> None:
    """Show or change who may read a document."""


@access_command.command("show")
@click.argument("document")
@common
def access_show(told: Common, document: str) -> int:
    """Show a document's access list."""
    from seamline.types import DocumentId

    with told.open() as kb, kb.read() as snapshot:
        readable_by = snapshot.document(kb.scope, DocumentId(document)).readable_by
    shown = None if readable_by is None else sorted(readable_by)
    if told.as_json:
        print_json({"document_id": document, "readable_by": shown})
    else:
        click.echo(f"{document}: {'everyone in the workspace' if shown is None else ', '.join(shown) or 'nobody'}")
    return 0


@access_command.command("set")
@click.argument("document")
@click.option("--readable-by", metavar="NAME,...", help="Users or groups; an empty string is nobody but the owner.")
@click.option("--everyone", is_flag=True, help="Everyone in the workspace.")
@common
def access_set(told: Common, document: str, readable_by: str | None, everyone: bool) -> int:
    """Change a document's access list; nothing is parsed or embedded again."""
    if everyone == (readable_by is not None):
        raise click.UsageError("give either --readable-by or --everyone")
    with told.open() as kb:
        kb.set_access(document, names(readable_by))
    if told.as_json:
        print_json({"document_id": document, "readable_by": names(readable_by)})
    else:
        click.echo(f"{document}: changed")
    return 0
