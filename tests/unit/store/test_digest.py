from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from seamline.conformance.store_case import document, indexed
from seamline.store.digest import digest
from seamline.types import Chunk, VectorName

Filed = tuple[Chunk, dict[str, int], dict[VectorName, NDArray[np.float32]]]


def rows(vector: list[float], terms: dict[str, int]) -> list[Filed]:
    chunk = indexed(document("d", "x"))[0].chunk
    return [(chunk, terms, {"child": np.array(vector, dtype=np.float32)})]


def test_an_empty_kb_has_a_digest() -> None:
    assert len(digest([], [])) == 64


def test_precision_of_storage_and_order_of_terms_do_not_count() -> None:
    exact = digest([], rows([0.1, 0.2], {"a": 1, "b": 2}))
    halved = [float(value) for value in np.array([0.1, 0.2], dtype=np.float16)]
    assert digest([], rows(halved, {"b": 2, "a": 1})) == exact
    assert digest([], rows([0.1, 0.25], {"a": 1, "b": 2})) != exact


def test_parts_cannot_run_together() -> None:
    assert digest([], rows([0.0], {"ab": 1})) != digest([], rows([0.0], {"a": 1, "b": 1}))
    assert digest([], rows([0.0], {"a": 11})) != digest([], rows([0.0], {"a1": 1}))


def test_inputs_out_of_order_are_refused() -> None:
    first, second = document("a", "x"), document("b", "x")
    assert digest([first, second], []) != digest([first], [])
    for wrong in ([second, first], [first, first]):
        with pytest.raises(ValueError, match="ascending"):
            digest(wrong, [])
    chunks: list[Filed] = [(item.chunk, {}, {}) for item in indexed(document("a", "x\ny"))]
    with pytest.raises(ValueError, match="ascending"):
        digest([], list(reversed(chunks)))


def test_a_vector_beyond_float16_still_has_a_digest() -> None:
    assert digest([], rows([1e6], {})) != digest([], rows([1.0], {}))
