from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from seamline import registry
from seamline.ingest.sandbox import ParserChild
from seamline.types import ParseStatus
from support.ingest import PARSING, plugin

HOSTILE = """
import os, socket, sys
from seamline.ports import Parsed
from seamline.types import Block

class Hostile:
    name, version, media_types = "hostile", "9", frozenset({"text/x-hostile"})

    def parse(self, data, *, media_type, filename):
        action = data.decode()
        if action == "loop":
            while True:
                pass
        if action == "memory":
            hoard = []
            while True:
                hoard.append(bytearray(16 * 1024 * 1024))
        if action == "abort":
            os.abort()
        if action == "exit":
            os._exit(3)
        if action == "raise":
            raise RuntimeError("bad table")
        if action == "print":
            print("x" * 1000)
            sys.stdout.flush()
            os.write(1, b"y" * 1000)
        if action == "network":
            socket.create_connection(("127.0.0.1", 9))
        if action == "outside":
            return Parsed(text="abc", media_type=media_type, blocks=(Block(kind="code", char_start=0, char_end=9),))
        if action == "unclean":
            return Parsed(text="a\\r\\nb\\x00c", media_type=media_type,
                          blocks=(Block(kind="code", char_start=3, char_end=6),))
        return Parsed(text=f"{os.getpid()}", media_type=media_type)

def create(settings):
    return Hostile()
"""
Parse = Callable[[str], tuple[ParseStatus, str | None, str]]


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Parse]:
    monkeypatch.setenv("PYTHONPATH", str(plugin(tmp_path / "plugin", HOSTILE)))
    child = ParserChild(replace(PARSING, timeout_s=1.5, memory_bytes=128 * 1024 * 1024, output_chars=100))

    def parse(action: str) -> tuple[ParseStatus, str | None, str]:
        parsed = child.parse(action.encode(), filename="x", media_type="text/x-hostile").parsed
        return parsed.status, parsed.reason, parsed.text

    yield parse
    child.close()


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("loop", "parse_timeout_s"),
        ("memory", "parse_memory_bytes"),
        ("abort", "SIGABRT"),
        ("exit", "exit code 3"),
        ("raise", "RuntimeError: bad table"),
        ("network", "may not use the network"),
        ("outside", "outside the text"),
    ],
)
def test_rule_25_a_hostile_file_costs_only_itself(hostile: Parse, action: str, reason: str) -> None:
    status, said, text = hostile(action)
    assert status is ParseStatus.CORRUPT
    assert reason in (said or "")
    assert text == ""
    assert hostile("fine")[0] is ParseStatus.OK


def test_one_child_serves_many_files_and_is_replaced_when_it_dies(hostile: Parse) -> None:
    first = hostile("fine")[2]
    assert hostile("fine")[2] == first
    hostile("raise")
    assert hostile("fine")[2] == first
    hostile("abort")
    assert hostile("fine")[2] != first


def test_what_a_parser_prints_does_not_reach_the_answers(hostile: Parse) -> None:
    assert hostile("print")[0] is ParseStatus.OK


def test_plug_ins_are_cleaned_with_their_structure(hostile: Parse) -> None:
    assert hostile("unclean")[2] == "a\nbc"


def test_a_plug_in_that_cannot_be_loaded_is_named_and_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(plugin(tmp_path, "raise ImportError('no codec')", name="broken")))
    child = ParserChild(PARSING)
    with caplog.at_level(logging.WARNING):
        parsers = child.parsers()
    child.close()
    assert set(parsers) == {name for kind, name in registry.BUILT_INS if kind == "parsers"}
    assert "broken" in caplog.text
    assert "no codec" in caplog.text


def test_long_output_is_cut_and_says_so() -> None:
    child = ParserChild(replace(PARSING, output_chars=1000))
    parsed = child.parse(b"word " * 1000, filename="a.txt", media_type=None).parsed
    child.close()
    assert parsed.status is ParseStatus.TRUNCATED
    assert len(parsed.text) == 1000
    assert parsed.blocks[-1].char_end <= 1000
    assert "5000" in (parsed.reason or "")
