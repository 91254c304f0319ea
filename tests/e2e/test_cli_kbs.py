"""Whole knowledge bases through the command line: between stores, into files and back, generations, deletion."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from support.cli import DOCUMENTS, Cli, write_documents
from support.postgres import needs_postgres, new_database

STORES = ["embedded", "qdrant", pytest.param("postgres", marks=needs_postgres)]


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path / "home", capsys)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "docs")


@pytest.fixture
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database for tests that name the store postgres."""
    if "postgres" in request.node.callspec.params.values():
        monkeypatch.setenv("SEAMLINE_POSTGRES_DSN", new_database())


def digest(cli: Cli, kb: str, *more: str) -> str:
    return str(cli("kb", "info", "--kb", kb, "--json", *more).json()["digest"])


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("before", STORES)
@pytest.mark.parametrize("after", STORES)
def test_a_kb_is_copied_between_every_two_stores(cli: Cli, docs: Path, before: str, after: str) -> None:
    assert cli("index", docs, "--kb", "one", "--set", f"store={before}", "--readable-by", "ana").code == 0
    moved = cli("kb", "copy", "one", "two", "--store", after, "--to-workspace", "w2", "--json").json()
    assert moved["documents"] == len(DOCUMENTS)
    assert moved["digest"] == digest(cli, "one") == digest(cli, "two", "--workspace", "w2")
    listed = cli("kb", "list", "--all", "--json").json()
    assert [(row["workspace"], row["kb"], row["store"]) for row in listed] == [
        ("default", "one", before),
        ("w2", "two", after),
    ]
    again = cli("index", docs, "--kb", "two", "--workspace", "w2", "--json").json()
    assert sorted(again["skipped"]) == sorted(DOCUMENTS)
    assert cli("search", "seal", "--kb", "two", "--workspace", "w2", "--as", "eve", "--json").json()["passages"] == []
    assert cli("search", "seal", "--kb", "two", "--workspace", "w2", "--as", "ana", "--json").json()["passages"]
    assert cli("search", "seal", "--kb", "two").code == 2  # another workspace's kb is not found
    assert cli("kb", "copy", "one", "two", "--to-workspace", "w2").code == 2  # it holds documents
    assert cli("doctor", "--kb", "two", "--workspace", "w2").code == 0


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("store", STORES)
def test_a_kb_is_exported_imported_and_deleted(cli: Cli, docs: Path, tmp_path: Path, store: str) -> None:
    file = tmp_path / "kb.jsonl.gz"
    assert cli("index", docs, "--kb", "one", "--set", f"store={store}").code == 0
    assert cli("kb", "export", file, "--kb", "one").code == 0
    assert cli("kb", "export", file, "--kb", "one").code == 2
    assert cli("kb", "export", tmp_path / "x", "--kb", "one", "--as", "ana").code == 2
    assert cli("kb", "import", file, "--kb", "two", "--store", store).code == 0
    assert digest(cli, "two") == digest(cli, "one")
    assert cli("kb", "delete", "--kb", "two", "--confirm", "one").code == 2
    assert cli("kb", "delete", "--kb", "two", "--as", "ana", "--confirm", "two").code == 2
    assert cli("kb", "delete", "--kb", "two", "--confirm", "two").code == 0
    assert cli("search", "seal", "--kb", "two").code == 2
    assert cli("search", "seal", "--kb", "one").code == 0
    # A kb of the same name is a new one.
    assert cli("index", docs, "--kb", "two", "--set", f"store={store}", "--json").json()["skipped"] == []


def test_a_changed_or_cut_export_is_refused_before_anything_is_written(cli: Cli, docs: Path, tmp_path: Path) -> None:
    file, bad = tmp_path / "kb.jsonl.gz", tmp_path / "bad.jsonl.gz"
    assert cli("index", docs).code == 0
    assert cli("kb", "export", file).code == 0
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    changed = [line.replace(b"40 litres", b"41 litres") for line in lines]
    assert changed != lines
    for content in (lines[:-1], lines[:3] + lines[4:], changed, []):
        bad.write_bytes(gzip.compress(b"".join(content)))
        refused = cli("kb", "import", bad, "--kb", "two")
        assert refused.code == 1, content
        assert "error:" in refused.err
    bad.write_bytes(file.read_bytes()[:-30])
    assert cli("kb", "import", bad, "--kb", "two").code == 1
    assert cli("search", "seal", "--kb", "two").code == 2


def test_a_backup_is_restored(cli: Cli, docs: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.sqlite"
    assert cli("index", docs).code == 0
    assert cli("backup", saved).code == 0
    before = digest(cli, "default")
    (docs / "notice.html").unlink()
    assert cli("index", docs).code == 0
    assert cli("restore", saved).code == 2  # there is a kb of that name
    assert cli("restore", saved, "--kb", "old").code == 0
    assert digest(cli, "old") == before != digest(cli, "default")
    assert cli("doctor", "--kb", "old").code == 0
    assert cli("restore", docs / "rules" / "speed.txt", "--kb", "other").code == 1
    assert cli("search", "seal", "--kb", "other").code == 2
    assert cli("backup", saved).code == 2


def test_generations_by_command(cli: Cli, docs: Path, tmp_path: Path) -> None:
    questions = tmp_path / "questions.txt"
    questions.write_text("seal\nboats knots\n", encoding="utf-8")
    assert cli("index", docs).code == 0
    small = ("--set", "chunk_chars=80", "--set", "min_chunk_chars=20")
    assert cli("reindex", "--no-swap", "--json", *small).json() == {"generation": 2, "live": False}
    assert [item["role"] for item in cli("generations", "list", "--json").json()] == ["live", "next"]
    changed = cli("diff", "1", "2", "--queries", questions, "--json").json()
    assert changed["queries"] == 2
    assert len(changed["changed"]) == 2
    assert "-" in cli("diff", "1", "2", "--queries", questions).out
    longest = [max(map(len, _texts(cli, *more))) for more in ((), ("--generation", "2"))]
    assert longest[1] < longest[0]
    assert cli("generations", "swap", *small).code == 0
    assert max(map(len, _texts(cli))) == longest[1]
    assert cli("generations", "revert").code == 0
    assert max(map(len, _texts(cli))) == longest[0]
    assert cli("generations", "prune", "--json").json() == {"removed": [2]}
    assert cli("search", "seal", "--generation", "2").code == 2
    assert cli("doctor").code == 0


def _texts(cli: Cli, *more: str) -> list[str]:
    return [passage["text"] for passage in cli("search", "seal pump litres", "--json", *more).json()["passages"]]
