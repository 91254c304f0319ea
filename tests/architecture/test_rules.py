"""The list of field rules, the script that shows it, and the plugin that records outcomes for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support.project import ROOT

RULE = '[[rule]]\nid = 1\nrule = "It holds"\nneeds = "part.py"\n'


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def run_pytest(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One run in the planted project, with no plugin but its conftest."""
    return run("-m", "pytest", "-p", "no:cacheprovider", *arguments, cwd=tree, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small project: one rule, the part that it needs, our script and our conftest."""
    for folder in ("scripts", "tests", "src/seamline/conformance"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "rules.py", tmp_path / "scripts")
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "tests" / "rules.toml").write_text(RULE, encoding="utf-8")
    (tmp_path / "src" / "seamline" / "part.py").write_text("", encoding="utf-8")
    return tmp_path


def plant(tree: Path, body: str) -> None:
    text = f"import pytest\n\n\n{body}\n"
    (tree / "tests" / "test_planted.py").write_text(text, encoding="utf-8")


def test_there_are_34_rules_each_with_words_of_its_own() -> None:
    rules = tomllib.loads((ROOT / "tests" / "rules.toml").read_text(encoding="utf-8"))["rule"]
    assert [rule["id"] for rule in rules] == list(range(1, 35))
    assert len({rule["rule"] for rule in rules}) == 34
    assert all(rule["needs"].endswith(".py") for rule in rules)


def test_a_due_rule_without_a_test_fails_the_strict_list(tree: Path) -> None:
    done = run("scripts/rules.py", "--strict", cwd=tree)
    assert done.returncode == 1
    assert "01 [NO TEST] It holds" in done.stdout
    assert run("scripts/rules.py", cwd=tree).returncode == 0


def test_a_rule_whose_part_is_absent_is_not_due(tree: Path) -> None:
    (tree / "src" / "seamline" / "part.py").unlink()
    done = run("scripts/rules.py", "--strict", cwd=tree)
    assert done.returncode == 0
    assert "comes with part.py" in done.stdout


def test_a_shipped_conformance_test_counts(tree: Path) -> None:
    shipped = tree / "src" / "seamline" / "conformance" / "things.py"
    shipped.write_text("class Things:\n    def test_rule_01_holds(self) -> None: ...\n", encoding="utf-8")
    done = run("scripts/rules.py", "--strict", cwd=tree)
    assert done.returncode == 0
    assert "01 [not run] It holds" in done.stdout


def test_a_test_of_an_unknown_rule_is_refused(tree: Path) -> None:
    plant(tree, "def test_rule_02_is_not_listed():\n    assert True")
    assert "which tests/rules.toml does not have" in run("scripts/rules.py", cwd=tree).stderr


def test_the_last_outcomes_are_recorded_and_shown(tree: Path) -> None:
    bodies = {"holds": "assert True", "breaks": "assert False", "waits": "pytest.skip('set SEAMLINE_DATA')"}
    plant(tree, "\n\n\n".join(f"def test_rule_01_{name}():\n    {body}" for name, body in bodies.items()))
    run_pytest(tree)
    recorded = json.loads((tree / ".cache" / "rules.json").read_text(encoding="utf-8"))
    outcomes = {"holds": "passed", "breaks": "failed", "waits": "skipped"}
    assert recorded == {f"tests/test_planted.py::test_rule_01_{name}": outcome for name, outcome in outcomes.items()}
    shown = run("scripts/rules.py", cwd=tree).stdout
    assert "01 [failed] It holds" in shown
    assert all(f"test_rule_01_{name}: 1 {outcome}" in shown for name, outcome in outcomes.items())


@pytest.mark.parametrize(
    ("reasons", "status"), [(["later", ""], 1), (["set SEAMLINE_DATA", "install ray", "platform: no rlimit"], 0)]
)
def test_a_skip_needs_a_reason_that_turns_it_on(tree: Path, reasons: list[str], status: int) -> None:
    plant(tree, f"@pytest.mark.parametrize('reason', {reasons})\ndef test_sometimes(reason):\n    pytest.skip(reason)")
    done = run_pytest(tree, "--strict-skips")
    assert done.returncode == status, done.stdout
    assert done.stdout.count("unexpected skip") == (len(reasons) if status else 0)
