"""Documents from JSON Lines, one record a line: ``{"_id", "title", "text", "metadata"?, ...}``.

``language``, ``version`` and ``readable_by`` (a list of names) are read where they stand.

The layout of the retrieval test collections, and the simplest way to bring text from another system.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seamline.errors import IdCollisionError, IngestError, ListingError
from seamline.fingerprint import sha256_bytes, sha256_text
from seamline.ingest.clean import clean
from seamline.types import Document, DocumentId, ParseStatus, Provenance, Quality, SourceEntry

VERSION = "1"
MEDIA_TYPE = "text/plain"


class RecordSource:
    """A JSON Lines file as a ``Source``; ids are the records' own. The file is read once, on listing."""

    def __init__(self, path: Path, *, name: str | None = None) -> None:
        self._path = path
        self._lines: dict[DocumentId, bytes] = {}
        self._name = name or str(path.resolve())

    @property
    def name(self) -> str:
        """The source's name: its path unless one was given."""
        return self._name

    def entries(self) -> Iterator[SourceEntry]:
        """Every record, ordered by id. Raises ``ListingError`` on a line that is not a record."""
        lines: dict[DocumentId, bytes] = {}
        stated: dict[DocumentId, tuple[frozenset[str] | None, object]] = {}
        try:
            raw = self._path.read_bytes()
        except OSError as error:
            raise ListingError(f"{self._path}: cannot be read ({error.strerror})") from error
        for number, line in enumerate(raw.split(b"\n"), start=1):
            if not line.strip():
                continue
            record = _record(line, f"{self._path}, line {number}")
            id_ = DocumentId(str(record["_id"]))
            if id_ in lines:
                raise IdCollisionError(f"{self._path}, line {number}: the id {id_!r} stands on an earlier line too")
            lines[id_] = line
            stated[id_] = _access(record, f"{self._path}, line {number}"), record.get("version")
        self._lines = lines
        for id_ in sorted(lines):
            line = lines[id_]
            readable_by, version = stated[id_]
            yield SourceEntry(
                id=id_,
                uri=f"{self._path.name}#{id_}",
                revision=sha256_bytes(line)[:32],
                size=len(line),
                readable_by=readable_by,
                version=None if version is None else str(version),
            )

    def read(self, entry: SourceEntry) -> bytes:
        """The record's line. Raises ``IngestError`` for an entry that was not listed."""
        if entry.id not in self._lines:
            raise IngestError(f"{self._path}: no record has the id {entry.id!r}")
        return self._lines[entry.id]

    def reader(self) -> RecordReader:
        """What reads its entries: a record is no file of a format."""
        return RecordReader()


class RecordReader:
    """Turns a record's line into a document: its text as it is, cleaned at the one place."""

    def __init__(self, *, language: str | None = None) -> None:
        self._language = language

    @property
    def recipe(self) -> Mapping[str, str]:
        """The reader's version, and the language it declares."""
        return {"records": VERSION, "language": self._language or ""}

    def read(self, entry: SourceEntry, data: bytes) -> Document:
        """The document; ``blank`` when its text is only whitespace."""
        record = _record(data, entry.uri)
        text = clean(str(record.get("text", ""))).text
        return Document(
            id=entry.id,
            text=text,
            text_sha256=sha256_text(text),
            title=str(record["title"]) if record.get("title") else None,
            media_type=MEDIA_TYPE,
            provenance=Provenance(
                source_uri=entry.uri, content_sha256=sha256_bytes(data), parser="records", parser_version=VERSION
            ),
            quality=Quality(characters=len(text)),
            language=record.get("language", self._language),
            language_declared=self._language is not None or "language" in record,
            metadata=_scalars(record.get("metadata")),
            readable_by=entry.readable_by,
            version=entry.version,
            status=ParseStatus.OK if text.strip() else ParseStatus.BLANK,
            status_reason=None if text.strip() else "the record has no text",
        )


def create(
    settings: Mapping[str, object],  # noqa: ARG001 - the port's
    *,
    paths: Sequence[Path],
    name: str | None = None,
    exclude: Path | None = None,  # noqa: ARG001
) -> RecordSource:
    """From one JSON Lines file; raises ``ListingError`` for another number of paths."""
    if len(paths) != 1:
        raise ListingError(f"records are read from one file, not {len(paths)}", hint="index each under its own name")
    return RecordSource(Path(paths[0]), name=name)


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise ListingError(f"{where}: not JSON ({error})") from error
    if not isinstance(record, dict) or "_id" not in record:
        raise ListingError(f"{where}: a record needs an _id", hint='{"_id": "1", "title": "...", "text": "..."}')
    return record


def _access(record: Mapping[str, Any], where: str) -> frozenset[str] | None:
    """Who may read a record; what is no list of names is refused, so that it never becomes everyone's."""
    stated = record.get("readable_by")
    if stated is None:
        return None
    if not isinstance(stated, list) or not all(isinstance(name, str) for name in stated):
        raise ListingError(f"{where}: readable_by is not a list of names", hint='"readable_by": ["staff"]')
    return frozenset(stated)


def _scalars(given: object) -> dict[str, str | int | float | bool]:
    if not isinstance(given, Mapping):
        return {}
    return {str(key): value for key, value in given.items() if isinstance(value, str | int | float | bool)}
