"""Hostile containers are refused before they are expanded."""

from __future__ import annotations

import io
import zipfile

import pytest

from seamline.ingest import archives
from seamline.ingest.archives import Archive, ArchiveError
from support.made_files import zipped


def test_a_bomb_is_refused_by_its_ratio() -> None:
    with pytest.raises(ArchiveError, match="expands"):
        Archive(zipped({"bomb": bytes(64 * 1024 * 1024)}))


def test_the_limits_of_number_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    data = zipped({"a": b"x" * 100, "b": b"y" * 100})
    monkeypatch.setattr(archives, "MOST_ENTRIES", 1)
    with pytest.raises(ArchiveError, match="2 entries"):
        Archive(data)
    monkeypatch.setattr(archives, "MOST_ENTRIES", 10)
    monkeypatch.setattr(archives, "MOST_BYTES", 150)
    with pytest.raises(ArchiveError, match="200 bytes"):
        Archive(data)
    monkeypatch.setattr(archives, "MOST_BYTES", 1000)
    monkeypatch.setattr(archives, "MOST_ENTRY_BYTES", 50)
    with pytest.raises(ArchiveError, match="more than 50"):
        Archive(data).read("a")


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/../../b", "..\\windows\\x"])
def test_a_name_that_leaves_the_archive_is_refused(name: str) -> None:
    with pytest.raises(ArchiveError, match="leaves the archive"):
        Archive(zipped({name: b"x"}))


def test_a_damaged_entry_is_an_error_that_names_it() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("part.xml", b"the content of the part")
    data = made.getvalue().replace(b"the content", b"THE CONTENT")
    with pytest.raises(ArchiveError, match=r"part\.xml is damaged"):
        Archive(data).read("part.xml")
    assert Archive(data).get("part.xml") is None
    assert Archive(data).get("absent") is None
