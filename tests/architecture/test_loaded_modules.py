"""Guard 4, and what a bare import may cost: by what is in ``sys.modules``, not by the clock."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from architecture.guard import CONTRACTS
from support.project import PACKAGE

HEAVY = frozenset({"numpy", "onnx", "onnxruntime", "openai", "pydantic", "scipy", "tokenizers"})


def modules(root: str) -> list[str]:
    """Dotted names of all modules below a package or of one module file, the package itself first."""
    return sorted(
        ".".join(["seamline", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0].removesuffix(".py") == root
    )


def loaded(code: str) -> set[str]:
    """Names in ``sys.modules`` after a fresh interpreter ran the code."""
    ending = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-I", "-c", f"{code}\n{ending}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_generation_loads_no_retrieval_stage() -> None:
    names = modules("generate")
    parts = {
        name.split(".")[1] for name in loaded("\n".join(f"import {name}" for name in names)) if name[:9] == "seamline."
    }
    assert "generate" in parts
    assert parts - CONTRACTS == {"generate"}


def test_the_subprocess_check_sees_a_retrieval_stage() -> None:
    assert "seamline.retrieve" in loaded("import seamline.generate, seamline.retrieve")


def test_the_contracts_load_the_standard_library_only() -> None:
    names = [name for part in sorted(CONTRACTS) for name in modules(part)]
    tops = {name.split(".")[0] for name in loaded("\n".join(f"import {name}" for name in names))}
    started = {name.split(".")[0] for name in loaded("pass")}
    assert tops - started - set(sys.stdlib_module_names) == {"seamline"}


@pytest.mark.parametrize(
    "package", sorted(path.parent.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("__init__.py"))
)
def test_rule_25_a_package_loads_nothing_heavy(package: object) -> None:
    assert loaded(f"import {str(package).replace('/', '.')}") & HEAVY == set()


@pytest.mark.skipif(not (PACKAGE / "cli/main.py").exists(), reason="not in this tree: cli/main.py")
def test_rule_25_help_loads_nothing_heavy() -> None:
    run = "import sys\nsys.argv = ['seamline', '--help']\nfrom seamline.cli.main import main\n"
    names = loaded(f"{run}try:\n    main()\nexcept SystemExit as done:\n    assert not done.code, done.code")
    assert "seamline.cli.main" in names
    assert names & HEAVY == set()


def test_a_public_name_is_loaded_when_it_is_used() -> None:
    assert "seamline.types" not in loaded("import seamline")
    assert "seamline.types" in loaded("import seamline; seamline.Document")
