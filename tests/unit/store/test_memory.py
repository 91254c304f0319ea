"""What is the reference store's own, beyond the contract of all stores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seamline.conformance.store_case import DIMENSION, binding, document, filed, indexed, put, scope, vector_of
from seamline.errors import EmbeddingError, NotFoundError
from seamline.ports import Store
from seamline.registry import factory
from seamline.store import memory
from seamline.store.memory_snapshot import Options
from support.stores import make_memory, store_settings


def test_it_is_a_store_behind_the_registrys_door() -> None:
    made = factory("stores", "memory")(store_settings(), folder=None, workspace="w", kb="k")
    assert isinstance(made, Store)
    assert made.capabilities()["dense"] == "exact"
    assert made.capabilities()["durability"] == "process"


def test_options_come_from_the_settings() -> None:
    picked = memory.options_from(store_settings(bm25_k1=0.5, bm25_b=0.25, vector_dtype="float32"))
    assert picked == Options(vector_dtype="float32", bm25_k1=0.5, bm25_b=0.25)
    with pytest.raises(KeyError, match="bm25_k1"):
        memory.options_from({"vector_dtype": "float32"})


@pytest.mark.parametrize("vector_dtype", ["float16", "float32"])
def test_vectors_are_kept_in_the_precision_of_the_setting(vector_dtype: str) -> None:
    store = make_memory(vector_dtype=vector_dtype)
    made, (item,) = filed("d", "x")
    third = np.full(DIMENSION, 1 / 3, dtype=np.float32)
    put(store, (made, [replace(item, vectors={"child": third})]))
    with store.read() as snapshot:
        (known,) = snapshot.known_vectors(scope(), [item.text_sha256]).values()
    assert known.tolist() == third.astype(vector_dtype).tolist()
    assert (known.tolist() == third.tolist()) == (vector_dtype == "float32")


def test_a_vector_beyond_the_precisions_range_is_refused() -> None:
    made, (item,) = filed("d", "x")
    huge = [replace(item, vectors={"child": np.full(DIMENSION, 1e6, dtype=np.float32)})]
    with pytest.raises(EmbeddingError, match="float16"):
        put(make_memory(vector_dtype="float16"), (made, huge))
    put(make_memory(vector_dtype="float32"), (made, huge))


def test_a_store_of_either_precision_has_the_same_digest() -> None:
    digests = set()
    for vector_dtype in ("float16", "float32"):
        store = make_memory(vector_dtype=vector_dtype)
        made = document("d", "one\ntwo")
        put(
            store,
            (made, [replace(item, vectors={"child": vector_of("x") * np.float32(0.3)}) for item in indexed(made)]),
        )
        with store.read() as snapshot:
            digests.add(snapshot.digest(scope()))
    assert len(digests) == 1


def test_a_snapshot_outlives_the_store() -> None:
    store = make_memory()
    put(store, filed("d", "x"))
    with store.read() as snapshot:
        store.close()
        assert snapshot.statistics(scope()).documents == 1
        assert snapshot.binding(scope()) == binding()


def test_check_names_what_is_wrong() -> None:
    store = make_memory()
    made, chunks = filed("d", "one\ntwo")
    wrong = [replace(chunks[1], chunk=replace(chunks[1].chunk, char_start=0, char_end=3))]
    put(store, (replace(made, text_sha256="0" * 64), wrong))
    findings = {finding.check: finding for finding in store.check()}
    assert findings.keys() == {"text_hash", "span"}
    assert findings["span"].samples == ("d#1",)
    assert findings["text_hash"].samples == ("d",)


def test_a_missing_kb_is_named() -> None:
    with make_memory().read() as snapshot, pytest.raises(NotFoundError, match="'other'"):
        snapshot.statistics(scope(kb="other"))
