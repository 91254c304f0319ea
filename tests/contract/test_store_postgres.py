"""The shipped contract of stores, run on a real PostgreSQL server."""

from __future__ import annotations

from pathlib import Path

import pytest

from seamline.conformance.stores import StoreConformance
from seamline.ports import Store
from support.postgres import needs_postgres, new_database, postgres_settings

DATABASES: dict[Path, str] = {}


@needs_postgres
@pytest.mark.parametrize("vector_dtype", ["float16", "float32"])
class TestPostgresStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def _precision(self, vector_dtype: str) -> None:
        self._vector_dtype = vector_dtype

    def make_store(self, tmp_path: Path, kb: str = "k", workspace: str = "w") -> Store:
        from seamline.store import postgres

        if tmp_path not in DATABASES:
            DATABASES[tmp_path] = new_database()
        settings = postgres_settings(DATABASES[tmp_path], vector_dtype=self._vector_dtype)
        return postgres.create(settings, folder=None, workspace=workspace, kb=kb)

    def reopen(self, store: Store, tmp_path: Path) -> Store:
        store.close()
        return self.make_store(tmp_path)
