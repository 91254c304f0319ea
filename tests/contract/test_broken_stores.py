"""The conformance tests notice planted bugs, and each bug is noticed by the tests that are meant to."""

from __future__ import annotations

from pathlib import Path

import pytest

from contract.broken_stores import details, legs, reads, writes
from contract.broken_stores.planted import BrokenStore
from seamline.conformance.stores import StoreConformance
from seamline.ports import Store
from seamline.store.memory import options_from
from support.stores import store_settings

BROKEN = [
    kind
    for module in (details, legs, reads, writes)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, BrokenStore) and kind is not BrokenStore
]
RULES = sorted(name for name in dir(StoreConformance) if name.startswith("test_"))


def failures(kind: type[BrokenStore], folder: Path) -> dict[str, Exception]:
    """The conformance tests that a store fails, with the error of each."""

    class Case(StoreConformance):
        def make_store(self, tmp_path: Path, kb: str = "k", workspace: str = "w") -> Store:
            del tmp_path
            return kind(options_from(store_settings(vector_dtype="float32")), workspace=workspace, kb=kb)

    found: dict[str, Exception] = {}
    for rule in RULES:
        try:
            getattr(Case(), rule)(folder / rule)
        except Exception as error:
            found[rule] = error
    return found


def test_the_harness_itself_breaks_nothing(tmp_path: Path) -> None:
    assert failures(BrokenStore, tmp_path) == {}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_planted_bug_fails_exactly_its_tests(kind: type[BrokenStore], tmp_path: Path) -> None:
    assert kind.fails
    found = failures(kind, tmp_path)
    assert found.keys() == kind.fails, found


def test_every_rule_but_one_is_seen_to_fail() -> None:
    seen = frozenset[str]().union(*(kind.fails for kind in BROKEN))
    # A store that keeps nothing has nothing to lose by reopening.
    assert set(RULES) - seen == {"test_what_was_committed_survives_reopening"}
