"""Guard 2: the import contracts hold on the package, and break on planted imports."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from architecture.guard import STAGES
from support.project import PACKAGE, ROOT

LAYERS = "stages never import each other"
SEAM = "Generation may not fetch its own context"
MEASURE = "Evaluation measures retrieval"
ACYCLIC = "No import cycles"

PLANTED = [
    (LAYERS, {"retrieve/planted.py": "from seamline import store"}),
    (LAYERS, {"types/planted.py": "import seamline.errors"}),
    (LAYERS, {"folding.py": "import seamline.ports"}),
    (LAYERS, {"settings.py": "import seamline.registry"}),
    (LAYERS, {"chunk/planted.py": "import seamline.settings"}),
    (LAYERS, {"registry.py": "import seamline.cli"}),
    (LAYERS, {"nowhere.py": '"""A module that no layer names."""'}),
    (SEAM, {"generate/planted.py": "import seamline.retrieve"}),
    (SEAM, {"generate/planted.py": "def late() -> None:\n    import seamline.embed"}),
    (MEASURE, {"evaluation/planted.py": "import seamline.generate"}),
    (MEASURE, {"evaluation/planted.py": "import seamline.folding", "folding.py": "import seamline.generate"}),
    (ACYCLIC, {"store/planted.py": "import seamline.store.other", "store/other.py": "import seamline.store.planted"}),
]


def broken_contracts(source: Path) -> list[str]:
    """Names of the contracts that import-linter reports as broken for the package below ``source``."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo", ROOT / "pyproject.toml"],
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(source), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "Contracts:" in done.stdout, done.stdout + done.stderr
    broken = [line.removesuffix(" BROKEN") for line in done.stdout.splitlines() if line.endswith(" BROKEN")]
    assert done.returncode == (1 if broken else 0), done.stdout + done.stderr
    return broken


def test_the_package_keeps_every_contract() -> None:
    assert broken_contracts(PACKAGE.parent) == []


@pytest.mark.parametrize(("contract", "files"), PLANTED)
def test_a_planted_import_breaks_its_contract(contract: str, files: dict[str, str], tmp_path: Path) -> None:
    copied = tmp_path / "seamline"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in files.items():
        with (copied / name).open("a", encoding="utf-8") as file:
            file.write(f"\n{text}\n")
    assert any(contract in name for name in broken_contracts(tmp_path))


def test_the_seam_contract_names_every_part_that_could_fetch() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {contract["id"]: contract for contract in config["tool"]["importlinter"]["contracts"]}
    present = {path.stem for path in PACKAGE.iterdir()}
    could_fetch = (STAGES - {"conformance", "generate", "verify"}) | {"indexing", "knowledge_base", "pipeline"}
    assert set(contracts["seam"]["forbidden_modules"]) == {f"seamline.{part}" for part in could_fetch & present}
