"""The writer's process dies at any moment: the last acknowledged state is there, whole, in both legs.

This shows a crash of the process. What a power failure leaves depends on the disk and is not claimed here.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from seamline.conformance.store_case import query, scope, vector_of
from support.embedded import WORDS, open_store


class Writers:
    """Orders writers of the process in ``writer_process.py`` and keeps what they said."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._orders: IO[str] = process.stdin
        self._said: IO[str] = process.stdout

    def order(self, folder: Path, seed: int, statement: int = 0) -> int:
        """Start a writer; its pid."""
        self._orders.write(json.dumps({"folder": str(folder), "seed": seed, "statement": statement}) + "\n")
        self._orders.flush()
        return int(self.hear()["pid"])

    def hear(self) -> dict[str, Any]:
        """The next line that the process or its child said."""
        return dict(json.loads(self._said.readline()))


@pytest.fixture
def writers() -> Iterator[Writers]:
    script = Path(__file__).with_name("writer_process.py")
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Writers(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0


def verified(folder: Path) -> dict[str, str]:
    """The hashes of the documents' texts, after everything that must hold was looked at."""
    store = open_store(folder)
    assert store.check() == []
    with store.read() as snapshot:
        documents = {item.id: item for item in snapshot.documents(scope())}
        chunks = {chunk.id for key in documents for chunk in snapshot.chunks_of(scope(), key)}
        keyword = {hit.chunk_id for hit in snapshot.keyword_pool(scope(), query(" ".join(WORDS)), None)}
        dense = {hit.chunk_id for hit in snapshot.dense_pool(scope(), vector_of("x"), None)}
        assert keyword == dense == chunks
    store.close()
    return {str(key): document.text_sha256 for key, document in documents.items()}


def died(
    writers: Writers, before: dict[str, str], *, pid: int = 0, after: int | None = None
) -> tuple[dict[str, str], dict[str, str], int]:
    """What was acknowledged last, what was tried last, and how the writer ended; killed after so many lines."""
    acknowledged = tried = before
    heard = 0
    while True:
        said = writers.hear()
        if "ended" in said:
            return acknowledged, tried, int(said["ended"])
        tried = said.get("trying", tried)
        acknowledged = said.get("done", acknowledged)
        heard += 1
        if heard == after:
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("kills", [30, pytest.param(300, marks=[pytest.mark.nightly, pytest.mark.timeout(3600)])])
def test_rule_04_a_killed_writer_leaves_what_it_acknowledged(tmp_path: Path, writers: Writers, kills: int) -> None:
    chance = random.Random(kills)
    state: dict[str, str] = {}
    changed = 0
    for seed in range(kills):
        before = state
        pid = writers.order(tmp_path, seed)
        acknowledged, tried, code = died(writers, state, pid=pid, after=chance.randint(1, 24))
        assert code == -signal.SIGKILL
        state = verified(tmp_path)
        assert state in (acknowledged, tried)
        changed += state != before
    assert changed > kills // 2


@pytest.mark.parametrize("fresh", [True, False], ids=["new kb", "kb with merges"])
def test_rule_04_a_writer_that_dies_at_any_statement_leaves_a_whole_state(
    tmp_path: Path, writers: Writers, fresh: bool
) -> None:
    state: dict[str, str] = {}
    statement, code = 0, 9
    while code == 9:
        # Densely at first, where tables are made and the first commits happen; then in growing steps.
        statement += 1 if statement < 60 else 11
        folder = tmp_path / str(statement) if fresh else tmp_path
        if fresh:
            folder.mkdir()
            state = {}
        writers.order(folder, statement, statement)
        acknowledged, tried, code = died(writers, state)
        assert code in (0, 9)
        state = verified(folder)
        assert state in (acknowledged, tried)
    assert statement > 100
    assert state
