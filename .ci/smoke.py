"""Runs an installed Seamline as a user would: index, search, ask; and looks at what a bare import loads.

python smoke.py SIZE_LIMIT_MB    with 0 for no limit on the installed size
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HEAVY = {"numpy", "onnxruntime", "pydantic"}
NOT_COUNTED = ("_distutils_hack", "pip", "pkg_resources", "setuptools", "wheel")


def run(*arguments: str, home: Path) -> str:
    """Standard output of one ``seamline`` command, with no settings from outside."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SEAMLINE_")}
    environment["SEAMLINE_HOME"] = str(home)
    command = [str(Path(sys.executable).with_name("seamline")), *arguments]
    done = subprocess.run(command, cwd=home.parent, env=environment, capture_output=True, text=True, check=False)
    print(f"$ seamline {' '.join(arguments)}\n{done.stdout}{done.stderr}")
    if done.returncode != 0:
        raise SystemExit(f"smoke: seamline {arguments[0]} ended with {done.returncode}")
    return done.stdout


def use() -> None:
    """Index two documents, find one, and get a cited answer from it."""
    with tempfile.TemporaryDirectory() as folder:
        documents, home = Path(folder) / "docs", Path(folder) / "home"
        documents.mkdir()
        (documents / "backup.md").write_text("# Backups\n\nBackups are kept for thirty days.\n", encoding="utf-8")
        (documents / "support.md").write_text("# Support\n\nThe desk answers from nine to five.\n", encoding="utf-8")
        run("index", str(documents), home=home)
        if "backup.md" not in run("search", "how long are backups kept", home=home):
            raise SystemExit("smoke: search did not find backup.md")
        if "thirty days" not in run("ask", "How long are backups kept?", home=home):
            raise SystemExit("smoke: ask did not answer from backup.md")


def loads_little() -> None:
    """``import seamline`` and ``seamline --help`` load no heavy package."""
    help_text = (
        "import sys\nsys.argv = ['seamline', '--help']\nfrom seamline.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as done:\n    assert not done.code\n"
    )
    for code in ("import seamline", help_text):
        ending = "\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code + ending], capture_output=True, text=True, check=True)
        loaded = HEAVY & set(json.loads(done.stdout.splitlines()[-1]))
        if loaded:
            raise SystemExit(f"smoke: {code.splitlines()[0]} loads {sorted(loaded)}")


def installed_mb() -> float:
    """Size of what is installed beside the interpreter, without the installers."""
    roots = {Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("platlib"))}
    files = {
        path
        for root in roots
        for path in root.rglob("*")
        if path.is_file()
        and not path.is_symlink()
        and path.suffix != ".pyc"
        and not path.relative_to(root).parts[0].startswith(NOT_COUNTED)
    }
    return sum(path.stat().st_size for path in files) / 1e6


def main() -> None:
    """All of it; ends with status 1 and the reason at the first fault."""
    limit = float(sys.argv[1])
    size = installed_mb()
    print(f"smoke: Python {sys.version.split()[0]}, {size:.0f} MB installed")
    if limit and size > limit:
        raise SystemExit(f"smoke: {size:.0f} MB are installed, at most {limit:.0f} are allowed")
    loads_little()
    use()


if __name__ == "__main__":
    main()
