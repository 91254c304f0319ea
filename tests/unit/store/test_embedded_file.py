"""The file: what opening may do to it, and what is said about a bad one."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from seamline.conformance.store_case import binding, filed, put, query, scope, state, vector_of
from seamline.errors import (
    SchemaError,
    SeamlineError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
)
from seamline.store.embedded import schema
from seamline.store.embedded.store import EmbeddedStore
from seamline.store.embedded.writer import EmbeddedWriter
from seamline.types import DocumentId
from support.embedded import made_up, open_store


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def ids_seen(store: EmbeddedStore) -> list[str]:
    with store.read() as snapshot:
        return [item.id for item in snapshot.documents(scope())]


def filled(folder: Path) -> None:
    store = open_store(folder)
    put(store, *(made_up(f"d{number}", number) for number in range(4)))
    store.close()


def test_rule_27_reading_a_folder_without_a_kb_creates_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path / "absent")
    assert ids_seen(store) == []
    assert store.check() == []
    store.close()
    assert not (tmp_path / "absent").exists()


def test_rule_27_reading_changes_no_byte(tmp_path: Path) -> None:
    filled(tmp_path)
    before = (tmp_path / "kb.sqlite").read_bytes()
    store = open_store(tmp_path)
    assert ids_seen(store) == ["d0", "d1", "d2", "d3"]
    with store.read() as snapshot:
        assert snapshot.keyword_pool(scope(), query("red river stone"), 5)
        assert snapshot.dense_pool(scope(), vector_of("x"), 5)
    store.close()
    assert (tmp_path / "kb.sqlite").read_bytes() == before


@pytest.mark.parametrize(
    ("pragma", "mentions"), [("user_version = 99", "schema 99"), ("application_id = 7", "not a knowledge base")]
)
def test_rule_27_a_newer_or_foreign_file_is_refused_untouched(tmp_path: Path, pragma: str, mentions: str) -> None:
    filled(tmp_path)
    connection = sqlite3.connect(tmp_path / "kb.sqlite")
    connection.execute(f"PRAGMA {pragma}")
    connection.close()
    before = (tmp_path / "kb.sqlite").read_bytes()
    store = open_store(tmp_path)
    for use in (lambda: ids_seen(store), lambda: put(store), store.check):
        with pytest.raises(SchemaError, match=mentions) as refusal:
            use()
        assert refusal.value.hint
    store.close()
    assert (tmp_path / "kb.sqlite").read_bytes() == before


def test_a_file_left_by_a_crash_before_its_tables_is_an_empty_kb(tmp_path: Path) -> None:
    (tmp_path / "kb.sqlite").touch()
    store = open_store(tmp_path)
    assert ids_seen(store) == []
    put(store, filed("a", "red"))
    assert ids_seen(store) == ["a"]
    store.close()


def test_a_file_that_is_not_sqlite_is_named_damaged(tmp_path: Path) -> None:
    (tmp_path / "kb.sqlite").write_bytes(b"not a database " * 1000)
    store = open_store(tmp_path)
    with pytest.raises(StoreCorruptError, match=r"kb\.sqlite is damaged") as refusal, store.read():
        pass
    assert refusal.value.hint
    with pytest.raises(StoreCorruptError), store.write():
        pass
    store.close()


def test_a_file_that_vanished_is_not_an_empty_kb(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "kb.sqlite").rename(tmp_path / "elsewhere")
    (tmp_path / "vectors-child-3.f32").touch()
    store = open_store(tmp_path)
    with pytest.raises(StoreCorruptError, match="is gone"), store.read():
        pass
    with pytest.raises(StoreCorruptError, match="is gone"), store.write():
        pass
    store.close()


def test_a_full_disk_keeps_the_last_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    connect = schema.connect_to_write

    def small(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")  # SQLite then reports SQLITE_FULL
        return connection

    monkeypatch.setattr("seamline.store.embedded.store.connect_to_write", small)
    store = open_store(tmp_path)
    with store.write() as writer:
        with pytest.raises(StoreError, match="full") as refusal:
            fill(writer)
        assert "disk space" in str(refusal.value.hint)
        with pytest.raises(StoreError, match="ended"):
            writer.commit()
    assert ids_seen(store) == ["d0", "d1", "d2", "d3"]
    assert store.check() == []
    store.close()


def test_an_interrupt_inside_a_put_can_not_be_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path)
    put(store, filed("old", "red"))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with store.write() as writer:
        monkeypatch.setattr(writer, "_insert_chunks", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.put(*filed("old", "blue"))
        with pytest.raises(StoreError, match="ended"):
            writer.commit()
    with store.read() as snapshot:
        assert snapshot.document(scope(), DocumentId("old")).text == "red"
    store.close()


def fill(writer: EmbeddedWriter) -> None:
    for number in range(100):
        writer.put(*made_up(f"new{number}", number, lines=30))
    writer.commit()


READ_ONLY = """
import os, sys
from pathlib import Path
sys.path[:0] = [{tests!r}]
from seamline.conformance.store_case import filed, put, query, scope, vector_of
from seamline.errors import StoreError
from support.embedded import open_store

