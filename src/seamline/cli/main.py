"""``seamline``: commands are loaded when they are called, errors are printed in one place.

Exit codes: 0 success, 1 the job failed in part or a check failed, 2 usage, 3 invalid, 130 interrupted.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
from importlib import import_module
from types import FrameType

import click

from seamline import __version__
from seamline.errors import SeamlineError

COMMANDS = {
    "index": "indexing",
    "chunk": "chunking",
    "status": "indexing",
    "access": "indexing",
    "search": "asking",
    "ask": "asking",
    "why-not": "asking",
    "verify": "verifying",
    "doctor": "inspecting",
    "settings": "inspecting",
    "providers": "inspecting",
    "models": "inspecting",
    "kb": "kbs",
    "backup": "kbs",
    "restore": "kbs",
    "reindex": "generations",
    "generations": "generations",
    "diff": "generations",
    "store": "stores",
    "eval": "evaluating",
    "sweep": "sweeping",
    "gate": "deciding",
    "compare": "deciding",
}
"""Command to the module of this package that defines it, in the order in which help lists them."""


class LazyGroup(click.Group):
    """Imports a command's module when the command is asked for, so that help stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The commands in a newcomer's order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or ``None`` with click's own suggestion."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = import_module(f"seamline.cli.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_") + "_command")
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="seamline")
def cli() -> None:
    """Answer questions over your own documents, and prove where every answer came from."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; the one handler of errors."""
    signal.signal(signal.SIGTERM, _interrupt)
    given = sys.argv[1:] if arguments is None else arguments
    try:
        status = cli.main(args=given, prog_name="seamline", standalone_mode=False)
    except SeamlineError as error:
        if "--debug" in given:
            logging.getLogger("seamline").exception("%s", error.message)
        sys.exit(_show(error, as_json="--json" in given))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; what was committed is kept, and the same command goes on from there", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    sys.exit(status if isinstance(status, int) else 0)


def _show(error: SeamlineError, *, as_json: bool) -> int:
    if as_json:
        body = {"error": error.code, "message": error.message, "hint": error.hint, "retryable": error.retryable}
        click.echo(json.dumps(body, ensure_ascii=False))
    else:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {error.message}", err=True)
        if error.hint:
            click.echo(f"{click.style('hint:', fg='cyan')} {error.hint}", err=True)
    return error.exit_code


def _interrupt(_signum: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
