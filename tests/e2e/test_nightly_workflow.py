"""The workflow that users copy: its commands run as they stand, in a repository of the shape that it names."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

from seamline.sample import folder
from support.project import ROOT

WORKFLOW = ROOT / "examples" / "nightly-evaluation.yml"


def test_the_nightly_commands_run_and_skip_the_variants_without_a_reranker(tmp_path: Path) -> None:
    steps = dict(re.findall(r"- name: (\w+)\n +run: (.+)", WORKFLOW.read_text(encoding="utf-8")))
    assert list(steps) == ["Install", "Index", "Variants", "Gate"]
    (tmp_path / "docs").symlink_to(folder() / "corpus")
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "queries.jsonl").symlink_to(folder() / "golden" / "queries.jsonl")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SEAMLINE_")} | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "SEAMLINE_HOME": str(tmp_path / "home"),
        "SEAMLINE_EMBEDDING_PROVIDER": "hash",
        "SEAMLINE_RERANK_PROVIDER": "off",
    }

    def step(name: str, more: str = "", **changed: str) -> int:
        command = ["bash", "-c", steps[name] + more]
        told = environment | changed
        done = subprocess.run(command, cwd=tmp_path, env=told, capture_output=True, check=False, timeout=240)
        return done.returncode

    def found() -> dict[str, tuple[str, list[str]]]:
        report = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
        return {variant["name"]: (variant["status"], variant["reasons"]) for variant in report["variants"]}

    assert step("Index") == 0
    assert step("Variants") == 0
    assert step("Gate", " --write-baseline") == 0
    assert step("Gate") == 0
    assert found()["fused-weighted+rerank"] == ("skipped", ["no reranker"])
    assert found()["fused-weighted"][0] == "ok"
    assert (tmp_path / "report" / "report.html").stat().st_size > 10_000
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: a service that does not answer
        silent = {
            "SEAMLINE_RERANK_PROVIDER": "tei",
            "SEAMLINE_RERANK_BASE_URL": f"http://127.0.0.1:{taken.getsockname()[1]}",
        }
        assert step("Variants", **silent) == 0
        for name in ("fused-rrf+rerank", "fused-weighted+rerank", "economy"):
            status, reasons = found()[name]
            assert (status, reasons[0].startswith("the reranker did not answer")) == ("skipped", True)
        assert found()["fused-weighted"][0] == "ok"
        assert step("Gate", **silent) == 3  # what is in use cannot be measured, so there is nothing to decide on
