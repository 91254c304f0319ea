"""Keyword retrieval on real collections, where they are at hand: BM25 over our terms against a reference."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DATA = os.environ.get("SEAMLINE_DATA")
BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "analysis.py"

# A quick choice of the sets that the benchmark knows.
SETS = ["cranfield", "time", "xquad-de", "xquad-zh", "xquad-ar", "xquad-hi", "xquad-th", "cisi", "nq-utd"]


@pytest.mark.skipif(DATA is None, reason="SEAMLINE_DATA is not set")
def test_rule_14_no_language_falls_behind_the_reference() -> None:
    done = subprocess.run([sys.executable, str(BENCHMARK), *SETS], capture_output=True, text=True, check=True)
    measured = {row[0]: float(row[3]) for row in map(str.split, done.stdout.splitlines()[1:])}
    assert sorted(measured) == sorted(SETS)
    assert min(measured.values()) >= -0.005, measured
