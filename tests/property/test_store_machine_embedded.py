"""Random changes and reads of the embedded store, beside a dictionary; reopened from its files."""

from __future__ import annotations

from pathlib import Path

from hypothesis import settings

from seamline.ports import Store
from seamline.store import embedded
from support.store_machine import StoreMachine
from support.stores import folder_of, store_settings


class EmbeddedMachine(StoreMachine):
    def make(self, folder: Path) -> Store:
        return embedded.create(store_settings(), folder=folder_of(folder, "k"), workspace="w", kb="k")

    def reopened(self, store: Store, folder: Path) -> Store:
        store.close()
        return self.make(folder)


TestEmbeddedMachine = EmbeddedMachine.TestCase
TestEmbeddedMachine.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
