"""Checks a leg's pool before anything trusts it: a store that breaks the order would lie in every stage after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

from seamline.errors import StoreError
from seamline.types import ChunkId, Hit

T = TypeVar("T")


def checked(hits: list[Hit], leg: str, depth: int | None) -> list[Hit]:
    """The same hits; raises ``StoreError`` unless finite, unique, at most ``depth`` and in the total order."""
    if depth is not None and len(hits) > depth:
        raise _broken(leg, f"{len(hits)} hits where {depth} were asked for")
    if not all(math.isfinite(hit.score) for hit in hits):
        raise _broken(leg, "a score that is not finite")
    keys = [(-hit.score, hit.chunk_id) for hit in hits]
    if any(before >= after for before, after in pairwise(keys)):
        raise _broken(leg, "hits that are not in the order (score descending, chunk id ascending)")
    if len({hit.chunk_id for hit in hits}) != len(hits):
        raise _broken(leg, "one chunk twice")
    return hits


def by_id(ids: Sequence[ChunkId], values: Sequence[T], leg: str) -> dict[ChunkId, T]:
    """Pairs ids with what the store answered for them; raises ``StoreError`` on another count."""
    if len(ids) != len(values):
        raise _broken(leg, f"{len(values)} values for {len(ids)} chunks")
    return dict(zip(ids, values, strict=True))


def _broken(leg: str, what: str) -> StoreError:
    return StoreError(f"the store's {leg} leg returned {what}", hint="run the store's conformance tests")
