"""``seamline kb``, ``backup`` and ``restore``: whole knowledge bases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seamline.cli.options import Common, common, print_json

if TYPE_CHECKING:
    from seamline.transfer import Moved

_NEW_FILE = click.Path(dir_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("kb")
def kb_command() -> None:
    """List, show, copy, export, import and delete knowledge bases."""


@kb_command.command("list")
@click.option("--all", "every", is_flag=True, help="Those of every workspace.")
@common
def kb_list(told: Common, every: bool) -> int:
    """List the knowledge bases of the workspace."""
    from seamline import transfer
    from seamline.settings import home_dir

    found = transfer.listed(home_dir(told.home), None if every else told.workspace)
    rows = [
        {"workspace": item.workspace, "kb": item.name, "store": item.store, "created_at": item.created_at.isoformat()}
        for item in found
    ]
    if told.as_json:
        print_json(rows)
    for row in [] if told.as_json else rows:
        click.echo(f"{row['workspace']}/{row['kb']}  {row['store']}  {row['created_at'][:10]}")
    return 0


@kb_command.command("info")
@common
def kb_info(told: Common) -> int:
    """Show what a knowledge base holds and which store it is in."""
    with told.open() as kb:
        capabilities = dict(kb.store().capabilities())
        with kb.read() as snapshot:
            statistics = snapshot.statistics(kb.scope)
            bound = snapshot.binding(kb.scope)
            digest = snapshot.digest(kb.scope)
        shown = {
            "kb": told.kb,
            "workspace": told.workspace,
            "folder": str(kb.folder) if kb.folder else None,
            "documents": statistics.documents,
            "chunks": statistics.chunks,
            "commit": statistics.generation,
            "space": f"{bound.space.provider} {bound.space.model} {bound.space.precision}" if bound else None,
            "store": capabilities,
            "digest": digest,
        }
    if told.as_json:
        print_json(shown)
    for name, value in {} if told.as_json else shown.items():
        click.echo(f"{name:10} {value}")
    return 0


@kb_command.command("delete")
@click.option("--confirm", metavar="NAME", help="The kb's name again, instead of being asked for it.")
@common
def kb_delete(told: Common, confirm: str | None) -> int:
    """Delete a knowledge base with everything in it; its name must be typed."""
    from seamline import transfer

    with told.open() as kb:
        kb.store()
        typed = confirm if confirm is not None else click.prompt(f"Type {told.kb} to delete it")
        if typed != told.kb:
            raise click.UsageError(f"{typed!r} is not {told.kb!r}: nothing was deleted")
        transfer.delete(kb)
    if told.as_json:
        print_json({"deleted": told.kb})
    else:
        click.echo(f"{told.kb}: deleted")
    return 0


@kb_command.command("copy")
@click.argument("source")
@click.argument("target")
@click.option("--store", metavar="NAME", help="Store of the copy [default: the configured one].")
@click.option("--to-workspace", metavar="NAME", help="Workspace of the copy [default: the same].")
@common
def kb_copy(told: Common, source: str, target: str, store: str | None, to_workspace: str | None) -> int:
    """Copy a knowledge base into a new one, in any store, and verify it by its digest."""
    from seamline import transfer

    there = replace(told, kb=target, workspace=to_workspace or told.workspace)
    with replace(told, kb=source).open() as one, there.open(store=store) as other:
        return _moved(told, transfer.copy(one, other), f"{source} -> {target}")


@kb_command.command("export")
@click.argument("file", type=_NEW_FILE)
@common
def kb_export(told: Common, file: Path) -> int:
    """Write a knowledge base into a new file that any store can import."""
    from seamline import transfer

    if file.exists():
        raise click.UsageError(f"{file} exists already")
    with told.open() as kb:
        return _moved(told, transfer.export(kb, file), str(file))


@kb_command.command("import")
@click.argument("file", type=_FILE)
@click.option("--store", metavar="NAME", help="Store of the new kb [default: the configured one].")
@common
def kb_import(told: Common, file: Path, store: str | None) -> int:
    """Make a new knowledge base of an exported file; the file is verified first."""
    from seamline import transfer

    with told.open(store=store) as kb:
        return _moved(told, transfer.load(file, kb), told.kb)


@click.command("backup")
@click.argument("file", type=_NEW_FILE)
@common
def backup_command(told: Common, file: Path) -> int:
    """Copy an embedded knowledge base into one file, while it is in use."""
    from seamline import transfer

    with told.open() as kb:
        transfer.save(kb, file)
    if told.as_json:
        print_json({"file": str(file)})
    else:
        click.echo(f"{told.kb} is saved in {file}; `seamline restore` makes a kb of it")
    return 0


@click.command("restore")
@click.argument("file", type=_FILE)
@common
def restore_command(told: Common, file: Path) -> int:
    """Make a new knowledge base of a backup."""
    from seamline import transfer
    from seamline.settings import home_dir

    transfer.restore(file, home_dir(told.home), told.workspace, told.kb)
    if told.as_json:
        print_json({"kb": told.kb})
    else:
        click.echo(f"{told.kb} is restored; `seamline doctor --kb {told.kb}` checks it")
    return 0


def _moved(told: Common, moved: Moved, what: str) -> int:
    if told.as_json:
        print_json({"documents": moved.documents, "chunks": moved.chunks, "digest": moved.digest})
    else:
        click.echo(f"{what}: {moved.documents} documents, {moved.chunks} chunks, digest {moved.digest[:16]} verified")
    return 0
