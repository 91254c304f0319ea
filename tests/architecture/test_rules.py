"""The list of field rules, the script that shows it, and the plugin that records outcomes for it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support.project import ROOT

RULE = '[[rule]]\nid = 1\nrule = "It holds"\nneeds = "part.py"\n'


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


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


@pytest.mark.parametrize(
    ("line", "outcome"),
    [("assert True", "passed"), ("assert False", "failed"), ("pytest.skip('set SEAMLINE_DATA')", "skipped")],
)
def test_the_last_outcome_is_recorded_and_shown(tree: Path, line: str, outcome: str) -> None:
    plant(tree, f"@pytest.mark.parametrize('n', [1, 2])\ndef test_rule_01_holds(n):\n    {line}")
    run("-m", "pytest", "-p", "no:cacheprovider", cwd=tree)
    recorded = json.loads((tree / ".cache" / "rules.json").read_text(encoding="utf-8"))
    assert recorded == {f"tests/test_planted.py::test_rule_01_holds[{n}]": outcome for n in (1, 2)}
    assert f"test_rule_01_holds: 2 {outcome}" in run("scripts/rules.py", cwd=tree).stdout


@pytest.mark.parametrize(
    ("reason", "status"),
    [("later", 1), ("", 1), ("set SEAMLINE_DATA", 0), ("install ray", 0), ("platform: no rlimit", 0)],
)
def test_a_skip_needs_a_reason_that_turns_it_on(tree: Path, reason: str, status: int) -> None:
    plant(tree, f"def test_sometimes():\n    pytest.skip({reason!r})\n\n\ndef test_always():\n    assert True")
    done = run("-m", "pytest", "-p", "no:cacheprovider", "--strict-skips", cwd=tree)
    assert done.returncode == status, done.stdout
    assert ("unexpected skip" in done.stdout) == bool(status)
