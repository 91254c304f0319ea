"""Sizes and names: what keeps the tree readable."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import seamline
from architecture.guard import STAGES
from support.project import PACKAGE, ROOT

LINES = 400
FUNCTION_LINES = 60
TABLES = frozenset({"src/seamline/settings.py"})
"""Files that are a table with the few functions that read it: one row a setting, as many as there are."""
TOO_LONG: dict[str, int] = {}
"""Files over the limit with their present length. Entries may shrink and go, never grow or be added."""
VAGUE = frozenset({"base", "common", "core", "helper", "helpers", "manager", "managers", "misc", "util", "utils"})
# In pieces, so that this file does not hold what it looks for.
PLACES = ("pypi" + ".org", "python" + "hosted", "/work" + "/shared", "/work" + "/main", "tmp" + "/probe")


def committed() -> list[Path]:
    """Every text file that is, or is about to be, committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    files = [ROOT / name for name in listed if (ROOT / name).is_file()]
    assert PACKAGE / "__init__.py" in files
    return files


def is_data_table(text: str) -> bool:
    """Whether a module only states values: imports, a docstring and assignments."""
    body = ast.parse(text).body
    return all(isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign | ast.Expr) for node in body)


def code_files() -> list[Path]:
    return [path for path in committed() if path.suffix == ".py"]


def test_no_file_is_too_long() -> None:
    lengths = {}
    for path in code_files():
        text = path.read_text(encoding="utf-8")
        if path.relative_to(ROOT).as_posix() in TABLES or is_data_table(text):
            continue
        if text.count("\n") > LINES:
            lengths[path.relative_to(ROOT).as_posix()] = text.count("\n")
    grown = {name: length for name, length in lengths.items() if length > TOO_LONG.get(name, LINES)}
    assert grown == {}
    assert set(TOO_LONG) == set(lengths), "a file on the list became short enough: take it off"


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function after its signature and its docstring."""
    documented = ast.get_docstring(function) is not None
    start = function.body[1 if documented and len(function.body) > 1 else 0].lineno
    return (function.end_lineno or start) - start + 1


def test_no_function_is_too_long() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in code_files()
        if path.is_relative_to(PACKAGE)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and code_lines(node) > FUNCTION_LINES
    ]
    assert long == []


def test_no_module_has_a_vague_name() -> None:
    names = {
        path: {part.removesuffix(".py") for part in path.relative_to(PACKAGE).parts} for path in PACKAGE.rglob("*")
    }
    assert [str(path) for path, parts in names.items() if parts & VAGUE] == []


def test_public_names_are_sorted_and_known_to_type_checkers() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {
        (item.asname, node.module) for node in block.body if isinstance(node, ast.ImportFrom) for item in node.names
    }
    assert seamline.__all__ == sorted(seamline.__all__)
    assert typed == {(name, f"seamline.{home}") for name, home in seamline._HOMES.items()}


def test_a_protocol_has_at_most_six_methods() -> None:
    tree = ast.parse((PACKAGE / "ports.py").read_text(encoding="utf-8"))
    protocols = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "Protocol" for base in node.bases)
    ]
    assert len(protocols) > 10
    counts = {node.name: sum(isinstance(item, ast.FunctionDef) for item in node.body) for node in protocols}
    assert {name: count for name, count in counts.items() if count > 6} == {}


def test_every_stage_is_known_to_the_guards() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = config["tool"]["importlinter"]["contracts"][0]["layers"]
    stages = next(layer for layer in layers if "generate" in layer)
    assert {name.strip() for name in stages.split("|")} == STAGES


def test_no_file_names_a_registry_or_a_place_of_one_machine() -> None:
    found = []
    for path in committed():
        data = path.read_bytes()
        found += [f"{path.relative_to(ROOT)}: {place}" for place in PLACES if place.encode() in data]
    assert found == []


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-model.lock"])
def test_every_pin_has_a_hash(name: str) -> None:
    pins = re.split(r"\n(?=[a-z0-9])", (ROOT / name).read_text(encoding="utf-8"))
    assert all(re.match(r"[a-z0-9.-]+==\S+ .*\\\n    --hash=sha256:[0-9a-f]{64}", pin) for pin in pins)


def test_the_lock_holds_every_requirement_of_the_project() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pins: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / "requirements.lock").read_text("utf-8"), re.M):
        pins.setdefault(name, []).append(version)
    groups = [
        config["project"]["dependencies"],
        *config["project"]["optional-dependencies"].values(),
        *config["dependency-groups"].values(),
        config["build-system"]["requires"],
    ]
    wanted = [Requirement(text) for group in groups for text in group if not text.startswith("seamline[")]
    stale = [
        str(need) for need in wanted if not any(need.specifier.contains(v) for v in pins.get(need.name.lower(), []))
    ]
    assert stale == [], "run ./scripts/lock"
