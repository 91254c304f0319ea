"""The one place that makes ``RerankedPassages``, also when no reranker ran."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from seamline.errors import IntegrityError
from seamline.types import Passage, RerankedPassages, Scored
from seamline.types.retrieval import _SEAL


def mint(passages: Sequence[Passage], rejected: Sequence[Scored] = ()) -> RerankedPassages:
    """Seal passages; raises ``IntegrityError`` unless ranks count from 1, ids are unique and scores never rise."""
    if [passage.rank for passage in passages] != list(range(1, len(passages) + 1)):
        raise IntegrityError("passages to be minted are not ranked 1, 2, 3, ...")
    if len({passage.chunk.id for passage in passages}) != len(passages):
        raise IntegrityError("a chunk is twice among the passages to be minted")
    if any(not before.score >= after.score for before, after in pairwise(passages)):
        raise IntegrityError("scores rise down the list of passages to be minted")
    return RerankedPassages(passages, rejected, seal=_SEAL)
