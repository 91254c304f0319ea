"""One document from standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from seamline.errors import IngestError
from seamline.fingerprint import sha256_bytes
from seamline.types import DocumentId, SourceEntry


class StdinSource:
    """Reads standard input once, when it is listed; the document's id is the source's name."""

    def __init__(self, *, name: str | None = None, most: int) -> None:
        self._name = name or "stdin"
        self._most = most
        self._data = b""

    @property
    def name(self) -> str:
        """The source's name, and the id of its document."""
        return self._name

    def entries(self) -> Iterator[SourceEntry]:
        """The one entry. Raises ``IngestError`` for more than ``max_file_bytes``."""
        self._data = sys.stdin.buffer.read(self._most + 1)
        if len(self._data) > self._most:
            raise IngestError(f"standard input: over the limit of {self._most} bytes", hint="raise max_file_bytes")
        revision = sha256_bytes(self._data)[:32]
        yield SourceEntry(id=DocumentId(self._name), uri=f"stdin:{self._name}", revision=revision, size=len(self._data))

    def read(self, entry: SourceEntry) -> bytes:  # noqa: ARG002
        """What was on standard input."""
        return self._data


def create(
    settings: Mapping[str, object],
    *,
    paths: Sequence[Path],  # noqa: ARG001
    name: str | None = None,
    exclude: Path | None = None,  # noqa: ARG001
) -> StdinSource:
    """From ``max_file_bytes``; ``paths`` is ``-`` alone."""
    return StdinSource(name=name, most=int(str(settings["max_file_bytes"])))
