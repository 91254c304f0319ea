"""The stand-in embedder."""

from __future__ import annotations

import numpy as np
import pytest

from seamline.embed.hash import DIMENSION, create
from seamline.errors import EmbeddingError
from seamline.fingerprint import space_fingerprint


def test_says_that_it_is_a_stand_in() -> None:
    space = create({}).space
    assert space.stand_in
    assert space.provider == "hash"
    assert space.dimension == DIMENSION == 256


def test_its_vectors_never_change() -> None:
    # Pinned: another value here means that every kb made with the stand-in must be re-embedded.
    vector = create({}).embed_query("Alpha beta")
    places = np.flatnonzero(vector)
    assert dict(zip(places.tolist(), np.sign(vector[places]).tolist(), strict=True)) == {12: -1.0, 213: -1.0}


def test_shared_words_bring_texts_closer() -> None:
    question, near, far = create({}).embed_passages(["oil the pump", "the pump needs oil", "invoices are due"])
    assert question @ near > 0.5 > question @ far


def test_rule_34_case_space_and_punctuation_do_not_matter() -> None:
    embedder = create({})
    plain = embedder.embed_query("Which Pump leaks")
    assert np.array_equal(plain, embedder.embed_query("  which pump  LEAKS?"))


def test_a_blank_text_is_named_by_position() -> None:
    with pytest.raises(EmbeddingError, match="text 1 of 2 is empty"):
        create({}).embed_passages(["fine", "\t"])


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(EmbeddingError, match="lone surrogate at character 3"):
        create({}).embed_query("abc\ud800")


def test_the_space_has_one_fingerprint() -> None:
    assert space_fingerprint(create({}).space) == space_fingerprint(create({"x": 1}).space)
