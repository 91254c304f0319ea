from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamline.store.embedded import topk


@given(
    st.integers(1, 3000),
    st.one_of(st.none(), st.integers(1, 200)),
    st.integers(1, 50),
    st.sampled_from([-np.inf, 0.0]),
    st.integers(0, 2**32 - 1),
)
def test_the_best_are_found_with_every_tie(size: int, depth: int | None, levels: int, above: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = (random.integers(-2, levels, size) / 7).astype(np.float32)
    scores[random.random(size) < 0.1] = -np.inf
    found = topk.candidates(scores, depth, above=above)
    order = found[topk.ranked(scores[found], found, depth)]
    expected = sorted(np.flatnonzero(scores > above).tolist(), key=lambda row: (-scores[row], row))[:depth]
    assert order.tolist() == expected


@pytest.mark.parametrize("margin", [0.0, 0.25])
def test_a_margin_keeps_what_is_just_below_the_cut(margin: float) -> None:
    scores = np.arange(10_000, dtype=np.float32) / np.float32(10_000)
    found = topk.candidates(scores, 5, margin=margin)
    cut = min(scores[-5], float(np.sort(scores.reshape(-1, 125).max(axis=1))[-5]))
    assert len(found) >= 5 + margin * 10_000 * 0.9
    assert scores[found].min() <= cut - margin + 0.02


def test_nothing_is_found_in_nothing() -> None:
    assert topk.candidates(np.zeros(0, np.float32), 5).tolist() == []
    assert topk.candidates(np.zeros(1000, np.float32), 5, above=0.0).tolist() == []
