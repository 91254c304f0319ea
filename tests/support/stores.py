"""Makes stores with the settings that the contract's tests ask for."""

from __future__ import annotations

from pathlib import Path

from seamline.conformance.stores import K1, B
from seamline.settings import Settings
from seamline.store import memory


def store_settings(**given: object) -> dict[str, object]:
    """All settings at their defaults, BM25 as the contract's tests want it, and what is given."""
    return {**Settings.model_validate({}).mapping(), "bm25_k1": K1, "bm25_b": B, **given}


def make_memory(kb: str = "k", workspace: str = "w", **given: object) -> memory.MemoryStore:
    """An empty reference store."""
    return memory.create(store_settings(**given), folder=None, workspace=workspace, kb=kb)


def folder_of(tmp_path: Path, kb: str) -> Path:
    """A folder of its own for a kb on disk."""
    folder = tmp_path / kb
    folder.mkdir(parents=True, exist_ok=True)
    return folder
