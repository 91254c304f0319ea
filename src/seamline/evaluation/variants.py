"""Variants: the retrieval configurations that an evaluation puts side by side."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

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
