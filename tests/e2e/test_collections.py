"""A collection from nothing to a report in one command, and the report against trec_eval's own code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.collection import collection
from support.project import ROOT

SEAMLINE = Path(sys.executable).parent / "seamline"
CHECK = (sys.executable, "-m", "benchmarks.check_report")
DATA = os.environ.get("SEAMLINE_DATA")


def run(*arguments: str | Path, home: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SEAMLINE_")}
    return subprocess.run(
        [*map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=False,
        timeout=timeout, env={**environment, "SEAMLINE_HOME": str(home), "COLUMNS": "140"},
    )  # fmt: skip


def evaluated(golden: Path, tmp_path: Path, *more: str, timeout: float) -> subprocess.CompletedProcess[str]:
    command: tuple[str | Path, ...] = (SEAMLINE, "eval", "--golden", golden, "--output", tmp_path / "report", *more)
    return run(*command, home=tmp_path / "home", timeout=timeout)


def test_the_independent_check_agrees_and_sees_a_tampered_run(tmp_path: Path) -> None:
    made = evaluated(collection(tmp_path / "made"), tmp_path, "--set", "embedding_provider=hash", timeout=120)
    assert made.returncode == 0, made.stderr
    check = (*CHECK, tmp_path / "report")
    agreed = run(*check, home=tmp_path, timeout=60)
    assert agreed.returncode == 0, agreed.stdout + agreed.stderr
    assert "60 queries" in agreed.stdout
    path = tmp_path / "report" / "keyword-only.run"
    lines = [line.split() for line in path.read_text("utf-8").splitlines()]
    path.write_text("".join(f"{q} Q0 {d} {r} {-float(s)} t\n" for q, _, d, r, s, _ in lines), encoding="utf-8")
    assert run(*check, home=tmp_path, timeout=60).returncode == 1


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.skipif(DATA is None, reason="SEAMLINE_DATA names no folder of test collections")
def test_scifact_from_nothing_in_one_command(tmp_path: Path) -> None:
    made = evaluated(Path(str(DATA)) / "scifact", tmp_path, timeout=3000)
    assert made.returncode == 0, made.stderr
    assert "5183 documents" in made.stderr
    assert "300/300 queries" in made.stderr
    assert "300 judged queries" in made.stdout
    assert "(Holm)" in made.stdout
    agreed = run(*CHECK, tmp_path / "report", home=tmp_path, timeout=120)
    assert agreed.returncode == 0, agreed.stdout + agreed.stderr
