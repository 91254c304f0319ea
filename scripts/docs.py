"""Writes the reference pages of docs/reference from the code, so that they cannot drift from it."""

from __future__ import annotations

import argparse
import ast
import html
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click

import seamline
from seamline import errors, registry, settings

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- Written by scripts/docs from the code. Edit the code, then run it again. -->"
PORT_OF = {
    "chunkers": "Chunker",
    "embedders": "Embedder",
    "generators": "Generator",
    "parsers": "Parser",
    "rerankers": "Reranker",
    "sources": "Source",
    "stores": "Store",
}


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def cell(text: str) -> str:
    """Text on one line, its bars written so that every Markdown renderer shows them, in code as well."""
    line = " ".join(text.split())
    code = re.sub(r"`([^`]*\|[^`]*)`", lambda match: f"<code>{html.escape(match.group(1), quote=False)}</code>", line)
    return code.replace("|", "&#124;")


def summary(thing: object) -> str:
    """The first paragraph of a docstring on one line, in Markdown."""
    return markdown((inspect.getdoc(thing) or "").split("\n\n")[0])


def markdown(text: str) -> str:
    """Docstring markup as Markdown."""
    text = re.sub(r":\w+:`~?([\w.]+)`", r"``\1``", text)
    return " ".join(text.replace("``", "`").split())


# --- settings -----------------------------------------------------------------------------------------


def sections() -> dict[str, list[str]]:
    """Field names by the comment that heads their block in settings.py."""
    found: dict[str, list[str]] = {}
    current = "general"
    body = inspect.getsource(settings.Settings)
    for line in body.splitlines():
        heading = re.fullmatch(r"    # ([\w ]+)", line)
        name = re.match(r"    (\w+): ", line)
        if heading:
            current = heading.group(1)
        elif not line.strip():
            current = "general"
        elif name and name.group(1) in settings.Settings.model_fields:
            found.setdefault(current, []).append(name.group(1))
    return found


def settings_page() -> Iterator[str]:
    """Every setting with its default, its bounds and its reason."""
    yield "# Settings"
    yield (
        "A value comes from its default, then `seamline.toml` in the current folder (or the file that `--config` or "
        "`SEAMLINE_CONFIG` names), then the environment, then a flag; the last one wins. In the environment "
        "`candidate_k` is `SEAMLINE_CANDIDATE_K`. An unknown name is an error with a suggestion. A secret may be a "
        "reference: `env:NAME` or `file:PATH`. An empty cell under *default* means that nothing is set."
    )
    for section, names in sections().items():
        rows = []
        for name in names:
            field = settings.Settings.model_fields[name]
            default = "" if field.default is None else f"`{field.default}`"
            rows.append((f"`{name}`", default, settings.bounds(name), field.description or ""))
        yield f"## {section.capitalize()}\n\n" + table(("setting", "default", "accepted", "why change it"), rows)
    yield "## Other names\n\n" + table(
        ("also accepted", "for"), [(f"`{old}`", f"`{new}`") for old, new in sorted(settings.ALIASES.items())]
    )
    reserved = ", ".join(f"`{settings.PREFIX}{name}`" for name in sorted(settings.RESERVED))
    yield f"Variables with the prefix that are not settings: {reserved} and `{settings.PREFIX}TEST_*`."


# --- errors -------------------------------------------------------------------------------------------


def error_classes() -> list[type[errors.SeamlineError]]:
    """Every error class, in the order of the file."""
    found = [item for item in vars(errors).values() if inspect.isclass(item) and issubclass(item, errors.SeamlineError)]
    return [item for item in found if item.__module__ == errors.__name__]


def errors_page() -> Iterator[str]:
    """The tree of errors, and each with its code."""
    yield "# Errors"
    tree = (inspect.getdoc(errors) or "").split("::\n", 1)[1]
    drawn = textwrap.dedent("\n".join(line for line in tree.splitlines() if line.startswith("    ")))
    yield (
        "Every error that Seamline raises on purpose says what happened and where; `hint` is the next thing to do. "
        "*Retryable* means that the same call may succeed later. *Exit* is the exit status of the command line."
    )
    yield f"```text\n{drawn}\n```"
    rows = [
        (f"`{item.__name__}`", f"`{item.code}`", str(item.exit_code), "yes" if item.retryable else "no", summary(item))
        for item in error_classes()
    ]
    yield table(("error", "code", "exit", "retryable", "meaning"), rows)


# --- providers ----------------------------------------------------------------------------------------


def signature(thing: Callable[..., object]) -> str:
    """A signature without module prefixes, as one would write it."""
    shown = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", str(inspect.signature(thing)))
    return shown.replace("'", "")


