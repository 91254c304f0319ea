"""The shipped contract of stores, run on the reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from seamline.conformance.stores import StoreConformance
from seamline.ports import Store
from support.stores import make_memory


@pytest.mark.parametrize("vector_dtype", ["float16", "float32"])
class TestMemoryStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def _precision(self, vector_dtype: str) -> None:
        self._vector_dtype = vector_dtype

    def make_store(self, tmp_path: Path, kb: str = "k", workspace: str = "w") -> Store:
        del tmp_path
        return make_memory(kb, workspace, vector_dtype=self._vector_dtype)
