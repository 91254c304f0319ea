"""What a person reads when something is wrong: a sentence and a hint, in JSON where JSON was asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seamline.cli import printing
from seamline.cli.main import main
from support.cli import Cli, Ran, write_documents


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path / "home", capsys)


def bare(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    """Run with these arguments alone."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    return Ran(int(left.value.code or 0), *capsys.readouterr())


def test_a_misspelt_command_is_told_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    ran = bare(capsys, "seerch", "x")
    assert (ran.code, ran.out) == (2, "")
    assert "Did you mean 'search'?" in ran.err


@pytest.mark.parametrize("arguments", [("seerch", "x", "--json"), ("search", "--json"), ("index", "--nope", "--json")])
def test_usage_errors_are_json_where_json_is_asked_for(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    ran = bare(capsys, *arguments)
    assert (ran.code, ran.json()["error"]) == (2, "usage")
    assert ran.json()["hint"].endswith("--help")


def test_no_traceback_without_debug(
    cli: Cli, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    ran = bare(capsys, "index", str(write_documents(tmp_path / "docs")), "--home", str(tmp_path / "file"))
    assert ran.code == 1
    assert str(tmp_path / "file") in ran.err
    assert "hint:" in ran.err
    assert "Traceback" not in ran.err

    def broken(*_arguments: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("seamline.registry.providers", broken)
    ran = cli("providers")
    assert (ran.code, "unexpected ZeroDivisionError: planted" in ran.err, "Traceback" in ran.err) == (1, True, False)
    assert "Traceback" in cli("providers", "--debug").err


def test_settings_are_shown_also_when_one_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEAMLINE_RRF_K", "minus")
    monkeypatch.setenv("SEAMLINE_CANDIDATE_K", "77")
    ran = bare(capsys, "settings")
    assert ran.code == 2
    assert "SEAMLINE_RRF_K" in ran.err
    assert "77" in ran.out
    shown = bare(capsys, "settings", "child_chars", "SEAMLINE_CANDIDATE_K", "--json").json()
    assert [row["name"] for row in shown["settings"]] == ["chunk_chars", "candidate_k"]
    assert shown["settings"][0]["accepted"] == "≥ 50, ≤ 10000"
    assert len(shown["refused"]) == 1
    monkeypatch.setenv("SEAMLINE_RRF_K", "60")
    assert bare(capsys, "settings", "chunk_charz").code == 2


def test_doctor_before_the_first_index_checks_the_installation(cli: Cli, tmp_path: Path) -> None:
    ran = cli("doctor", "--json")
    assert ran.code == 0
    checks = {finding["check"] for finding in ran.json()}
    assert {"knowledge base", "stand-in", "sqlite"} <= checks
    assert not (tmp_path / "home").exists()
    assert cli("index", write_documents(tmp_path / "docs")).code == 0
    assert cli("doctor", "--kb", "absent").code == 2


def test_names_and_texts_cannot_drive_the_terminal(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a\x1b]0;owned\x07b.txt").write_text("Quick \x9b31m foxes \u202e sleep all day.\n", encoding="utf-8")
    assert cli("index", folder).code == 0
    for command in (["search", "foxes"], ["ask", "What do foxes do all day?"], ["status", "--documents"]):
        ran = cli(*command)
        assert ran.code == 0
        assert not {"\x1b]", "\x9b", "\u202e", "\x07"} & {
            mark for mark in ("\x1b]", "\x9b", "\u202e", "\x07") if mark in ran.out + ran.err
        }
    assert "a\\x1b]0;owned\\x07b.txt" in cli("status", "--documents").out
    assert "a\x1b]0;owned\x07b.txt" in json.loads(cli("status", "--documents", "--json").out)["document_ids"]


@pytest.mark.parametrize("code", [0, 8, 11, 27, 127, 0x9B, 0x202E, 0x2066, 0xD800])
def test_printable_writes_control_characters_out(code: int) -> None:
    shown = printing.printable(f"a{chr(code)}\t\nb")
    assert chr(code) not in shown
    assert shown.endswith("\t\nb")
    assert shown.encode("utf-8")