def own(module: str) -> Any:  # noqa: ANN401
    """A module of this package, or ``None`` when this tree does not have it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("seamline"):
            return None
        raise


def factory_signature(kind: registry.Kind) -> str | None:
    """How a factory of this kind is called, read from the built-in one that needs most; the others take the rest."""
    factories = []
    for point in sorted(entry_points(group=f"seamline.{kind}"), key=lambda point: point.name):
        module = own(point.module) if point.dist is not None and point.dist.name == "seamline" else None
        if module is not None:
            factories.append(getattr(module, point.attr))
    if not factories:
        return None
    widest = max(factories, key=lambda make: len(named(make)))
    for make in factories:
        unknown = named(widest) - named(make)
        if unknown and not takes_the_rest(make):
            raise SystemExit(f"docs: {make.__module__} does not take {', '.join(sorted(unknown))} as other {kind} do")
    shown = re.sub(r" -> .*", "", signature(widest))
    return f"create{shown} -> {PORT_OF[kind]}"


def named(make: Callable[..., object]) -> set[str]:
    """The parameters that a factory names."""
    found = inspect.signature(make).parameters.values()
    return {item.name for item in found if item.kind is not inspect.Parameter.VAR_KEYWORD}


def takes_the_rest(make: Callable[..., object]) -> bool:
    """Whether a factory takes, and ignores, what others of its kind need."""
    return any(item.kind is inspect.Parameter.VAR_KEYWORD for item in inspect.signature(make).parameters.values())


def providers_page() -> Iterator[str]:
    """Entry-point groups and the built-in providers."""
    yield "# Providers"
    yield (
        "A provider is found by its name through an entry point; the built-in ones use the same door. To add one, "
        "write a class that has the methods of the [port](ports.md), a factory that makes it, and declare the factory:"
    )
    yield '```toml\n[project.entry-points."seamline.stores"]\nmine = "my_package.store:create"\n```'
    yield "A *stand-in* lets a fresh checkout run from end to end: a baseline, not an implementation, and it says so."
    for kind in registry.KINDS:
        yield f"## `seamline.{kind}`\n\nPort: [`{PORT_OF[kind]}`](ports.md#{PORT_OF[kind].lower()})."
        shape = factory_signature(kind)
        if shape:
            yield f"```text\n{shape}\n```"
        rows = []
        for (known_kind, name), known in sorted(registry.BUILT_INS.items()):
            if known_kind == kind:
                extra = f"`seamline[{known.extra}]`" if known.extra else ""
                rows.append((f"`{name}`", known.summary, extra, "stand-in" if known.stand_in else ""))
        yield table(("name", "what it is", "extra", ""), rows) if rows else "There is no built-in entry in this group."


# --- ports --------------------------------------------------------------------------------------------


def ports_page() -> Iterator[str]:
    """The protocols, with their methods."""
    yield "# Ports"
    yield "What a part must be able to do. A provider need not inherit anything: it must have these methods."
    source = (ROOT / "src" / "seamline" / "ports.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases):
            yield f"## {node.name}\n\n{markdown(ast.get_docstring(node) or '')}"
            bases = [ast.unparse(base) for base in node.bases if ast.unparse(base) != "Protocol"]
            if bases:
                yield f"All of {', '.join(f'[`{base}`](#{base.lower()})' for base in bases)}."
            rows = [row for item in node.body if (row := member(item))]
            if rows:
                yield table(("member", "what it does"), rows)


def member(node: ast.stmt) -> tuple[str, str] | None:
    """A row for a method, a property or an attribute of a protocol."""
    if isinstance(node, ast.AnnAssign):
        return f"`{ast.unparse(node)}`", ""
    if not isinstance(node, ast.FunctionDef):
        return None
    says = markdown(ast.get_docstring(node) or "")
    returns = ast.unparse(node.returns) if node.returns else "None"
    if any(ast.unparse(item) == "property" for item in node.decorator_list):
        return f"`{node.name}: {returns}`", says
    arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("self")
    return f"`{node.name}({arguments}) -> {returns}`", says


# --- Python names, command line -----------------------------------------------------------------------


def python_page() -> Iterator[str]:
    """The public names of ``import seamline``."""
    yield "# Python names"
    yield "`import seamline` costs next to nothing: a name is loaded when it is first used."
    rows = []
    for name in seamline.__all__:
        home = own(f"seamline.{seamline._HOMES[name]}")
        if home is not None:
            thing = getattr(home, name)
            shown = f"{name}{signature(thing)}" if inspect.isfunction(thing) else name
            rows.append((f"`{shown}`", summary(thing)))
    yield table(("name", "what it is"), rows)


def cli_page() -> Iterator[str]:
    """Every command with its arguments and options."""
    yield "# Command line"
    module = own("seamline.cli.main")
    if module is None:
        yield "This tree has no command line yet."
    else:
        group = module.cli
        yield from command_sections(group, click.Context(group, info_name="seamline"))


def command_sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """One section a command, groups first."""
    yield f"## `{context.command_path}`\n\n{inspect.cleandoc(command.help or '').replace(chr(8), '')}".rstrip()
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"```text\n{usage}\n```"
    records = [item.get_help_record(context) for item in command.get_params(context) if isinstance(item, click.Option)]
    rows = [(f"`{record[0]}`", record[1]) for record in records if record]
    yield table(("option", "what it does"), rows)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from command_sections(inner, click.Context(inner, info_name=name, parent=context))


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "cli.md": cli_page,
    "errors.md": errors_page,
    "ports.md": ports_page,
    "providers.md": providers_page,
    "python.md": python_page,
    "settings.md": settings_page,
}


def main() -> int:
    """Write the pages; with ``--check`` write nothing and return 1 when one is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is stale")
    check = parser.parse_args().check
    stale = []
    for name, page in PAGES.items():
        text = "\n\n".join([NOTE, *page()]) + "\n"
        path = REFERENCE / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                REFERENCE.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    if stale:
        print(f"docs: {'stale, run ./scripts/docs:' if check else 'written:'} {', '.join(stale)}")
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(main())
