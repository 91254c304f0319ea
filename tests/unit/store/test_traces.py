from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from seamline.errors import NotFoundError, SchemaError, StoreError
from seamline.store.traces import TraceStore

RECORD = {"query": "what's up? 🦊 \ud800", "timings": {"dense": 0.1 + 0.2}, "ids": ["d#0"], "gate": None, "n": 3}


Opener = Callable[..., TraceStore]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opener]:
    """Opens the traces of ``tmp_path``, and closes them after the test."""
    with ExitStack() as stack:

        def open_traces(path: Path = tmp_path / "traces.sqlite", **given: int) -> TraceStore:
            traces = TraceStore(path, **given)
            stack.callback(traces.close)
            return traces

        yield open_traces


def test_a_trace_comes_back_unchanged(opened: Opener) -> None:
    traces = opened()
    traces.put("t1", RECORD)
    assert traces.get("t1") == RECORD
    assert opened().get("t1") == RECORD


def test_reading_makes_no_file(opened: Opener, tmp_path: Path) -> None:
    traces = opened()
    assert traces.recent(10) == []
    with pytest.raises(NotFoundError, match="t1"):
        traces.get("t1")
    assert list(tmp_path.iterdir()) == []


def test_recent_is_newest_first_and_the_oldest_are_dropped(opened: Opener) -> None:
    traces = opened(max_traces=3)
    for number in range(5):
        traces.put(f"t{number}", {"n": number})
    assert traces.recent(10) == [{"n": 4}, {"n": 3}, {"n": 2}]
    assert traces.recent(2) == [{"n": 4}, {"n": 3}]
    assert traces.recent(0) == []
    with pytest.raises(NotFoundError, match="last 3"):
        traces.get("t1")


def test_the_same_id_replaces(opened: Opener) -> None:
    traces = opened(max_traces=2)
    for trace_id, number in (("a", 1), ("b", 2), ("a", 3), ("a", 4)):
        traces.put(trace_id, {"n": number})
    assert traces.recent(10) == [{"n": 4}, {"n": 2}]


def test_threads_may_put_at_once(opened: Opener) -> None:
    traces = opened()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: traces.put(f"t{number}", {"n": number}), range(40)))
    assert sorted(str(record["n"]) for record in traces.recent(100)) == sorted(map(str, range(40)))


@pytest.mark.parametrize("record", [{"score": float("nan")}, {"raw": b"bytes"}, {"set": {1}}])
def test_what_is_not_json_is_refused(opened: Opener, record: dict[str, object]) -> None:
    with pytest.raises(StoreError, match="not JSON"):
        opened().put("t", record)


def test_a_failure_is_an_error_for_the_caller_to_judge(opened: Opener, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="traces"):
        opened(tmp_path / "file" / "traces.sqlite").put("t", {})
    broken = tmp_path / "traces.sqlite"
    broken.write_bytes(b"not a database, but long enough to be read as one" * 50)
    with pytest.raises(StoreError, match="traces"):
        opened(broken).recent(1)


def test_a_writer_that_holds_the_file_is_waited_for_and_then_named(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seamline.store.traces.BUSY_TIMEOUT_S", 0.05)
    traces = opened()
    traces.put("t", {"n": 1})
    with closing(sqlite3.connect(tmp_path / "traces.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process"):
            traces.put("t2", {})
        assert traces.get("t") == {"n": 1}
    traces.put("t2", {"n": 2})
    assert len(traces.recent(5)) == 2


def test_a_newer_file_is_refused(opened: Opener, tmp_path: Path) -> None:
    traces = opened()
    traces.put("t", {})
    with closing(sqlite3.connect(tmp_path / "traces.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 7")
    for act in (lambda: traces.put("t", {}), lambda: traces.get("t")):
        with pytest.raises(SchemaError, match="7"):
            act()


def test_records_are_plain_json_in_the_file(opened: Opener, tmp_path: Path) -> None:
    opened().put("t", RECORD)
    with closing(sqlite3.connect(tmp_path / "traces.sqlite")) as connection:
        ((text,),) = connection.execute("SELECT record FROM traces").fetchall()
    assert json.loads(text) == RECORD


def test_closing_lets_go_of_the_file_and_may_be_undone(opened: Opener, tmp_path: Path) -> None:
    traces = opened()
    traces.put("t", {"n": 1})
    assert len(list(tmp_path.iterdir())) > 1
    traces.close()
    traces.close()
    assert [path.name for path in tmp_path.iterdir()] == ["traces.sqlite"]
    traces.put("t2", {"n": 2})
    assert traces.recent(5) == [{"n": 2}, {"n": 1}]
