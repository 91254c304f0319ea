"""``seamline reindex``, ``generations`` and ``diff``: another index beside the live one, and the way back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seamline.cli.options import Common, common, print_json


@click.command("reindex")
@click.option("--embedder", metavar="NAME", help="Embed with this provider [default: the configured one, or the kb's].")
@click.option("--chunker", metavar="NAME", help="Cut with this chunker [default: the configured one].")
@click.option("--no-swap", is_flag=True, help="Build the generation, but do not make it live.")
@common
def reindex_command(told: Common, embedder: str | None, chunker: str | None, no_swap: bool) -> int:
    """Derive a knowledge base again from its stored text, and swap the result in at once.

    Searches and writes go on meanwhile. Interrupted, the same command goes on from there. `seamline generations
    revert` goes back.
    """
    from seamline import generations

    with told.open(embedding_provider=embedder, chunker=chunker) as kb:
        number = generations.build(kb, lambda done, total: None if told.as_json else _progress(done, total))
        if not no_swap:
            generations.swap(kb, number)
    if told.as_json:
        print_json({"generation": number, "live": not no_swap})
    else:
        click.echo(
            f"index generation {number} is {'built; `seamline generations swap` makes it live' if no_swap else 'live'}"
        )
    return 0


def _progress(done: int, total: int) -> None:
    click.echo(f"derived {done} of {total} documents", err=True)


@click.group("generations")
def generations_command() -> None:
    """Show, swap and forget index generations."""


@generations_command.command("list")
@common
def generations_list(told: Common) -> int:
    """List the index generations of a knowledge base."""
    from seamline import generations, wire

    with told.open() as kb:
        found = generations.listed(kb)
    if told.as_json:
        print_json(wire.plain(found))
    for item in [] if told.as_json else found:
        click.echo(
            f"{item.number}  {item.role:8}  {item.documents} documents, {item.chunks} chunks  {item.space or '-'}"
        )
    return 0


@generations_command.command("swap")
@click.argument("number", type=int, required=False)
@common
def generations_swap(told: Common, number: int | None) -> int:
    """Make the generation that was built live, or the one with this number."""
    from seamline import generations

    with told.open() as kb:
        return _live(told, generations.swap(kb, number))


@generations_command.command("revert")
@common
def generations_revert(told: Common) -> int:
    """Make the generation live that was before; what was written since is kept, what was deleted stays deleted."""
    from seamline import generations

    with told.open() as kb:
        return _live(told, generations.revert(kb))


@generations_command.command("prune")
@common
def generations_prune(told: Common) -> int:
    """Remove former generations; there is no going back to them after that."""
    from seamline import generations

    with told.open() as kb:
        gone = generations.prune(kb)
    if told.as_json:
        print_json({"removed": gone})
    else:
        click.echo(f"removed: {', '.join(map(str, gone)) or 'none'}")
    return 0


@click.command("diff")
@click.argument("before", type=int)
@click.argument("after", type=int)
@click.option(
    "--queries",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Questions: one a line, or JSON Lines with the field query.",
)
@click.option("-k", "--limit", type=int, help="Passages compared.")
@common
def diff_command(told: Common, before: int, after: int, queries: Path, limit: int | None) -> int:
    """Show which questions get other passages in one index generation than in another."""
    from seamline import generations, wire

    asked = _questions(queries)
    with told.open() as kb:
        changed = generations.diff(kb, before, after, asked, limit)
    if told.as_json:
        print_json({"queries": len(asked), "changed": wire.plain(changed)})
        return 0
    for item in changed:
        click.echo(f"{item.query}  (overlap {item.overlap:.2f})")
        for mark, places in (("-", item.before), ("+", item.after)):
            click.echo("".join(f"  {mark} {place}\n" for place in places), nl=False)
    click.echo(f"{len(changed)} of {len(asked)} questions get other passages")
    return 0


def _questions(path: Path) -> list[str]:
    import json

    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if path.suffix != ".jsonl":
        return lines
    try:
        return [str(json.loads(line)["query"]) for line in lines]
    except (ValueError, KeyError, TypeError) as error:
        raise click.UsageError(f"{path}: not JSON Lines with a field query: {error}") from error


def _live(told: Common, number: int) -> int:
    shown: dict[str, Any] = {"generation": number, "live": True}
    if told.as_json:
        print_json(shown)
    else:
        click.echo(f"index generation {number} is live")
    return 0
