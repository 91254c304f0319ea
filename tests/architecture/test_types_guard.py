"""Guard 1: the sealed type, at run time and for the type checker."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

from seamline.types import RerankedPassages
from seamline.types.retrieval import _SEAL
from support.project import PACKAGE, ROOT

PLANTED = """
from __future__ import annotations

from seamline.types import Passage, RerankedPassages


def generate(passages: RerankedPassages) -> None: ...


def planted(found: list[Passage], minted: RerankedPassages) -> None:
    generate(minted)
    generate(found)  # refused
    generate(tuple(found))  # refused
    generate(minted[:1])  # refused
    generate(RerankedPassages(found))  # refused
    minted[0] = found[0]  # refused
    minted.append(found[0])  # refused
    minted.rejected = ()  # refused
    minted[0].score = 1.0  # refused
"""

PLANTED_ANSWER = """
from __future__ import annotations

from seamline.generate.answer import answer, stream_answer
from seamline.ports import Generator, SentenceSplitter, SupportChecker
from seamline.types import Passage


def planted(found: list[Passage], generator: Generator, checker: SupportChecker, splitter: SentenceSplitter) -> None:
    answer("why", found)  # refused
    stream_answer("why", found)  # refused
"""


def refused_lines(folder: Path, text: str) -> dict[int, list[str]]:
    """Line number to the kinds of error that mypy --strict reports there."""
    planted = folder / "planted.py"
    planted.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), "--config-file="]
    done = subprocess.run(
        [*command, "--no-pretty", "--show-error-codes", str(planted)],
        cwd=ROOT / "src",
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found: dict[int, list[str]] = {}
    for line, code in re.findall(r"planted\.py:(\d+): error: .*\[([\w-]+)\]", done.stdout):
        found.setdefault(int(line), []).append(code)
    return found


def marked_lines(text: str) -> set[int]:
    return {number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# refused")}


def test_the_type_checker_refuses_what_was_not_minted(tmp_path: Path) -> None:
    assert set(refused_lines(tmp_path, PLANTED)) == marked_lines(PLANTED)


@pytest.mark.skipif(not (PACKAGE / "generate/answer.py").exists(), reason="not in this tree: generate/answer.py")
def test_the_type_checker_refuses_a_list_given_to_answer(tmp_path: Path) -> None:
    found = refused_lines(tmp_path, PLANTED_ANSWER)
    assert set(found) == marked_lines(PLANTED_ANSWER)
    assert all("arg-type" in codes for codes in found.values())


@pytest.mark.parametrize("seal", [None, object(), True, "seal"])
def test_construction_without_the_seal_is_refused(seal: object) -> None:
    with pytest.raises(TypeError, match=r"minted by seamline\.rerank\.mint only"):
        RerankedPassages([], seal=seal)


def test_construction_with_no_seal_argument_is_refused() -> None:
    with pytest.raises(TypeError, match="seal"):
        RerankedPassages([])  # type: ignore[call-arg]


def test_minted_passages_are_immutable() -> None:
    minted = RerankedPassages([], seal=_SEAL)
    with pytest.raises(AttributeError, match="immutable"):
        minted._passages = ()
    with pytest.raises(AttributeError):
        minted.extra = 1
    with pytest.raises(TypeError):
        minted[0] = None  # type: ignore[index]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_minted_passages_are_not_duplicated(duplicate: object) -> None:
    assert callable(duplicate)
    with pytest.raises(TypeError, match="pickled or copied"):
        duplicate(RerankedPassages([], seal=_SEAL))


def test_an_object_made_around_the_constructor_holds_nothing() -> None:
    forged = object.__new__(RerankedPassages)
    with pytest.raises(AttributeError):
        len(forged)
    with pytest.raises(AttributeError):
        list(forged)
    with pytest.raises(AttributeError):
        _ = forged.rejected
