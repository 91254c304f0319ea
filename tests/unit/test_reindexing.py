"""Rule 03: another index is derived beside the live one, swapped in at once, and there is a way back."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from seamline import doctor, generations, knowledge_base
from seamline.errors import NotFoundError, StoreCorruptError, UsageError
from seamline.knowledge_base import KnowledgeBase
from seamline.store.generations import GenerationalStore
from seamline.types import DocumentId
from support.generations import register

COUNT = 40


@pytest.fixture(autouse=True)
def _folded(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(COUNT):
        write(folder, number, f"Pump {number} moves {number} litres. " * 40)
    return folder


def write(folder: Path, number: int, text: str) -> None:
    (folder / f"{number:03}.md").write_text(f"# Pump {number}\n\n{text}", encoding="utf-8")


def opened(home: Path, **settings: object) -> KnowledgeBase:
    return knowledge_base.open(home=home, settings=settings)


@pytest.fixture
def kb(tmp_path: Path, docs: Path) -> Iterator[KnowledgeBase]:
    with opened(tmp_path / "home", embedding_provider="hash") as made:
        made.index(docs)
    with opened(tmp_path / "home") as made:
        yield made


def found(kb: KnowledgeBase) -> set[str]:
    with kb.read() as snapshot:
        return {item.id for item in snapshot.documents(kb.scope)}


def clean(kb: KnowledgeBase) -> bool:
    return [item for item in doctor.examine(kb) if item.severity == "error"] == []


def folded(tmp_path: Path) -> KnowledgeBase:
    return opened(tmp_path / "home", embedding_provider="folded", chunk_chars=400)


def test_rule_03_swap_and_revert_lose_nothing_and_bring_nothing_back(
    tmp_path: Path, docs: Path, kb: KnowledgeBase
) -> None:
    before = kb.retrieve("pump 7", limit=3)
    with folded(tmp_path) as other:
        number = generations.build(other)
        assert kb.retrieve("pump 7", limit=3).space_fingerprint == before.space_fingerprint
        with opened(tmp_path / "home") as again:
            assert [item.role for item in generations.listed(again)] == ["live", "next"]
        # Written and deleted while it waits:
        write(docs, 900, "A new pump that moves nothing.")
        (docs / "003.md").unlink()
        kb.index(docs)
        generations.swap(other, number)
    after = kb.retrieve("pump 7", limit=3)  # the handle that was open all along
    assert after.space_fingerprint != before.space_fingerprint
    assert after.corpus_fingerprint != before.corpus_fingerprint
    assert "900.md" in found(kb)
    assert "003.md" not in found(kb)
    with folded(tmp_path) as other:
        write(docs, 901, "Written after the swap.")
        (docs / "004.md").unlink()
        report = other.index(docs)
        assert (report.added, report.removed, report.replaced) == (["901.md"], ["004.md"], [])  # the rest is unchanged
    with kb.read() as snapshot:
        assert len(snapshot.chunks_of(kb.scope, DocumentId("005.md"))) > 1
    assert clean(kb)
    assert generations.revert(kb) == 1
    assert kb.retrieve("pump 7", limit=3).space_fingerprint == before.space_fingerprint
    assert {"900.md", "901.md"} <= found(kb)
    assert not {"003.md", "004.md"} & found(kb)
    with opened(tmp_path / "home", embedding_provider="hash") as again:
        assert again.index(docs).skipped == sorted(found(kb))
    assert clean(kb)
    assert generations.prune(kb) == [number]
    with pytest.raises(NotFoundError):
        generations.revert(kb)
    assert clean(kb)


def test_a_deletion_and_an_access_list_reach_every_generation_at_once(
    tmp_path: Path, docs: Path, kb: KnowledgeBase
) -> None:
    with folded(tmp_path) as other:
        number = generations.build(other)
    kb.set_access("001.md", ["ana"])
    (docs / "002.md").unlink()
    kb.index(docs)
    store = kb.store()
    assert isinstance(store, GenerationalStore)
    with store.generation(number).read() as snapshot:
        assert snapshot.document(kb.scope, DocumentId("001.md")).readable_by == frozenset({"ana"})
        with pytest.raises(NotFoundError):
            snapshot.document(kb.scope, DocumentId("002.md"))


def test_a_pinned_generation_is_read_and_never_written(tmp_path: Path, docs: Path, kb: KnowledgeBase) -> None:
    with folded(tmp_path) as other:
        number = generations.build(other)
    with knowledge_base.open(home=tmp_path / "home", generation=number) as pinned:
        assert pinned.retrieve("pump 7").passages
        assert pinned.embedder().space.provider == "folded"
        with pytest.raises(UsageError, match="only read"):
            pinned.index(docs)
    with knowledge_base.open(home=tmp_path / "home", generation=99) as absent, pytest.raises(NotFoundError, match="99"):
        absent.retrieve("pump")
    changed = generations.diff(kb, 1, number, ["pump 7", "litres"], 5)
    assert {item.query for item in changed} == {"pump 7", "litres"}
    assert generations.diff(kb, number, number, ["pump 7"], 5) == []


def test_rule_03_no_search_fails_and_no_write_is_lost_while_it_runs(tmp_path: Path, kb: KnowledgeBase) -> None:
    stop = threading.Event()
    asked = [0]

    def search() -> None:
        with opened(tmp_path / "home") as mine:
            while not stop.is_set():
                assert mine.retrieve("pump 7 litres", limit=3).passages
                asked[0] += 1

    def change() -> int:
        removed = 0
        with opened(tmp_path / "home", write_timeout_s=60) as mine:
            store = mine.store()
            while not stop.is_set() and removed < 10:
                with store.write(timeout=60) as writer:
                    writer.remove([DocumentId(f"{removed:03}.md")])
                    writer.commit()
                removed += 1
        return removed

    with ThreadPoolExecutor(3) as threads:
        searches, writes = threads.submit(search), threads.submit(change)
        try:
            with folded(tmp_path) as other:
                for _ in range(3):
                    generations.swap(other, generations.build(other))
        finally:
            stop.set()
        searches.result()
        removed = writes.result()
    assert asked[0] > 3
    assert removed
    assert found(kb) == {f"{number:03}.md" for number in range(removed, COUNT)}
    generations.revert(kb)
    assert found(kb) == {f"{number:03}.md" for number in range(removed, COUNT)}
    assert clean(kb)


@pytest.mark.parametrize("kills", [4, pytest.param(40, marks=[pytest.mark.nightly, pytest.mark.timeout(1200)])])
def test_rule_04_a_killed_reindex_goes_on(tmp_path: Path, kb: KnowledgeBase, kills: int) -> None:
    expected = found(kb)
    command = [sys.executable, "-c", "from seamline.cli.main import main; main()", "reindex"]
    command += ["--home", str(tmp_path / "home"), "--set", "chunk_chars=120", "--set", "min_chunk_chars=20"]
    chance = random.Random(kills)
    for _ in range(kills):
        lines = chance.randint(0, 3)
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            assert process.stderr is not None
            for _ in range(lines):
                process.stderr.readline()
            process.send_signal(signal.SIGKILL)
        assert found(kb) == expected
        assert clean(kb)
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    with kb.read() as snapshot:
        assert len(snapshot.chunks_of(kb.scope, DocumentId("005.md"))) > 5
    assert found(kb) == expected
    assert clean(kb)


def test_a_pointer_that_cannot_be_read_is_an_error(kb: KnowledgeBase) -> None:
    found(kb)
    assert kb.folder is not None
    (kb.folder / "generations.json").write_text("{", encoding="utf-8")
    with pytest.raises(StoreCorruptError, match=r"generations\.json"):
        found(kb)
