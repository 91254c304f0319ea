from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from seamline.errors import IdCollisionError, IngestError, ListingError
from seamline.ingest.folder import FolderSource
from seamline.ports import Source
from support.ingest import LISTING


def make(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return root


def ids(source: FolderSource) -> list[str]:
    return [entry.id for entry in source.entries()]


def test_entries_are_sorted_relative_posix_paths(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.txt", "a/É.txt", "a.md", ".hidden", ".git/config", "A.md")
    source = FolderSource([tmp_path], limits=LISTING)
    assert isinstance(source, Source)
    assert ids(source) == ["A.md", "a.md", "a/z.txt", "a/É.txt", "b.md"]
    assert source.name == str(tmp_path)
    assert FolderSource([tmp_path], name="handbook", limits=LISTING).name == "handbook"


def test_entries_carry_a_cheap_revision_and_can_be_read(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    source = FolderSource([tmp_path], limits=LISTING)
    (first,) = source.entries()
    assert source.read(first) == b"a.md"
    assert first.size == 4
    assert first.uri == (tmp_path / "a.md").as_uri()
    (tmp_path / "a.md").write_text("longer", encoding="utf-8")
    (second,) = source.entries()
    assert second.revision != first.revision


def test_a_single_file_is_its_name(tmp_path: Path) -> None:
    make(tmp_path, "sub/one.md")
    source = FolderSource([tmp_path / "sub/one.md"], limits=LISTING)
    assert ids(source) == ["one.md"]


def test_ignore_files_use_gitignore_rules_and_the_deepest_decides(tmp_path: Path) -> None:
    make(tmp_path, "keep.md", "drop.log", "build/x.md", "sub/a.log", "sub/b.log", "sub/build/y.md")
    (tmp_path / ".seamlineignore").write_text("*.log\n/build/\n", encoding="utf-8")
    (tmp_path / "sub/.seamlineignore").write_text("!a.log\n", encoding="utf-8")
    assert ids(FolderSource([tmp_path], limits=LISTING)) == ["keep.md", "sub/a.log", "sub/build/y.md"]


def test_names_that_are_not_utf8_get_ids_that_are_text(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.md"
    with open(name, "wb") as file:
        file.write(b"x")
    source = FolderSource([tmp_path], limits=LISTING)
    (entry,) = source.entries()
    assert entry.id == "caf\ufffd.md"
    assert source.read(entry) == b"x"


def test_links_are_followed_inside_the_root_only_and_cycles_end(tmp_path: Path) -> None:
    root = make(tmp_path / "root", "real/a.md")
    make(tmp_path / "outside", "secret.md")
    (root / "alias").symlink_to(root / "real")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "leak.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "real/loop").symlink_to(root)
    (root / "broken").symlink_to(root / "nowhere")
    found = ids(FolderSource([root], limits=LISTING))
    assert {"alias/a.md", "real/a.md"} <= set(found)
    assert not any("secret" in name or "leak" in name or "broken" in name for name in found)


def test_rule_07_two_files_with_one_id_are_named(tmp_path: Path) -> None:
    make(tmp_path, "one/a.md", "two/a.md")
    with pytest.raises(IdCollisionError) as caught:
        ids(FolderSource([tmp_path / "one", tmp_path / "two"], limits=LISTING))
    assert str(tmp_path / "one/a.md") in caught.value.message
    assert str(tmp_path / "two/a.md") in caught.value.message


@pytest.mark.parametrize(("name", "value"), [("max_files", 1), ("max_total_bytes", 5), ("max_depth", 1)])
def test_limits_name_their_setting(tmp_path: Path, name: str, value: int) -> None:
    make(tmp_path, "a.md", "b/c/d.md")
    source = FolderSource([tmp_path], limits=replace(LISTING, **{name: value}))
    with pytest.raises(IngestError) as caught:
        ids(source)
    assert caught.value.hint is not None
    assert name in caught.value.hint


def test_a_file_that_is_too_large_fails_alone(tmp_path: Path) -> None:
    make(tmp_path, "long-name.md", "s.md")
    source = FolderSource([tmp_path], limits=replace(LISTING, max_file_bytes=5))
    large, small = source.entries()
    assert source.read(small) == b"s.md"
    with pytest.raises(IngestError, match="over the limit") as caught:
        source.read(large)
    assert not caught.value.retryable


def test_rule_06_a_listing_that_fails_yields_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.md", "locked/b.md")
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    entries = FolderSource([tmp_path], limits=LISTING).entries()
    with pytest.raises(ListingError, match="locked"):
        next(entries)
    with pytest.raises(ListingError, match="cannot be listed"):
        next(FolderSource([tmp_path / "missing"], limits=LISTING).entries())


def test_a_file_swapped_for_a_link_is_not_read(tmp_path: Path) -> None:
    root = make(tmp_path / "root", "a.md")
    secret = make(tmp_path, "secret") / "secret"
    source = FolderSource([root], limits=LISTING)
    (entry,) = source.entries()
    (root / "a.md").unlink()
    (root / "a.md").symlink_to(secret)
    with pytest.raises(IngestError) as caught:
        source.read(entry)
    assert caught.value.retryable


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.md")
    source = FolderSource([tmp_path], limits=LISTING)
    (entry,) = source.entries()
    fstat = os.fstat
    calls = 0

    def grow(descriptor: int) -> os.stat_result:
        nonlocal calls
        calls += 1
        if calls == 2:
            with (tmp_path / "a.md").open("ab") as file:
                file.write(b"more")
        return fstat(descriptor)

    monkeypatch.setattr("seamline.ingest.folder.os.fstat", grow)
    with pytest.raises(IngestError, match="changed while it was read") as caught:
        source.read(entry)
    assert caught.value.retryable
