"""``seamline doctor``, ``settings``, ``providers`` and ``models``: what this installation and a kb are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seamline.cli.options import Common, common, lenient, print_json


@click.command("doctor")
@common
def doctor_command(told: Common) -> int:
    """Check a knowledge base and this installation; exit code 1 on any error found.

    Before the first index it checks the installation alone.
    """
    from seamline import transfer, wire
    from seamline.cli import render
    from seamline.doctor import examine, examine_installation
    from seamline.settings import home_dir

    home = home_dir(told.home)
    if transfer.listed(home, None):
        with told.open() as kb:
            findings = examine(kb)
    else:
        findings = examine_installation(told.settings().values, home)
    if told.as_json:
        print_json(wire.plain(findings))
    else:
        render.findings(findings)
    return 1 if any(finding.severity == "error" for finding in findings) else 0


@click.command("settings")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@lenient
def settings_command(told: Common, names: tuple[str, ...]) -> int:
    """Print every setting: its value, where the value came from, what it accepts; secrets are never shown.

    A value that is refused is told below the table, and the exit code is 2.
    """
    from seamline import settings
    from seamline.cli import printing, render
    from seamline.errors import SettingsError

    problems: list[SettingsError] = []
    loaded = told.settings(problems)
    chosen = {settings.canonical(name) for name in names} or settings.Settings.model_fields.keys()
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "variable": f"{settings.PREFIX}{name.upper()}",
            "value": _shown(getattr(loaded.values, name)),
            "source": loaded.sources[name],
            "accepted": settings.bounds(name),
            "description": info.description,
        }
        for name, info in settings.Settings.model_fields.items()
        if name in chosen
    ]
    if told.as_json:
        refused = [{"message": problem.message, "hint": problem.hint} for problem in problems]
        print_json({"settings": rows, "refused": refused})
    else:
        render.settings(rows)
        for problem in problems:
            printing.error(problem)
    return SettingsError.exit_code if problems else 0


def _shown(value: object) -> object:
    """A secret's value is not printed, nor its length."""
    return "********" if type(value).__name__ == "SecretStr" else value


@click.command("providers")
@common
def providers_command(told: Common) -> int:
    """List providers: installed, missing (and how to install them), or standing in for a real one."""
    from seamline import registry, wire
    from seamline.cli import render

    rows = [wire.plain(info) for info in registry.providers()]
    if told.as_json:
        print_json(rows)
    else:
        render.providers(rows)
    return 0


@click.group("models")
def models_command() -> None:
    """Fetch and check the weights of local models."""


@models_command.command("pull")
@common
def models_pull(told: Common) -> int:
    """Fetch the local embedding model, verify its hash, and build it for this machine."""
    from seamline import registry
    from seamline.embed.pull import pull
    from seamline.settings import home_dir
    from seamline.spaces import provider_settings

    values = provider_settings(told.settings().values, home_dir(told.home))
    where = pull(Path(str(values["model_cache_dir"])), report=lambda line: None if told.as_json else click.echo(line))
    embedder = registry.factory("embedders", "local")(values)
    embedder.embed_query("ready")
    shown = {"model": embedder.space.model, "precision": embedder.space.precision, "folder": str(where)}
    if told.as_json:
        print_json(shown)
    else:
        click.echo(f"{shown['model']} ({shown['precision']}) is ready: {shown['folder']}")
    return 0
