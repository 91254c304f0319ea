from __future__ import annotations

import pytest

from seamline.chunk.graphemes import boundary_at_or_after, boundary_at_or_before, is_boundary

CLUSTERS = [
    "e\u0301\u0323", "👩‍👩‍👧‍👦", "👍🏽", "❤️", "1️⃣", "🇩🇪", "각", "각", "ก็", "กำ", "क्षि", "か゛"[:1] + "\u3099",
    "\r\n", "🏴\U000e0067\U000e0062\U000e007f", "\u0600١",
]  # fmt: skip


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_cluster_is_not_divided(cluster: str) -> None:
    text = f"a{cluster}b"
    inside = range(2, 1 + len(cluster))
    assert not any(is_boundary(text, index) for index in inside)
    assert is_boundary(text, 1 + len(cluster))
    assert all(boundary_at_or_after(text, index, len(text)) == 1 + len(cluster) for index in inside)
    assert all(boundary_at_or_before(text, index, 0) == 1 for index in inside)


@pytest.mark.parametrize("text", ["ab", "a b", "é文", "文字", "한국", "🇩🇪🇫🇷"[:2] + "x", "\n\u0301", "👍👍", "ا ب"])
def test_neighbours_may_be_parted(text: str) -> None:
    assert is_boundary(text, 2 if text.startswith("🇩") else 1)


def test_flags_are_pairs() -> None:
    flags = "🇩🇪🇫🇷🇮🇹"
    assert [is_boundary(flags, index) for index in range(7)] == [True, False, True, False, True, False, True]
    assert boundary_at_or_before("e" + "\u0301" * 5, 5, 1) is None
