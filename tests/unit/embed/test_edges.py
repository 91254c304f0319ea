"""What may go into an embedder, and what may come out."""

from __future__ import annotations

import numpy as np
import pytest

from seamline.embed.edges import bare_question, checked
from seamline.errors import EmbeddingError


def test_a_wrong_count_or_dimension_is_refused() -> None:
    for shape in ((2, 4), (3, 5)):
        with pytest.raises(EmbeddingError, match=r"expected \(3, 4\)"):
            checked(np.zeros(shape, dtype=np.float32), 3, 4, "test")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_named_by_its_text(value: float) -> None:
    vectors = np.zeros((3, 4), dtype=np.float32)
    vectors[1, 2] = value
    with pytest.raises(EmbeddingError, match="the vector of text 1 of 3"):
        checked(vectors, 3, 4, "test")


def test_good_vectors_pass_unchanged() -> None:
    vectors = np.ones((3, 4), dtype=np.float32)
    assert checked(vectors, 3, 4, "test") is vectors


@pytest.mark.parametrize(
    ("text", "bare"),
    [("Why?", "Why"), (" why ?! \n", "why"), ("何故？", "何故"), ("v2.1", "v2.1"), ("???", "???"), ("C++", "C++")],
)
def test_rule_34_a_bare_question(text: str, bare: str) -> None:
    assert bare_question(text) == bare
