"""``seamline``: commands are loaded when they are called, errors are printed in one place.

Exit codes: 0 success, 1 the job failed in part or a check failed, 2 usage, 3 invalid, 130 interrupted.
"""

from __future__ import annotations

import difflib
import json
import signal
import sys
import traceback
from importlib import import_module
from types import FrameType

import click

from seamline import __version__
from seamline.cli import printing
from seamline.errors import SeamlineError, UsageError

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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a suggestion for a misspelt command."""
        name = args[0]
        close = [] if name in COMMANDS or name.startswith("-") else difflib.get_close_matches(name, COMMANDS, n=1)
        if close:
            raise click.UsageError(f"No such command {name!r}. Did you mean {close[0]!r}?", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="seamline")
def cli() -> None:
    """Answer questions over your own documents, and prove where every answer came from."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; the one handler of errors."""
    signal.signal(signal.SIGTERM, _interrupt)
    given = sys.argv[1:] if arguments is None else arguments
    try:
        status = cli.main(args=given, prog_name="seamline", standalone_mode=False, obj=tuple(given))
    except click.ClickException as error:
        sys.exit(_refuse(error, as_json="--json" in given))
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; what was committed is kept, and the same command goes on from there", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except Exception as error:
        if "--debug" in given:
            traceback.print_exception(error)
        sys.exit(_show(_expected(error), as_json="--json" in given))
    sys.exit(status if isinstance(status, int) else 0)


def _expected(error: Exception) -> SeamlineError:
    """Any failure as an error with a message and a hint."""
    if isinstance(error, SeamlineError):
        return error
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return SeamlineError(
            f"{where}{error.strerror}",
            hint="check that it is there, yours, and that the disk has room; --debug shows where",
        )
    return SeamlineError(
        f"unexpected {type(error).__name__}: {error}",
        hint="a fault of Seamline, not yours; --debug shows where",
    )


def _refuse(error: click.ClickException, *, as_json: bool) -> int:
    if not as_json:
        error.show()
        return error.exit_code
    context = getattr(error, "ctx", None)
    hint = f"{context.command_path} --help" if context is not None else "seamline --help"
    return _show(UsageError(error.format_message(), hint=hint), as_json=True)


def _show(error: SeamlineError, *, as_json: bool) -> int:
    if as_json:
        body = {"error": error.code, "message": error.message, "hint": error.hint, "retryable": error.retryable}
        click.echo(json.dumps(body, ensure_ascii=False))
    else:
        printing.error(error)
    return error.exit_code


def _interrupt(_signum: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
