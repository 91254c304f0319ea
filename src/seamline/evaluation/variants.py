"""Variants: the retrieval configurations that an evaluation puts side by side."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from seamline.errors import UsageError

NO_RERANKER = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A named set of overrides, by the names of settings.

    ``reranked`` says whether a reranker must have ordered every query (``True``), none may have
    (``False``), or either as long as all queries agree (``None``).
    """

    name: str
    overrides: Mapping[str, object] = field(default_factory=dict)
    reranked: bool | None = None

    def resolve(self, reranker: str) -> Mapping[str, object]:
        """The overrides for a retriever whose ``rerank_provider`` is ``reranker``."""
        if self.reranked is False and reranker != NO_RERANKER:
            return {**self.overrides, "rerank_provider": NO_RERANKER}
        return self.overrides


BUILT_IN: tuple[Variant, ...] = (
    Variant(name="dense-only", overrides={"mode": "dense"}, reranked=False),
    Variant(name="keyword-only", overrides={"mode": "keyword"}, reranked=False),
    Variant(name="fused-rrf", overrides={"mode": "hybrid", "fusion": "rrf"}, reranked=False),
    Variant(name="fused-rrf+rerank", overrides={"mode": "hybrid", "fusion": "rrf"}, reranked=True),
    Variant(name="fused-dbsf", overrides={"mode": "hybrid", "fusion": "dbsf"}, reranked=False),
    Variant(name="fused-weighted", overrides={"mode": "hybrid", "fusion": "weighted"}, reranked=False),
    Variant(name="fused-weighted+rerank", overrides={"mode": "hybrid", "fusion": "weighted"}, reranked=True),
)


def modes(names: Iterable[str]) -> tuple[Variant, ...]:
    """A variant for each retrieval mode, with everything else as the settings say."""
    measuring = {variant.overrides["mode"] for variant in BUILT_IN}
    return tuple(Variant(name=name, overrides={"mode": name}) for name in names if name not in measuring)


def read_variants(path: Path) -> tuple[Variant, ...]:
    """Variants of one's own: a TOML file with a table for each, of settings, and ``reranked`` as in :class:`Variant`.

    Raises ``UsageError`` when it cannot be read, is not such a file, or takes the name of a built-in one.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: the variants cannot be read: {error}") from error
    taken = {variant.name for variant in BUILT_IN} & tables.keys()
    if taken:
        raise UsageError(f"{path}: built-in variants have these names: {', '.join(sorted(taken))}")
    return tuple(_variant(name, table, path) for name, table in tables.items())


def _variant(name: str, table: object, path: Path) -> Variant:
    if not isinstance(table, dict):
        raise UsageError(f"{path}: {name} is not a table of settings", hint=f"[{name}], then name = value lines")
    reranked = table.pop("reranked", None)
    if reranked not in (None, True, False):
        raise UsageError(f"{path}: {name}: reranked is true or false")
    return Variant(name=name, overrides=table, reranked=reranked)


def select(names: Iterable[str], known: Sequence[Variant] = BUILT_IN) -> tuple[Variant, ...]:
    """The variants with these names, in the order asked; raises ``UsageError`` on an unknown or repeated one."""
    by_name = {variant.name: variant for variant in known}
    chosen: dict[str, Variant] = {}
    for name in names:
        if name not in by_name:
            close = difflib.get_close_matches(name, by_name, n=1)
            hint = f"did you mean {close[0]}?" if close else f"known variants: {', '.join(by_name)}"
            raise UsageError(f"unknown variant: {name!r}", hint=hint)
        if name in chosen:
            raise UsageError(f"variant {name!r} is asked for twice")
        chosen[name] = by_name[name]
    return tuple(chosen.values())
