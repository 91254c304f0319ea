"""The shipped contract of stores, run on Qdrant's local mode, and on a server where one is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seamline.conformance.store_case import FOX, filed, put, query, scope, vector_of
from seamline.conformance.stores import StoreConformance
from seamline.errors import StoreError
from seamline.ports import Store
from seamline.store import qdrant
from support.stores import folder_of, store_settings

URL = os.environ.get("SEAMLINE_TEST_QDRANT_URL")


def make(tmp_path: Path, kb: str = "k", workspace: str = "w", **given: object) -> Store:
    settings = store_settings(**given)
    return qdrant.create(settings, folder=folder_of(tmp_path, kb), workspace=workspace, kb=kb)


class TestQdrantStore(StoreConformance):
    def make_store(self, tmp_path: Path, kb: str = "k", workspace: str = "w") -> Store:
        return make(tmp_path, kb, workspace)

    def reopen(self, store: Store, tmp_path: Path) -> Store:
        store.close()
        return self.make_store(tmp_path)


@pytest.mark.skipif(URL is None, reason="SEAMLINE_TEST_QDRANT_URL names a server to test with")
class TestQdrantServer(StoreConformance):
    def make_store(self, tmp_path: Path, kb: str = "k", workspace: str = "w") -> Store:
        return make(tmp_path, kb, f"{workspace}", qdrant_url=URL)


def test_rule_04_what_a_dead_writer_left_is_not_seen_and_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The points are written, the record store's commit never comes."""
    store = make(tmp_path)
    put(store, filed("fox", FOX))
    with store.write() as writer:
        writer.put(*filed("fox", "replaced"))
        with monkeypatch.context() as patched:
            patched.setattr(writer._records, "commit", _fail)  # type: ignore[attr-defined]
            with pytest.raises(StoreError, match="planted"):
                writer.commit()
    for _ in range(2):
        with store.read() as snapshot:
            dense = {hit.chunk_id for hit in snapshot.dense_pool(scope(), vector_of("x"), 10)}
            keyword = {hit.chunk_id for hit in snapshot.keyword_pool(scope(), query("the"), 10)}
            assert dense == {"fox#0", "fox#1"}
            assert keyword <= dense
        assert store.check() == []
        put(store, filed("fox", FOX))
    store.close()


def _fail() -> int:
    raise StoreError("planted")
