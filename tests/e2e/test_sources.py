"""What ``seamline index`` reads besides folders, and how it explains, watches and goes on."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import seamline
from seamline.errors import ListingError
from support.cli import Cli, write_documents


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path / "home", capsys)


def test_a_document_on_standard_input(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"# Tides\n\nThe tide turns at six.\n")))
    assert cli("index", "-", "--source-name", "tides.md", "--json").json()["added"] == ["tides.md"]
    assert cli("search", "tide turns", "--json").json()["passages"][0]["heading_path"] == ["Tides"]


def test_records_with_their_titles_metadata_and_faults(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    rows = [{"_id": "a/1", "title": "Tides", "text": "The tide turns at six.", "metadata": {"team": "port"}}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert cli("index", file, "--source", "records", "--json").json()["added"] == ["a/1"]
    found = cli("search", "tide", "--where", "team=port", "--json").json()["passages"]
    assert [(item["document_id"], item["title"]) for item in found] == [("a/1", "Tides")]
    file.write_text('{"no": "id"}\n', encoding="utf-8")
    assert cli("index", file, "--source", "records").code == 1
    assert cli("status", "--json").json()["documents"] == 1  # a listing that fails removes nothing
    assert cli("index", file, "--source", "recordz").code == 2


def test_a_dry_run_creates_nothing(cli: Cli, tmp_path: Path) -> None:
    report = cli("index", write_documents(tmp_path / "docs"), "--dry-run", "--json").json()
    assert (len(report["added"]), report["dry_run"]) == (5, True)
    assert not (tmp_path / "home").exists()


def test_a_home_inside_the_folder_is_not_indexed(tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "docs")
    with seamline.open(home=folder / "home", settings={"embedding_provider": "hash"}) as kb:
        first = kb.index(folder)
        again = kb.index(folder)
        with pytest.raises(ListingError, match="home of an index"):
            kb.index(folder / "home")
    assert (len(first.added), again.added, again.failed) == (5, [], [])


@pytest.mark.parametrize(("name", "status"), [("log.txt", "ok"), ("page.md", "ok"), ("data.bin", "unsupported")])
def test_text_with_some_nuls_is_text(cli: Cli, tmp_path: Path, name: str, status: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"The pump is " + b"\0" * 3 + b"closed.\n")
    assert cli("index", file, "--explain", "--json").json()[0]["status"] == status


def test_explain_tells_what_was_extracted_how_and_what_was_dropped(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# Pumps\n\nThe P-40 is the smaller\x07 pump of the harbour.\n\n- one\n- two\n", encoding="utf-8")
    row = cli("index", file, "--explain", "--json").json()[0]
    assert (row["status"], row["media_type"], row["decoder"]) == ("ok", "text/markdown", "utf-8")
    assert row["parser"].startswith("markdown ")
    assert row["outline"] == [{"level": 1, "title": "Pumps"}]
    assert row["blocks"] == {"heading": 1, "paragraph": 1, "list_item": 2}
    assert row["dropped"]["control characters"] == 1
    ran = cli("index", file, "--explain")
    assert ran.code == 0
    for words in ("text/markdown", "1 control characters", "Pumps", "en ("):
        assert words in ran.out
    (tmp_path / "b.bin").write_bytes(bytes(range(256)) * 8)
    assert cli("index", tmp_path / "b.bin", "--explain").code == 1
    assert not (tmp_path / "home").exists()


def test_an_access_list_of_a_record_is_kept_or_refused(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    row = {"_id": "a", "text": "The vault opens at six.", "readable_by": ["staff"], "version": 1}
    file.write_text(json.dumps(row), encoding="utf-8")
    cli("index", file, "--source", "records")
    assert cli("access", "show", "a", "--json").json()["readable_by"] == ["staff"]
    file.write_text(json.dumps(row | {"text": "Another text."}), encoding="utf-8")
    assert "version" in cli("index", file, "--source", "records", "--json").json()["failed"][0]["reason"]
    file.write_text(json.dumps(row | {"readable_by": "staff"}), encoding="utf-8")
    assert "not a list of names" in cli("index", file, "--source", "records").err


def test_a_list_names_files_and_an_empty_one_removes_nothing(cli: Cli, tmp_path: Path) -> None:
    docs = write_documents(tmp_path / "docs")
    listing = tmp_path / "list.txt"
    listing.write_text("# chosen\ndocs/pumps/p-40.md\n\ndocs/notice.html\n", encoding="utf-8")
    assert cli("index", listing, "--source", "list", "--json").json()["added"] == ["notice.html", "p-40.md"]
    listing.write_text("# nothing\n", encoding="utf-8")
    assert "names no file" in cli("index", listing, "--source", "list").err
    assert cli("status", "--json").json()["sources"] == {str(listing): 2}
    assert cli("index", docs, "--watch", "--dry-run").code == 2


@pytest.mark.skipif(os.name == "nt", reason="platform: signals")
def test_watch_follows_the_folder_until_it_is_interrupted(tmp_path: Path) -> None:
    folder = write_documents(tmp_path / "docs")
    command = ["index", str(folder), "--watch", "--interval", "0.05", "--json"]
    shared = ["--home", str(tmp_path / "home"), "--set", "embedding_provider=hash"]
    code = "import sys; from seamline.cli.main import main; main(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *command, *shared], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        assert len(_report(process)["added"]) == 5
        (folder / "late.txt").write_text("Written while it watches.", encoding="utf-8")
        assert _report(process)["added"] == ["late.txt"]
        (folder / "late.txt").unlink()
        assert _report(process)["removed"] == ["late.txt"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]


def _report(process: subprocess.Popen[str]) -> dict[str, list[str]]:
    """The next JSON document that the process prints; the test's own time limit bounds the wait."""
    lines: list[str] = []
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        lines.append(process.stdout.readline())  # type: ignore[union-attr]
        if lines[-1] == "}\n":
            found: dict[str, list[str]] = json.loads("".join(lines))
            return found
    raise AssertionError("no report came")
