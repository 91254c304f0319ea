"""``seamline store``: servers that stores need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from seamline.cli.options import Common, common, print_json

if TYPE_CHECKING:
    from seamline.store.postgres.server import Server


@click.group("store")
def store_command() -> None:
    """Start and stop servers that stores need."""


@store_command.group("postgres")
def store_postgres() -> None:
    """A PostgreSQL server of your own, to try the postgres store without installing one."""


_FOLDER = click.option(
    "--folder", type=click.Path(path_type=Path), help="Where its database is [default: postgres/ under the home]."
)


@store_postgres.command("up")
@_FOLDER
@common
def postgres_up(told: Common, folder: Path | None) -> int:
    """Make and start the server; print the setting that uses it. Does nothing when it runs.

    It listens on a socket in its folder and on no network address; whoever may enter the folder may connect.
    """
    server = _server(told, folder)
    server.start()
    if told.as_json:
        print_json({"folder": str(server.folder), "dsn": server.dsn})
    else:
        click.echo(f"PostgreSQL runs in {server.folder}\n")
        click.echo(f"export SEAMLINE_STORE=postgres SEAMLINE_POSTGRES_DSN='{server.dsn}'")
    return 0


@store_postgres.command("down")
@_FOLDER
@common
def postgres_down(told: Common, folder: Path | None) -> int:
    """Stop the server; its database stays."""
    server = _server(told, folder)
    stopped = server.stop()
    if told.as_json:
        print_json({"folder": str(server.folder), "stopped": stopped})
    else:
        click.echo(f"PostgreSQL in {server.folder} {'is stopped' if stopped else 'did not run'}")
    return 0


def _server(told: Common, folder: Path | None) -> Server:
    from seamline import registry
    from seamline.settings import home_dir
    from seamline.store.postgres.server import Server

    registry.factory("stores", "postgres")  # says which packages are missing
    return Server((folder or home_dir(told.home) / "postgres").absolute())
