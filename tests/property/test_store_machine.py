"""Random changes and reads of the reference store, beside a dictionary."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from contract.broken_stores import legs, reads, writes
from contract.broken_stores.planted import BrokenStore
from seamline.ports import Store
from seamline.store.memory import options_from
from support.store_machine import StoreMachine
from support.stores import make_memory, store_settings


class MemoryMachine(StoreMachine):
    def make(self, folder: Path) -> Store:
        del folder
        return make_memory()


TestMemoryMachine = MemoryMachine.TestCase
TestMemoryMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)

NOTICED = [
    legs.DenseFilterAfterCut,
    legs.KeywordIgnoresFilters,
    legs.PhrasesAfterCut,
    legs.StaleFrequencies,
    legs.TiesByInsertion,
    reads.LeaksChunksById,
    reads.LiveReads,
    writes.RollbackKeeps,
]


@pytest.mark.parametrize("kind", NOTICED)
def test_the_machine_notices_a_planted_bug(kind: type[BrokenStore]) -> None:
    class BrokenMachine(StoreMachine):
        def make(self, folder: Path) -> Store:
            del folder
            return kind(options_from(store_settings()), workspace="w", kb="k")

    quick = settings(
        max_examples=300,
        stateful_step_count=30,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
    )
    with pytest.raises((AssertionError, ExceptionGroup)):
        run_state_machine_as_test(BrokenMachine, settings=quick)
