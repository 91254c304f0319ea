from __future__ import annotations

from collections.abc import Sequence

import pytest

from seamline.errors import IntegrityError
from seamline.rerank.mint import mint
from seamline.types import Passage, RerankedPassages, Scored, Stages
from support.retrieve import chunk


def passages(*entries: tuple[str, int, float]) -> Sequence[Passage]:
    return [
        Passage(rank=rank, score=score, score_kind="fused", chunk=chunk(name, name), stages=Stages())
        for name, rank, score in entries
    ]


def test_minted_passages_are_those_given() -> None:
    given = passages(("a", 1, 0.9), ("b", 2, 0.9), ("c", 3, -1.0))
    rejected = [Scored(chunk=chunk("x", "x"), stages=Stages())]
    minted = mint(given, rejected)
    assert isinstance(minted, RerankedPassages)
    assert list(minted) == given
    assert minted.rejected == tuple(rejected)
    assert len(mint([])) == 0


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([("a", 1, 0.5), ("b", 2, 0.6)], "scores rise"),
        ([("a", 1, float("nan")), ("b", 2, 0.6)], "scores rise"),
        ([("a", 2, 0.5)], "not ranked"),
        ([("a", 1, 0.5), ("b", 1, 0.4)], "not ranked"),
        ([("a", 1, 0.5), ("a", 2, 0.4)], "twice"),
    ],
)
def test_what_would_lie_is_not_minted(entries: list[tuple[str, int, float]], message: str) -> None:
    with pytest.raises(IntegrityError, match=message):
        mint(passages(*entries))
