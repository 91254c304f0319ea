from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from seamline.errors import NotFoundError, SchemaError, StoreError, UsageError
from seamline.store.catalogue import Catalogue

NOBODY = 65534


def test_a_kb_is_found_again_with_all_that_was_recorded(tmp_path: Path) -> None:
    before = datetime.now(UTC)
    made = Catalogue(tmp_path / "new" / "home").open_kb("w", "Größe.v1", create=True, store="memory")
    assert made.folder == tmp_path / "new" / "home" / "kbs" / made.id
    assert made.folder.is_dir()
    assert (made.workspace, made.name, made.store) == ("w", "Größe.v1", "memory")
    assert before <= made.created_at <= before + timedelta(minutes=1)
    again = Catalogue(tmp_path / "new" / "home")
    assert again.open_kb("w", "Größe.v1", create=False) == made
    assert again.open_kb("w", "Größe.v1", create=True, store="embedded") == made


def test_opening_to_read_creates_nothing(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path / "home")
    with pytest.raises(NotFoundError, match=r"'k'(.|\n)*seamline index"):
        catalogue.open_kb("w", "k", create=False)
    with pytest.raises(NotFoundError):
        catalogue.delete("w", "k")
    assert catalogue.list() == []
    assert list(tmp_path.iterdir()) == []


def test_opening_to_read_leaves_the_registry_as_it_is(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path)
    catalogue.open_kb("w", "k", create=True, store="memory")
    before = (tmp_path / "registry.sqlite").read_bytes()
    assert len(catalogue.list("w")) == 1
    with pytest.raises(NotFoundError):
        catalogue.open_kb("w", "other", create=False)
    assert (tmp_path / "registry.sqlite").read_bytes() == before


def test_workspaces_are_apart_and_lists_are_sorted(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path)
    for workspace, kb in (("w2", "a"), ("w1", "b"), ("w1", "a")):
        catalogue.open_kb(workspace, kb, create=True, store="memory")
    assert [record.name for record in catalogue.list("w1")] == ["a", "b"]
    assert [(record.workspace, record.name) for record in catalogue.list()] == [("w1", "a"), ("w1", "b"), ("w2", "a")]
    assert len({record.folder for record in catalogue.list()}) == 3
    with pytest.raises(NotFoundError):
        catalogue.open_kb("w2", "b", create=False)


def test_a_deleted_kb_is_gone_with_its_folder_and_no_other(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path)
    kept = catalogue.open_kb("w", "kept", create=True, store="memory")
    gone = catalogue.open_kb("w", "gone", create=True, store="memory")
    (gone.folder / "kb.sqlite").write_text("x")
    assert catalogue.delete("w", "gone") == gone
    assert not gone.folder.exists()
    assert kept.folder.is_dir()
    assert catalogue.list("w") == [kept]
    assert catalogue.open_kb("w", "gone", create=True, store="memory").id != gone.id


@pytest.mark.parametrize("name", ["", "a b", "a/b", "..\\x", "x" * 65, "a\n", "a\x00", "'", "%", "🦊"])
def test_names_with_other_characters_are_refused(tmp_path: Path, name: str) -> None:
    catalogue = Catalogue(tmp_path)
    for workspace, kb in ((name, "k"), ("w", name)):
        with pytest.raises(UsageError, match="is not a"):
            catalogue.open_kb(workspace, kb, create=True, store="memory")
    assert list(tmp_path.iterdir()) == []


def test_a_name_of_dots_stays_inside_the_home(tmp_path: Path) -> None:
    record = Catalogue(tmp_path).open_kb("..", "..", create=True, store="memory")
    assert record.folder.resolve().parent == tmp_path.resolve() / "kbs"


def test_a_new_kb_needs_a_store(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no store"):
        Catalogue(tmp_path).open_kb("w", "k", create=True)


def test_rule_27_a_newer_registry_is_refused_and_left_alone(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path)
    catalogue.open_kb("w", "k", create=True, store="memory")
    with closing(sqlite3.connect(tmp_path / "registry.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = (tmp_path / "registry.sqlite").read_bytes()
    with pytest.raises(SchemaError, match="99"):
        catalogue.open_kb("w", "k", create=False)
    with pytest.raises(SchemaError, match="99"):
        catalogue.open_kb("w", "k2", create=True, store="memory")
    assert (tmp_path / "registry.sqlite").read_bytes() == before


def test_a_damaged_registry_is_an_error_not_an_empty_list(tmp_path: Path) -> None:
    (tmp_path / "registry.sqlite").write_bytes(b"not a database, but long enough to be read as one" * 50)
    with pytest.raises(StoreError, match="registry"):
        Catalogue(tmp_path).list()
    with pytest.raises(StoreError, match="registry"):
        Catalogue(tmp_path).open_kb("w", "k", create=True, store="memory")


def test_a_registry_that_was_never_committed_is_empty_and_usable(tmp_path: Path) -> None:
    (tmp_path / "registry.sqlite").touch()
    catalogue = Catalogue(tmp_path)
    assert catalogue.list() == []
    assert catalogue.open_kb("w", "k", create=True, store="memory") == catalogue.open_kb("w", "k", create=False)


def _open_many(home: Path) -> list[str]:
    catalogue = Catalogue(home)
    return [catalogue.open_kb("w", f"k{number}", create=True, store="memory").id for number in range(3)]


OPEN_MANY = """
import sys
from pathlib import Path
from seamline.store.catalogue import Catalogue
catalogue = Catalogue(Path(sys.argv[1]))
for number in range(3):
    print(catalogue.open_kb("w", f"k{number}", create=True, store="memory").id)
"""


def test_rule_32_many_threads_agree_on_one_record(tmp_path: Path) -> None:
    for home in (tmp_path / str(number) for number in range(5)):
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(_open_many, [home] * 8))
        assert all(result == results[0] for result in results)
        assert sorted(path.name for path in (home / "kbs").iterdir()) == sorted(results[0])


def test_rule_32_many_processes_agree_on_one_record(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPEN_MANY, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    results = [process.communicate(timeout=60)[0].split() for process in running]
    assert [process.returncode for process in running] == [0] * 4
    assert all(result == results[0] and len(result) == 3 for result in results)


@pytest.fixture
def read_only_home() -> Iterator[Path]:
    """A home with one kb that this process may not write to; root gives up its rights for that."""
    with tempfile.TemporaryDirectory() as made:
        home = Path(made) / "home"
        Catalogue(home).open_kb("w", "k", create=True, store="memory")
        home.parent.chmod(0o755)
        home.chmod(0o555)
        root = os.geteuid() == 0
        if root:
            os.seteuid(NOBODY)
        try:
            yield home
        finally:
            if root:
                os.seteuid(0)
            home.chmod(0o755)


def test_a_home_that_cannot_be_written_can_be_read(read_only_home: Path) -> None:
    assert Catalogue(read_only_home).open_kb("w", "k", create=False).name == "k"
    with pytest.raises(StoreError, match="registry"):
        Catalogue(read_only_home).open_kb("w", "k2", create=True, store="memory")
