from __future__ import annotations

from pathlib import Path

import pytest

from seamline.errors import StoreError
from seamline.jobs import recorded, unfinished
from seamline.types import DocumentId, IngestStatus, Progress

STEP = Progress(done=3, total=9, status=IngestStatus.PARSING, document_id=DocumentId("c.md"), chunks=4)


def run(folder: Path, error: BaseException | None, *, steps: int = 1, source: str = "docs") -> list[Progress]:
    seen: list[Progress] = []
    with recorded(folder, source, seen.append, timeout=1.0) as step:
        for _ in range(steps):
            step(STEP)
        if error is not None:
            raise error
    return seen


@pytest.mark.parametrize(
    ("error", "reason"),
    [(KeyboardInterrupt(), "KeyboardInterrupt"), (StoreError("the disk is full"), "the disk is full")],
)
def test_rule_24_an_interrupted_run_is_told_until_one_ends(tmp_path: Path, error: BaseException, reason: str) -> None:
    with pytest.raises(type(error)):
        run(tmp_path, error)
    (left,) = unfinished(tmp_path)
    assert (left.source, left.done, left.total, left.document_id, left.reason, left.running) == (
        "docs", 3, 9, "c.md", reason, False,
    )  # fmt: skip
    run(tmp_path, None, source="other")
    assert unfinished(tmp_path) == [left]
    with pytest.raises(StoreError):
        run(tmp_path, StoreError("refused before it began"), steps=0)
    assert unfinished(tmp_path) == [left]
    assert run(tmp_path, None) == [STEP]
    assert unfinished(tmp_path) == []


def test_a_run_that_goes_on_is_running(tmp_path: Path) -> None:
    with recorded(tmp_path, "docs", lambda _: None, timeout=1.0) as step:
        step(STEP)
        assert [left.running for left in unfinished(tmp_path)] == [True]


def test_a_store_in_memory_has_no_journal_and_a_broken_one_is_named(tmp_path: Path) -> None:
    with recorded(None, "docs", lambda _: None, timeout=1.0) as step:
        step(STEP)
    assert unfinished(None) == []
    (tmp_path / "sync-0.json").write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match="not a journal"):
        unfinished(tmp_path)
