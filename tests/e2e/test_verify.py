"""An exported answer is checked against the kb, and offline against the files, after they were edited."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from support.cli import Cli, write_documents

QUESTION = "How fast may boats sail inside the harbour?"


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    cli = Cli(tmp_path / "home", capsys)
    assert cli("index", write_documents(tmp_path / "docs")).code == 0
    return cli


@pytest.fixture
def exported(cli: Cli, tmp_path: Path) -> Path:
    path = tmp_path / "answer.json"
    assert cli("ask", QUESTION, "--ledger", path, "--set", "extractive_sentences=1").code == 0
    return path


def statuses(cli: Cli, *arguments: str | Path) -> tuple[int, list[str]]:
    ran = cli("verify", *arguments, "--json")
    return ran.code, [item["found"]["status"] for item in ran.json()["citations"]]


def test_the_states_of_a_citation_offline_from_the_ledger_file(cli: Cli, exported: Path, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    speed = docs / "rules/speed.txt"
    text = speed.read_text(encoding="utf-8")
    shutil.rmtree(tmp_path / "home")
    assert statuses(cli, exported, "--documents", docs) == (0, ["intact"])
    speed.write_text("In force since May.\n" + text, encoding="utf-8")
    assert statuses(cli, exported, "--documents", docs) == (1, ["moved"])
    speed.write_text(text.replace("four knots", "five knots"), encoding="utf-8")
    assert statuses(cli, exported, "--documents", docs) == (1, ["changed"])
    speed.unlink()
    assert statuses(cli, exported, "--documents", docs) == (1, ["gone"])
    assert not (tmp_path / "home").exists()


def test_against_the_knowledge_base_and_for_people(cli: Cli, exported: Path, tmp_path: Path) -> None:
    ran = cli("verify", exported)
    assert ran.code == 0
    assert "intact" in ran.out
    assert "prompt rebuilt" in ran.out
    (tmp_path / "docs/rules/speed.txt").unlink()
    assert cli("index", tmp_path / "docs").code == 0
    assert statuses(cli, exported) == (1, ["gone"])


def test_a_ledger_that_was_tampered_with_is_noticed(cli: Cli, exported: Path) -> None:
    record = json.loads(exported.read_text(encoding="utf-8"))
    record["passages"][0]["shown_text"] += " Seven knots are allowed."
    exported.write_text(json.dumps(record), encoding="utf-8")
    ran = cli("verify", exported)
    assert ran.code == 1
    assert "cannot be rebuilt" in ran.out


def test_the_json_of_ask_is_accepted(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    path.write_text(cli("ask", QUESTION, "--json").out, encoding="utf-8")
    code, found = statuses(cli, path)
    assert (code, set(found)) == (0, {"intact"})
