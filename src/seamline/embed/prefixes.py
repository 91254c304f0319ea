"""Query and passage prefixes by model family: a table of what the model cards ask for, as data."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What a family of models expects. ``window`` counts tokens; tasks are a remote API's task parameter."""

    pattern: str
    query_prefix: str = ""
    passage_prefix: str = ""
    query_task: str = ""
    passage_task: str = ""
    pooling: str
    normalised: bool = True
    window: int


@cache
def families() -> tuple[Family, ...]:
    """The whole table, in the order in which patterns are tried."""
    table = tomllib.loads(Path(__file__).with_name("prefixes.toml").read_text(encoding="utf-8"))
    return tuple(Family(**entry) for entry in table["family"])


def family_of(model: str) -> Family | None:
    """The family of a model's name (``org/name``, ``name`` or ``name:tag``, any case); ``None`` when unknown."""
    name = model.rsplit("/", 1)[-1].split(":")[0].lower()
    return next((family for family in families() if fnmatchcase(name, family.pattern)), None)
