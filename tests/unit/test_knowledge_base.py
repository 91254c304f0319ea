"""A handle that many threads share."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import seamline
from seamline import registry
from support.cli import write_documents


def test_threads_that_open_a_kb_at_once_share_one_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"embedding_provider": "hash"}
    with seamline.open(home=tmp_path / "home", settings=settings) as kb:
        kb.index(write_documents(tmp_path / "docs"))
    made: list[object] = []
    real = registry.factory

    def counted(kind: registry.Kind, name: str) -> Any:  # noqa: ANN401
        if kind == "stores":
            made.append(name)
        return real(kind, name)

    monkeypatch.setattr(registry, "factory", counted)
    together = threading.Barrier(8, timeout=30)
    with seamline.open(home=tmp_path / "home", settings=settings) as kb, ThreadPoolExecutor(8) as pool:

        def ask(_number: int) -> str:
            together.wait()
            return kb.retrieve("ERR_SEAL-7").passages[0].chunk.document_id

        assert set(pool.map(ask, range(8))) == {"pumps/p-40.md"}
    assert made == ["embedded"]
