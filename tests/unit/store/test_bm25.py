from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamline.store.bm25 import idf, impacts


def test_idf_is_lucenes() -> None:
    assert float(idf(10, 3)) == pytest.approx(math.log(1 + 7.5 / 3.5))
    assert idf(10, np.array([1, 10])).tolist() == pytest.approx([math.log(1 + 9.5 / 1.5), math.log(1 + 0.5 / 10.5)])


@given(st.integers(1, 10**7), st.data())
def test_idf_is_positive_and_falls_with_the_frequency(documents: int, data: st.DataObject) -> None:
    df = data.draw(st.integers(1, documents))
    assert float(idf(documents, df)) > 0
    if df < documents:
        assert float(idf(documents, df)) > float(idf(documents, df + 1))


def test_impacts_by_hand() -> None:
    found = impacts(np.array([1, 3]), np.array([10, 40]), idf=2.0, average_length=20.0, k1=1.2, b=0.75)
    expected = [2.0 * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * length / 20)) for tf, length in ((1, 10), (3, 40))]
    assert found.dtype == np.float32
    assert found.tolist() == pytest.approx(expected, rel=1e-6)


@given(
    tf=st.lists(st.integers(1, 1000), min_size=1, max_size=20),
    extra=st.integers(0, 1000),
    k1=st.floats(0, 10),
    b=st.floats(0, 1),
)
def test_impacts_do_not_depend_on_neighbours_and_leave_the_input(
    tf: list[int], extra: int, k1: float, b: float
) -> None:
    given_tf = np.array(tf, dtype=np.uint16)
    lengths = given_tf.astype(np.uint32) + extra
    before = given_tf.copy(), lengths.copy()
    together = impacts(given_tf, lengths, idf=1.5, average_length=7.5, k1=k1, b=b)
    alone = [
        impacts(given_tf[i : i + 1], lengths[i : i + 1], idf=1.5, average_length=7.5, k1=k1, b=b)[0]
        for i in range(len(tf))
    ]
    assert together.tolist() == alone
    assert (given_tf == before[0]).all()
    assert (lengths == before[1]).all()
    assert (together > 0).all()
    assert (together <= 1.5 * (k1 + 1) * (1 + 1e-6)).all()
