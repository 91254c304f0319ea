"""The contract of a store, as a test class that every store passes.

A store's own test suite subclasses it, and says how a store is made::

    from seamline.conformance.stores import StoreConformance

    class TestMyStore(StoreConformance):
        def make_store(self, tmp_path, kb="k", workspace="w"):
            return create({..., "bm25_k1": 1.2, "bm25_b": 0.75}, folder=tmp_path / kb, workspace=workspace, kb=kb)

        def reopen(self, store, tmp_path):
            store.close()
            return self.make_store(tmp_path)

The tests run under pytest, which gives them ``tmp_path``; this module itself does not import pytest. Put
``pytest.register_assert_rewrite("seamline.conformance")`` into a ``conftest.py`` to see values in failures.
``reopen`` is for stores that are durable. Each test says in its docstring what it asks of a store.
"""

from __future__ import annotations

from seamline.conformance.store_case import K1, B, StoreCase
from seamline.conformance.store_commits import CommitRules
from seamline.conformance.store_legs import DenseRules, KeywordRules, PoolRules
from seamline.conformance.store_puts import PutRules
from seamline.conformance.store_scope import AccessRules, FilterRules

__all__ = ["K1", "B", "StoreCase", "StoreConformance"]


class StoreConformance(PutRules, CommitRules, DenseRules, KeywordRules, PoolRules, AccessRules, FilterRules):
    """Every rule. ``make_store`` must give an empty store with BM25 at ``K1`` and ``B``."""
