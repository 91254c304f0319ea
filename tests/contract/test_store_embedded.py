"""The shipped contract of stores, run on the embedded store."""

from __future__ import annotations

from pathlib import Path

import pytest

from seamline.conformance.stores import StoreConformance
from seamline.ports import Store
from seamline.store import embedded
from support.stores import folder_of, store_settings


@pytest.mark.parametrize("vector_dtype", ["float16", "float32"])
class TestEmbeddedStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def _precision(self, vector_dtype: str) -> None:
        self._vector_dtype = vector_dtype

    def make_store(self, tmp_path: Path, kb: str = "k", workspace: str = "w") -> Store:
        settings = store_settings(vector_dtype=self._vector_dtype)
        return embedded.create(settings, folder=folder_of(tmp_path, kb), workspace=workspace, kb=kb)

    def reopen(self, store: Store, tmp_path: Path) -> Store:
        store.close()
        return self.make_store(tmp_path)
