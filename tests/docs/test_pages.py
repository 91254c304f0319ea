"""Python code in the pages runs, and their links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.project import DOCS, PACKAGE, ROOT

PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
NOT_RUN = re.compile(r"# doctest: no-run (\S.*)")


def blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


WITH_CODE = [page for page in PAGES if blocks(page)]


@pytest.mark.skipif(not (PACKAGE / "knowledge_base.py").exists(), reason="not in this tree: knowledge_base.py")
@pytest.mark.parametrize("page", WITH_CODE, ids=name)
def test_the_python_of_a_page_runs_in_order(page: Path, tmp_path: Path) -> None:
    runnable = [block for block in blocks(page) if not NOT_RUN.match(block)]
    (tmp_path / "page.py").write_text("\n".join(runnable), encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SEAMLINE_")}
    done = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env={**environment, "SEAMLINE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", WITH_CODE, ids=name)
def test_the_python_of_a_page_compiles(page: Path) -> None:
    for block in blocks(page):
        compile(block, name(page), "exec")
        assert "# doctest:" not in block or NOT_RUN.match(block), "a block that is not run gives its reason first"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_links_of_a_page_lead_to_files(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", text)
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_some_page_holds_python() -> None:
    assert DOCS / "guides" / "quickstart.md" in WITH_CODE
