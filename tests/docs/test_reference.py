"""The reference pages are fresh, and name every setting, error, command and entry-point group."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import click
import pytest

from seamline import errors, registry
from seamline.settings import PREFIX, RESERVED, Settings
from support.project import DOCS, PACKAGE, ROOT

needs_command_line = pytest.mark.skipif(not (PACKAGE / "cli/main.py").exists(), reason="not in this tree: cli/main.py")


def page(name: str) -> str:
    return (DOCS / "reference" / name).read_text(encoding="utf-8")


def error_classes() -> list[type[errors.SeamlineError]]:
    return [item for item in vars(errors).values() if inspect.isclass(item) and issubclass(item, errors.SeamlineError)]


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Every visible command by its path, as it is typed."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in sorted(command.list_commands(context)):
            inner = command.get_command(context, name)
            assert inner is not None
            if not inner.hidden:
                yield from commands(inner, f"{path} {name}")


def command_line() -> dict[str, click.Command]:
    from seamline.cli.main import cli

    return dict(commands(cli, "seamline"))


def test_the_reference_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "docs.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_setting_is_documented() -> None:
    documented = re.findall(r"^\| `(\w+)` \|", page("settings.md"), re.MULTILINE)
    assert set(Settings.model_fields) <= set(documented)
    assert all(f"`{PREFIX}{name}`" in page("settings.md") for name in RESERVED)


def test_every_setting_has_a_reason() -> None:
    assert [name for name, field in Settings.model_fields.items() if len(field.description or "") < 10] == []


def test_every_error_is_documented_and_drawn() -> None:
    classes = [
        item for item in vars(errors).values() if inspect.isclass(item) and issubclass(item, errors.SeamlineError)
    ]
    assert len(classes) > 20
    for item in classes:
        assert f"| `{item.__name__}` | `{item.code}` |" in page("errors.md")
        assert re.search(rf"^\W*{item.__name__}\b", errors.__doc__ or "", re.MULTILINE)


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [
        item.code for item in vars(errors).values() if inspect.isclass(item) and issubclass(item, errors.SeamlineError)
    ]
    assert sorted(codes) == sorted(set(codes))


def test_every_entry_point_is_documented_and_known_to_the_registry() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {
        (group.removeprefix("seamline."), name) for group, points in project["entry-points"].items() for name in points
    }
    assert declared == set(registry.BUILT_INS)
    for kind in registry.KINDS:
        assert f"## `seamline.{kind}`" in page("providers.md")
    for _, name in declared:
        assert f"| `{name}` |" in page("providers.md")


@needs_command_line
def test_every_command_and_option_is_documented() -> None:
    text = page("cli.md")
    for path, command in command_line().items():
        section = text.split(f"## `{path}`\n", 1)[1].split("\n## ", 1)[0]
        assert command.help, f"{path} has no help"
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.help, f"{path} {parameter.opts[-1]} has no help"
                assert re.search(rf"(`|>|, ){parameter.opts[-1]}\b", section)


@needs_command_line
def test_every_command_line_in_the_pages_exists() -> None:
    known = command_line()
    shown = 0
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]:
        for block in re.findall(
            r"^```(?:console|sh|bash)\n(.*?)^```", path.read_text("utf-8"), re.DOTALL | re.MULTILINE
        ):
            for line in re.findall(r"^(?:\$ )?(seamline .*)", block, re.MULTILINE):
                shown += 1
                assert_known(line, known, path.name)
    assert shown > 0


def assert_known(line: str, known: dict[str, click.Command], where: str) -> None:
    """The line's command exists, and so does each of its long options, in it or in a group above it."""
    words = line.split()
    path, options = "seamline", set[str]()
    for word in words[1:]:
        options |= {name for item in known[path].params for name in [*item.opts, *item.secondary_opts]}
        path = f"{path} {word}" if f"{path} {word}" in known else path
    options |= {name for item in known[path].params for name in [*item.opts, *item.secondary_opts]} | {"--help"}
    assert path != "seamline" or len(words) == 1 or words[1].startswith("-"), f"{where}: no such command: {line}"
    given = {word.split("=")[0] for word in words if word.startswith("--") and word != "--"}
    assert given <= options, f"{where}: {line}: {sorted(given - options)}"


def test_every_command_that_a_message_names_exists() -> None:
    known = set(command_line())
    named = [
        (path.name, found)
        for path in sorted(PACKAGE.rglob("*.py"))
        for found in re.findall(r"`(seamline [a-z][^`]*)`", path.read_text(encoding="utf-8"))
    ]
    assert len(named) > 20
    for file, line in named:
        words = line.split()
        depth = 1
        while depth < len(words) and " ".join(words[: depth + 1]) in known:
            depth += 1
        command = command_line()[" ".join(words[:depth])]
        assert depth > 1, f"{file}: there is no `{line}`"
        assert not (isinstance(command, click.Group) and depth < len(words) and words[depth].isalpha()), (
            f"{file}: there is no `{line}`"
        )
        flags = {flag for parameter in command.params for flag in [*parameter.opts, *parameter.secondary_opts]}
        assert {word for word in words if re.fullmatch(r"--[a-z-]+", word)} <= flags, f"{file}: `{line}`"
