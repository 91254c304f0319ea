"""Compound files (OLE), told apart by the names of their streams: without a library, so that anyone can sniff."""

from __future__ import annotations

from collections.abc import Iterator

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PLAIN = "application/x-ole-storage"
ENCRYPTED = "application/x-ole-encrypted"
MAIL = "application/vnd.ms-outlook"
_MOST_SECTORS = 64

_KINDS = (
    ("EncryptedPackage", ENCRYPTED),
    ("__properties_version1.0", MAIL),
    ("WordDocument", "application/msword"),
    ("PowerPoint Document", "application/vnd.ms-powerpoint"),
    ("Workbook", "application/vnd.ms-excel"),
    ("Book", "application/vnd.ms-excel"),
)


def sniff_ole(data: bytes) -> str:
    """The media type of a compound file; ``PLAIN`` where no stream says."""
    names = _names(data)
    return next((kind for name, kind in _KINDS if name in names), PLAIN)


def _names(data: bytes) -> set[str]:
    """Names in the directory, storages inside included."""
    found = set()
    for sector in _directory(data):
        for start in range(0, len(sector) - 127, 128):
            length = int.from_bytes(sector[start + 64 : start + 66], "little")
            if 2 < length <= 64:
                found.add(sector[start : start + length - 2].decode("utf-16-le", "replace"))
    return found


def _directory(data: bytes) -> Iterator[bytes]:
    """The directory's sectors along their chain, as far as the header's own list of the allocation table reaches."""
    if len(data) < 512:
        return
    size = 1 << min(_number(data, 30, 2), 16)
    tables = [_number(data, 76 + 4 * index) for index in range(109)]
    sector = _number(data, 48)
    for _ in range(_MOST_SECTORS):
        start = (sector + 1) * size
        if start >= len(data):
            return
        yield data[start : start + size]
        table, place = divmod(sector, size // 4)
        if table >= len(tables):
            return
        sector = _number(data, (tables[table] + 1) * size + 4 * place)


def _number(data: bytes, offset: int, length: int = 4) -> int:
    return int.from_bytes(data[offset : offset + length], "little")
