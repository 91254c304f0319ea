"""Options that commands share, and the knowledge base that they open."""

from __future__ import annotations

import functools
import json
import logging
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from seamline.errors import SettingsError

if TYPE_CHECKING:
    from seamline.knowledge_base import KnowledgeBase
    from seamline.settings import LoadedSettings


_USERINFO = re.compile(r"://[^/@\s]+@")


@dataclass(frozen=True, slots=True)
class Common:
    """What every command is told: where, as whom, with which settings, and how to print."""

    kb: str
    home: Path | None
    workspace: str
    as_name: str | None
    groups: tuple[str, ...]
    config: Path | None
    assignments: tuple[str, ...]
    as_json: bool
    debug: bool
    generation: int | None = None
    kb_named: bool = True

    def flags(self) -> dict[str, object]:
        """The ``--set NAME=VALUE`` flags; raises ``SettingsError``."""
        found: dict[str, object] = {}
        for assignment in self.assignments:
            name, equals, value = assignment.partition("=")
            if not equals:
                raise SettingsError(f"--set {assignment!r} is not NAME=VALUE")
            found[name.strip().lower().removeprefix("seamline_")] = value.strip()
        return found

    def settings(self, problems: list[SettingsError] | None = None) -> LoadedSettings:
        """Settings from all sources, flags included; see ``settings.load`` for ``problems``."""
        from seamline import settings

        return settings.load(self.flags(), config=self.config, problems=problems)

    def open(self, **flags: object) -> KnowledgeBase:
        """The knowledge base, as the principal that ``--as`` and ``--groups`` name."""
        from seamline.knowledge_base import open as open_kb
        from seamline.types import Principal

        principal = None
        if self.as_name is not None or self.groups:
            principal = Principal(id=self.as_name or "", groups=frozenset(self.groups))
        given = {name: value for name, value in flags.items() if value is not None}
        return open_kb(
            self.kb,
            home=self.home,
            workspace=self.workspace,
            principal=principal,
            settings=self.flags() | given,
            config=self.config,
            generation=self.generation,
        )


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the shared options; the command receives them as one ``Common``. A bad setting ends it at once."""
    return _with_options(command, None)


def lenient(command: Callable[..., Any]) -> Callable[..., Any]:
    """As ``common``, for a command that itself shows what is wrong with the settings."""
    return _with_options(command, [])


def _with_options(command: Callable[..., Any], problems: list[SettingsError] | None) -> Callable[..., Any]:

    @click.option("--kb", default="default", show_default=True, metavar="NAME", help="Knowledge base.")
    @click.option("--home", type=click.Path(path_type=Path), help="Home folder [default: SEAMLINE_HOME].")
    @click.option("--workspace", default="default", show_default=True, metavar="NAME", help="Workspace.")
    @click.option("--as", "as_name", metavar="NAME", help="Ask as this principal instead of the local owner.")
    @click.option("--groups", default="", metavar="G,...", help="Groups of the principal.")
    @click.option("--config", type=click.Path(path_type=Path), help="Settings file [default: seamline.toml].")
    @click.option("--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Set a setting; repeatable.")
    @click.option("--generation", type=int, metavar="N", help="Read this index generation instead of the live one.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    @click.option("--debug", is_flag=True, help="Show tracebacks and debug logs.")
    @functools.wraps(command)
    def wrapper(
        kb: str,
        home: Path | None,
        workspace: str,
        as_name: str | None,
        groups: str,
        config: Path | None,
        assignments: tuple[str, ...],
        generation: int | None,
        as_json: bool,
        debug: bool,
        **rest: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        members = tuple(group.strip() for group in groups.split(",") if group.strip())
        told = Common(
            kb, home, workspace, as_name, members, config, assignments, as_json, debug, generation, _told("kb")
        )
        level = "DEBUG" if debug else told.settings(problems).values.log_level
        logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
        return command(told, **rest)

    return wrapper


def _told(parameter: str) -> bool:
    """Whether an option was given, rather than left at its default."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source not in (None, ParameterSource.DEFAULT)


def retrieval_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a question; the command receives them as keyword arguments of ``retrieve``."""

    @click.option("-k", "--limit", type=int, help="Passages returned.")
    @click.option("--mode", type=click.Choice(["economy", "hybrid", "dense", "keyword"]), help="Retrieval mode.")
    @click.option(
        "--rerank", type=click.Choice(["auto", "off", "required"]), default="auto", show_default=True, help="Rerank."
    )
    @click.option("--query-language", default="auto", metavar="TAG", help="Language of the question.")
    @click.option("--document", "documents", multiple=True, metavar="ID", help="Only these documents; repeatable.")
    @click.option("--where", "filters", multiple=True, metavar="KEY=VALUE", help="Only documents with this metadata.")
    @functools.wraps(command)
    def wrapper(
        told: Common,
        limit: int | None,
        mode: str | None,
        rerank: str,
        query_language: str,
        documents: tuple[str, ...],
        filters: tuple[str, ...],
        **rest: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        asked = {
            "limit": limit,
            "mode": mode,
            "rerank": rerank,
            "query_language": query_language,
            "document_filter": list(documents) or None,
            "metadata_filter": _filters(filters),
        }
        return command(told, asked=asked, **rest)

    return wrapper


def command_line() -> str:
    """This command as it was typed, for a report to say what made it; secret settings and passwords in URLs hidden."""
    from seamline.settings import SECRETS

    secret = re.compile(
        rf"((?:^|=)\s*(?:seamline_)?(?:{'|'.join(map(re.escape, sorted(SECRETS)))})\s*=).*", re.I | re.S
    )
    typed: Sequence[str] = click.get_current_context().obj or ()
    shown = [_USERINFO.sub("://***@", secret.sub(r"\1***", argument)) for argument in typed]
    return shlex.join(["seamline", *shown])


def print_json(value: object) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def names(given: str | None) -> list[str] | None:
    """``a,b`` as a list; ``None`` when the option was not given; an empty string is an empty list."""
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]


def _filters(given: Iterable[str]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for item in given:
        key, equals, value = item.partition("=")
        if not equals or not key:
            raise click.UsageError(f"--where {item!r} is not KEY=VALUE")
        try:
            parsed = json.loads(value)
        except json.JSONDecodeError:
            parsed = value
        found.setdefault(key, []).append(value)
        if isinstance(parsed, bool | int | float):
            found[key].append(parsed)
    return found
