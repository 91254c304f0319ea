"""Random changes and reads of PostgreSQL, beside a dictionary."""

from __future__ import annotations

from pathlib import Path

from hypothesis import settings

from seamline.ports import Store
from seamline.store import postgres
from support.postgres import needs_postgres, new_database, postgres_settings
from support.store_machine import StoreMachine

DATABASES: dict[Path, str] = {}


class PostgresMachine(StoreMachine):
    def make(self, folder: Path) -> Store:
        if folder not in DATABASES:
            DATABASES[folder] = new_database()
        return postgres.create(postgres_settings(DATABASES[folder]), folder=None, workspace="w", kb="k")

    def reopened(self, store: Store, folder: Path) -> Store:
        store.close()
        return self.make(folder)


TestPostgresMachine = needs_postgres(PostgresMachine.TestCase)
TestPostgresMachine.settings = settings(max_examples=5, stateful_step_count=20, deadline=None)
