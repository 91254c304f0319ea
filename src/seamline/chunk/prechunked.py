"""An artifact as a source of documents that are chunked already."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from shutil import copyfileobj
from types import TracebackType
from typing import IO

from seamline.chunk.artifacts import chunk_in, decoded, document_in, open_lines, verify
from seamline.errors import IdCollisionError, IngestError
from seamline.fingerprint import sha256_bytes
from seamline.types import Chunk, Chunked, Document, DocumentId, Fingerprint, SourceEntry


class ChunkedSource:
    """The documents of one verified artifact as a ``Source``; a context manager.

    The bytes of an entry are its document's line with those of its chunks: it is unchanged when they all are.
    """

    def __init__(self, path: str | os.PathLike[str], *, name: str | None = None, sha256: str | None = None) -> None:
        """Verify and copy the artifact; raises ``ArtifactError``. ``sha256`` is what a reference says it has."""
        self.artifact = verify(path, sha256)
        self._name = name or str(Path(path).resolve())
        self._places: dict[DocumentId, tuple[int, int]] = {}
        # A copy, so that what is indexed is what was verified; plain, so that documents can be read one by one.
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the source)
        with open_lines(path) as lines:
            self.header: Mapping[str, object] = decoded(lines.readline(), f"{path}, line 1")
            copyfileobj(lines, self._file)

    def __enter__(self) -> ChunkedSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def name(self) -> str:
        """The source's name: the artifact's path unless one was given."""
        return self._name

    def entries(self) -> Iterator[SourceEntry]:
        """Every document, ordered by id; raises ``IdCollisionError`` for two of one id."""
        found: dict[DocumentId, SourceEntry] = {}
        begun: tuple[int, SourceEntry] | None = None
        self._file.seek(0)
        position = 0
        for line in chain(self._file, (b"",)):
            is_document = line.startswith(b'{"document":')
            if begun is not None and (is_document or not line or line.startswith(b'{"children":')):
                start, entry = begun
                self._places[entry.id] = (start, position - start)
                found[entry.id] = replace(entry, revision=sha256_bytes(self._at(entry.id)), size=position - start)
                self._file.seek(position + len(line))
                begun = None
            if is_document:
                entry = _entry(self._document(line))
                if entry.id in found:
                    raise IdCollisionError(f"{self._name}: two documents have the id {entry.id!r}")
                begun = (position, entry)
            position += len(line)
        for id_ in sorted(found):
            yield found[id_]

    def read(self, entry: SourceEntry) -> bytes:
        """The lines of one entry; raises ``IngestError`` for one that was not listed."""
        if entry.id not in self._places:
            raise IngestError(f"{self._name}: no document has the id {entry.id!r}", hint="list the entries first")
        return self._at(entry.id)

    def chunks_of(self, id_: DocumentId) -> Chunked:
        """The stored chunks of a listed document."""
        made: dict[str, list[Chunk]] = {"parent": [], "child": []}
        for line in self._at(id_).split(b"\n")[1:-1]:
            record = decoded(line, self._name)
            made[record["kind"]].append(chunk_in(record, self._name))
        return Chunked(children=tuple(made["child"]), parents=tuple(made["parent"]))

    def _at(self, id_: DocumentId) -> bytes:
        start, length = self._places[id_]
        self._file.seek(start)
        return self._file.read(length)

    def _document(self, line: bytes) -> Document:
        return document_in(decoded(line, self._name), self._name)


class ChunkedReader:
    """An ``EntryReader``: documents as the artifact holds them, nothing is parsed."""

    def __init__(self, source: ChunkedSource) -> None:
        self._source = source

    @property
    def recipe(self) -> Mapping[str, str]:
        """The artifact's format; what parsed a document is part of the document."""
        return {"artifact": str(self._source.header["format"])}

    def read(self, entry: SourceEntry, data: bytes) -> Document:
        """The document on the first of the entry's lines."""
        where = f"{self._source.name}, document {entry.id!r}"
        return document_in(decoded(data.split(b"\n", 1)[0], where), where)


class ChunkedChunker:
    """A ``Chunker`` that hands out the chunks of the artifact."""

    def __init__(self, source: ChunkedSource) -> None:
        self._source = source

    @property
    def fingerprint(self) -> Fingerprint:
        """Identity of the chunker that made the artifact."""
        return Fingerprint(str(self._source.header["chunker"]))

    def chunk(self, document: Document) -> Chunked:
        """The stored chunks of a document of the artifact."""
        return self._source.chunks_of(document.id)


def _entry(document: Document) -> SourceEntry:
    return SourceEntry(
        id=document.id,
        uri=document.provenance.source_uri,
        revision="",
        version=document.version,
        readable_by=document.readable_by,
    )
