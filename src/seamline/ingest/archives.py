"""Zip containers, checked before anything in them is expanded."""

from __future__ import annotations

import io
import zipfile
import zlib

MOST_ENTRIES = 20_000
MOST_BYTES = 1024 * 1024 * 1024
MOST_ENTRY_BYTES = 128 * 1024 * 1024
MOST_RATIO = 200
RATIO_FROM_BYTES = 8 * 1024 * 1024
"""Small entries of blank tables compress well and harm nobody: the ratio counts from this size."""
MOST_DEPTH = 3
_DAMAGE = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError, RuntimeError, zlib.error)


class ArchiveError(Exception):
    """A container that is damaged, or that is not expanded; the message says why."""


class EncryptedArchiveError(ArchiveError):
    """A container that needs a password."""


class Archive:
    """The entries of a zip by name. Names are compared as they are, and never become paths on disk.

    Raises:
        ArchiveError: too many entries, too much content, a suspicious ratio, a name that leaves the archive.
        EncryptedArchiveError: an entry that needs a password.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            entries = self._zip.infolist()
        except _DAMAGE as error:
            raise ArchiveError(f"not a readable zip ({error})") from error
        _refuse_bomb(entries)
        self._entries = {_name(entry): entry for entry in entries if not entry.is_dir()}

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    @property
    def names(self) -> list[str]:
        """Names of the entries, in the archive's order."""
        return list(self._entries)

    def read(self, name: str) -> bytes:
        """An entry's bytes; raises ``ArchiveError`` for an absent, damaged or lying one."""
        entry = self._entries.get(name)
        if entry is None:
            raise ArchiveError(f"{name} is missing")
        try:
            with self._zip.open(entry) as file:
                data = file.read(MOST_ENTRY_BYTES + 1)
        except _DAMAGE as error:
            raise ArchiveError(f"{name} is damaged ({error})") from error
        if len(data) > MOST_ENTRY_BYTES:
            raise ArchiveError(f"{name} expands to more than {MOST_ENTRY_BYTES} bytes")
        return data

    def get(self, name: str) -> bytes | None:
        """As ``read``, or ``None`` for an absent or damaged entry: for parts that a document can do without."""
        try:
            return self.read(name)
        except ArchiveError:
            return None


def _name(entry: zipfile.ZipInfo) -> str:
    return entry.filename.replace("\\", "/").removeprefix("/")


def _refuse_bomb(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MOST_ENTRIES:
        raise ArchiveError(f"{len(entries)} entries, over the limit of {MOST_ENTRIES}")
    total = sum(entry.file_size for entry in entries)
    if total > MOST_BYTES:
        raise ArchiveError(f"expands to {total} bytes, over the limit of {MOST_BYTES}")
    for entry in entries:
        if ".." in entry.filename.replace("\\", "/").split("/"):
            raise ArchiveError(f"an entry's name leaves the archive: {entry.filename[:80]!r}")
        if entry.flag_bits & 1:
            raise EncryptedArchiveError(f"{entry.filename[:80]!r} needs a password")
        if entry.file_size > max(RATIO_FROM_BYTES, MOST_RATIO * entry.compress_size):
            times = entry.file_size // max(1, entry.compress_size)
            raise ArchiveError(f"{entry.filename[:80]!r} expands {times} times")