def look(folder, count):
    store = open_store(folder)
    with store.read() as snapshot:
        assert len(list(snapshot.documents(scope()))) == count
        assert snapshot.keyword_pool(scope(), query("red river stone"), 5)
        assert snapshot.dense_pool(scope(), vector_of("x"), 5)
    assert store.check() == []
    return store

warm = open_store(Path({folder!r}).parent / "warm")
put(warm, filed("d0", "red"))
look(Path({folder!r}).parent / "warm", 1)
if os.getuid() == 0:  # who may write anywhere; everything is imported by now
    os.setgid(65534)
    os.setuid(65534)
store = look(Path({folder!r}), 4)
try:
    with store.write() as writer:
        print("written")
except StoreError as error:
    print(error)
"""


def test_a_read_only_folder_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    filled(folder)
    for path in (*folder.iterdir(), folder):
        path.chmod(path.stat().st_mode & ~0o222)
    opened = [path for path in tmp_path.parents if path.stat().st_uid == os.getuid()] if os.getuid() == 0 else []
    modes = [(path, path.stat().st_mode) for path in (tmp_path, *opened)]
    try:
        for path, mode in modes:
            path.chmod(mode | 0o011)
        before = contents(folder)
        script = READ_ONLY.format(tests=str(Path(__file__).parents[2]), folder=str(folder))
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        assert "permissions" in ran.stdout
        assert "hint:" in ran.stdout
        assert contents(folder) == before
    finally:
        for path, mode in modes:
            path.chmod(mode)
        for path in (folder, *folder.iterdir()):
            path.chmod(path.stat().st_mode | 0o200)


HOLDER = """
import sys
from pathlib import Path
sys.path[:0] = [{tests!r}]
from support.embedded import open_store
with open_store(Path({folder!r})).write():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_rule_32_the_error_names_the_process_that_writes(tmp_path: Path) -> None:
    filled(tmp_path)
    script = HOLDER.format(tests=str(Path(__file__).parents[2]), folder=str(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        store = open_store(tmp_path)
        with pytest.raises(StoreBusyError, match=f"process {holder.pid}") as refusal, store.write(timeout=0.05):
            pass
        assert refusal.value.retryable
        assert ids_seen(store) == ["d0", "d1", "d2", "d3"]
        holder.kill()  # the system frees the lock of a dead holder
        holder.wait()
        with store.write(timeout=1.0) as writer:
            writer.record([state("d0")])
            writer.commit()
        store.close()


def test_a_commit_of_another_store_object_is_noticed(tmp_path: Path) -> None:
    filled(tmp_path)
    mine, other = open_store(tmp_path), open_store(tmp_path)
    assert ids_seen(mine) == ["d0", "d1", "d2", "d3"]
    put(other, filed("e", "red"))
    assert ids_seen(mine)[-1] == "e"
    mine.close()
    other.close()


def test_a_file_restored_under_an_open_store_is_noticed(tmp_path: Path) -> None:
    filled(tmp_path)
    backup = (tmp_path / "kb.sqlite").read_bytes()
    store = open_store(tmp_path)
    put(store, filed("later", "red"), filed("latest", "blue"))
    assert "latest" in ids_seen(store)
    (tmp_path / "restored").write_bytes(backup)
    for name in ("kb.sqlite-wal", "kb.sqlite-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / "restored").replace(tmp_path / "kb.sqlite")
    assert ids_seen(store) == ["d0", "d1", "d2", "d3"]
    put(store, filed("other", "green"), filed("another", "wool"))  # the same generation numbers, another history
    with store.read() as snapshot:
        assert {hit.chunk_id for hit in snapshot.keyword_pool(scope(), query("wool"), None)} >= {"another#0"}
        assert snapshot.keyword_pool(scope(documents=["later"]), query("red"), None) == []
    assert store.check() == []
    store.close()


def test_a_snapshot_ends_with_its_context(tmp_path: Path) -> None:
    filled(tmp_path)
    store = open_store(tmp_path)
    with store.read() as snapshot:
        pass
    with pytest.raises(StoreError, match="ended"):
        snapshot.document(scope(), DocumentId("d0"))
    store.close()


def test_a_whole_disk_failure_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    store = open_store(tmp_path / "folder")
    with pytest.raises(SeamlineError), store.write() as writer:
        writer.bind(binding())
    store.close()
