"""``seamline index`` as an operator meets it: hostile files, interruptions, refusals, other sources."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from seamline.cli import indexing
from seamline.ingest.folder import FolderSource
from seamline.types import SourceEntry
from support.cli import Cli, write_documents
from support.ingest import plugin

HOSTILE = """
import os, time
from seamline.ports import Parsed

class Hostile:
    name, version, media_types = "hostile", "9", frozenset({"text/x-source"})

    def parse(self, data, *, media_type, filename):
        action = data.decode().strip()
        if action == "loop":
            while True:
                pass
        if action == "memory":
            hoard = []
            while True:
                hoard.append(bytearray(16 * 1024 * 1024))
        if action == "output":
            return Parsed(text="flood " * 1_000_000, media_type=media_type)
        if action == "garbage":
            os.write(1, b"not a frame" * 1000)
            os._exit(0)
        return Parsed(text=f"The lantern is lit by {action} in process {os.getpid()}.", media_type=media_type)

def create(settings):
    return Hostile()
"""


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path / "home", capsys)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "docs")


def test_rule_25_hostile_files_cost_only_themselves(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(plugin(tmp_path / "plugin", HOSTILE)))
    folder = tmp_path / "docs"
    folder.mkdir()
    for number, action in enumerate(("first", "loop", "second", "memory", "third", "output", "garbage", "last")):
        (folder / f"{number}.py").write_text(action, encoding="utf-8")
    limits = [
        *("--set", "parse_timeout_s=1.5"),
        *("--set", "parse_memory_bytes=134217728"),
        *("--set", "parse_output_chars=1000"),
    ]
    ran = cli("index", folder, "--json", *limits)
    report = ran.json()
    assert ran.code == 1
    assert report["added"] == ["0.py", "2.py", "4.py", "5.py", "7.py"]
    assert report["truncated"] == 1
    reasons = {failure["document_id"]: failure["reason"] for failure in report["failed"]}
    assert {
        id_: word in reasons[id_] for id_, word in (("1.py", "parse_timeout_s"), ("3.py", "parse_memory_bytes"))
    } == {
        "1.py": True,
        "3.py": True,
    }
    assert reasons["6.py"].startswith("corrupt")
    found = [passage["text"] for passage in cli("search", "lantern lit", "--json").json()["passages"]]
    lit = {text.split(" by ")[1].split()[0]: text.split()[-1] for text in found if " by " in text}
    assert set(lit) == {"first", "second", "third", "last"}
    assert lit["first"] != lit["second"], "the child that looped was not replaced"


def test_rule_06_a_file_that_vanishes_or_is_cut_while_it_is_read_fails_alone_and_may_be_tried_again(
    cli: Cli, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = FolderSource.read

    def meddled(self: FolderSource, entry: SourceEntry) -> bytes:
        if entry.id == "rules/speed.txt":
            (docs / entry.id).unlink()
        if entry.id == "notice.html":
            (docs / entry.id).unlink()
            os.symlink("/etc/passwd", docs / entry.id)
        return read(self, entry)

    monkeypatch.setattr(FolderSource, "read", meddled)
    ran = cli("index", docs, "--json")
    failed = {failure["document_id"]: failure["retryable"] for failure in ran.json()["failed"]}
    assert (ran.code, failed) == (1, {"rules/speed.txt": True, "notice.html": True})
    assert ran.json()["added"] == ["pumps/p-40.md", "pumps/p-90.md", "rules/vitesse.md"]
    shown = cli("status", "--json").json()
    assert shown["sources"] == {str(docs): 3}
    assert shown["states"] == {"committed": 3, "failed": 2}


def many(folder: Path, count: int) -> Path:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f"{number:03}.md").write_text(f"# Sheet {number}\n\nWord{number} and more text.\n", encoding="utf-8")
    return folder


def test_rule_06_a_mass_deletion_is_refused_without_a_terminal_and_asked_about_on_one(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = many(tmp_path / "many", 20)
    cli("index", folder)
    for number in range(15):
        (folder / f"{number:03}.md").unlink()
    refused = cli("index", folder)
    assert "--allow-mass-delete" in refused.err
    assert cli("status", "--json").json()["documents"] == 20

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    answers = {"n": (130, 20), "y": (0, 5)}
    for answer, (code, left) in answers.items():
        monkeypatch.setattr(indexing.sys, "stdin", Terminal(f"{answer}\n"))  # type: ignore[attr-defined]
        monkeypatch.setattr(indexing.sys, "stderr", Terminal())  # type: ignore[attr-defined]
        assert cli("index", folder).code == code
        monkeypatch.undo()
        assert cli("status", "--json").json()["documents"] == left


def test_rule_06_a_listing_that_fails_half_way_deletes_nothing(
    cli: Cli, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("index", docs)
    (docs / "pumps/p-40.md").unlink()
    scandir = os.scandir

    def breaks(path: str) -> object:
        if str(path).endswith("rules"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", breaks)
    ran = cli("index", docs, "--json")
    assert (ran.json()["error"], ran.code != 0) == ("listing", True)
    monkeypatch.undo()
    assert cli("status", "--json").json()["documents"] == 5


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_rule_24_an_interrupted_sync_says_so_and_is_resumed(cli: Cli, tmp_path: Path, how: signal.Signals) -> None:
    folder = many(tmp_path / "many", 400)
    home = tmp_path / "home"
    code = "from seamline.cli.main import main; main()"
    command = [sys.executable, "-c", code, "index", str(folder), "--home", str(home)]
    settings = ["--set", "embedding_provider=hash", "--set", "commit_batch=5"]
    process = subprocess.Popen([*command, *settings], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if b"/400 documents" in line:
                os.kill(process.pid, how)
                break
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == (130 if how is not signal.SIGKILL else -signal.SIGKILL)
    (left,) = cli("status", "--json").json()["unfinished"]
    assert (left["source"], left["running"], 0 <= left["done"] < 400) == (str(folder), False, True)
    assert "interrupted" in cli("status").out
    report = cli("index", folder, "--json").json()
    assert len(report["added"]) + len(report["skipped"]) == 400
    assert len(report["skipped"]) >= 5
    assert "unfinished" not in cli("status", "--json").json()
    assert cli("doctor").code == 0


def test_a_source_of_a_plug_in(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "plugin"
    code = (
        "from seamline.types import SourceEntry\n"
        "class Wiki:\n"
        "    name = 'wiki'\n"
        "    def entries(self):\n"
        "        yield SourceEntry(id='page', uri='wiki:page', revision='1', media_type='text/plain')\n"
        "    def read(self, entry):\n"
        "        return b'The wiki says that the harbour opens at six.'\n"
        "def create(settings, *, paths, name=None, exclude=None):\n"
        "    return Wiki()\n"
    )
    place.mkdir()
    (place / "wiki_source.py").write_text(code, encoding="utf-8")
    info = place / "wiki_source-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wiki-source\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[seamline.sources]\nwiki = wiki_source:create\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(place))
    assert cli("index", tmp_path, "--source", "wiki", "--json").json()["added"] == ["page"]
    assert "no source is named 'wikki'" in cli("index", tmp_path, "--source", "wikki").err
