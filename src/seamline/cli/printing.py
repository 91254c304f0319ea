"""Text from documents, made safe for a terminal: nothing in it moves the cursor or turns the reading direction."""

from __future__ import annotations

import re

import click

from seamline.errors import SeamlineError

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""C0 except tab and newline, DEL, C1, the marks and overrides of writing direction, lone surrogates."""


def printable(text: str) -> str:
    """``text`` with control characters written out as Python escapes; tabs and newlines stay."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def escape(text: str) -> str:
    """``text`` for a line of rich markup: printable, and none of it read as markup."""
    from rich.markup import escape as markup_escape

    return markup_escape(printable(text))


def error(found: SeamlineError) -> None:
    """What and where, then the hint, on standard error."""
    click.echo(f"{click.style('error:', fg='red', bold=True)} {printable(found.message)}", err=True)
    if found.hint:
        click.echo(f"{click.style('hint:', fg='cyan')} {printable(found.hint)}", err=True)
