"""Artifacts: documents with their chunks in one checked file of JSON Lines.

A header, then each document followed by its parents and children, then an end line with the sha256 of all bytes
before it. Written as a stream and moved into place when complete; a name that ends with ``.zst`` is compressed. The
sha256 is always that of the plain lines, so that it names the content however it is stored.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from seamline.chunk.document_records import document_of, document_record
from seamline.chunk.jsonl import chunk_of
from seamline.errors import ArtifactError, IngestError, MissingExtraError
from seamline.fingerprint import canonical_json
from seamline.types import Chunk, Chunked, Document

FORMAT = "seamline.chunks/1"
COMPRESSED = ".zst"
_REPAIR = "write the artifact again with `seamline chunk`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A reference to a written artifact: what APIs return in place of its content. ``bytes`` are uncompressed."""

    uri: str
    sha256: str
    bytes: int
    documents: int
    parents: int
    children: int


class ArtifactWriter:
    """A context manager that writes one artifact; without ``close`` having been reached, nothing is left behind."""

    def __init__(self, path: str | os.PathLike[str], header: Mapping[str, object]) -> None:
        """``header`` holds the settings and fingerprints that the chunks were made with."""
        self._path = Path(path)
        self._header = header
        self._counts = {"documents": 0, "parents": 0, "children": 0}
        self._hash = hashlib.sha256()
        self._bytes = 0
        self._partial = self._path.with_name(f".{self._path.name}.{os.getpid()}.partial")
        self._stack = ExitStack()
        self._file: IO[bytes]

    def __enter__(self) -> ArtifactWriter:
        try:
            raw = self._stack.enter_context(self._partial.open("wb"))
        except OSError as error:
            raise IngestError(f"{self._path}: cannot be written ({error.strerror})", hint="check the folder") from error
        compressed = self._path.name.endswith(COMPRESSED)
        self._file = self._stack.enter_context(_zstandard(self._path).open(raw, "wb")) if compressed else raw
        self._line({"kind": "header", "format": FORMAT, **self._header})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
        self._partial.unlink(missing_ok=True)

    def add(self, document: Document, made: Chunked) -> None:
        """Write a document with its chunks."""
        self._line({"kind": "document", "document": document_record(document)})
        for kind, chunks in (("parent", made.parents), ("child", made.children)):
            for chunk in chunks:
                self._line({"kind": kind, "chunk": chunk})
        self._counts["documents"] += 1
        self._counts["parents"] += len(made.parents)
        self._counts["children"] += len(made.children)

    def close(self) -> Artifact:
        """Write the end line and move the file into place."""
        digest = f"sha256:{self._hash.hexdigest()}"
        size = self._bytes
        self._line({"kind": "end", "sha256": digest, **self._counts})
        self._stack.close()
        self._partial.replace(self._path)
        return Artifact(uri=self._path.resolve().as_uri(), sha256=digest, bytes=size, **self._counts)

    def _line(self, record: Mapping[str, object]) -> None:
        line = (canonical_json(record) + "\n").encode("utf-8", "surrogatepass")
        self._hash.update(line)
        self._bytes += len(line)
        self._file.write(line)


def is_artifact(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as an artifact does; cheap, and false for what is no file."""
    if not Path(path).is_file() or ".jsonl" not in Path(path).suffixes:
        return False
    with open_lines(path) as lines:
        first = lines.readline(4096)
    return f'"format":"{FORMAT}"'.encode() in first


def open_lines(path: str | os.PathLike[str]) -> IO[bytes]:
    """The plain lines of an artifact, compressed or not."""
    file = Path(path).open("rb")  # noqa: SIM115 (the caller closes it)
    if not Path(path).name.endswith(COMPRESSED):
        return file
    return io.BufferedReader(_zstandard(path).open(file, "rb", closefd=True))


def verify(path: str | os.PathLike[str], expected: str | None = None) -> Artifact:
    """Read it all: hash, counts, and every span against its document; ``expected`` is the sha256 it must have.

    Raises ``ArtifactError`` naming the line that is wrong.
    """
    counts = {"documents": 0, "parents": 0, "children": 0}
    hasher = hashlib.sha256()
    size, end = 0, None
    document: Document | None = None
    with open_lines(path) as lines:
        for number, line in enumerate(lines, start=1):
            where = f"{path}, line {number}"
            record = decoded(line, where)
            if end is not None:
                raise ArtifactError(f"{where}: stands after the end", hint=_REPAIR)
            if record["kind"] == "end":
                end = record
                continue
            hasher.update(line)
            size += len(line)
            if number == 1 and record.get("format") != FORMAT:
                raise ArtifactError(f"{where}: no header of {FORMAT}", hint=_REPAIR)
            if record["kind"] == "document":
                document = document_in(record, where)
                counts["documents"] += 1
            elif record["kind"] in ("parent", "child"):
                chunk = chunk_in(record, where)
                _refuse_mismatch(chunk, document, where)
                counts["parents" if record["kind"] == "parent" else "children"] += 1
    digest = f"sha256:{hasher.hexdigest()}"
    if end is None:
        raise ArtifactError(f"{path}: it has no end line, so that it is not complete", hint=_REPAIR)
    if end.get("sha256") != digest or any(end.get(name) != count for name, count in counts.items()):
        raise ArtifactError(
            f"{path}: its content has the hash {digest}, its end says {end.get('sha256')}", hint=_REPAIR
        )
    if expected is not None and expected != digest:
        raise ArtifactError(f"{path}: its content has the hash {digest}, the reference says {expected}", hint=_REPAIR)
    return Artifact(uri=Path(path).resolve().as_uri(), sha256=digest, bytes=size, **counts)


def decoded(line: bytes, where: str) -> dict[str, Any]:
    """One line as a record with its kind; raises ``ArtifactError``."""
    try:
        record = json.loads(line)
    except ValueError as error:
        raise ArtifactError(f"{where}: not JSON ({error})", hint=_REPAIR) from error
    if not isinstance(record, dict) or record.get("kind") not in ("header", "document", "parent", "child", "end"):
        raise ArtifactError(f"{where}: not a line of an artifact", hint=_REPAIR)
    return record


def document_in(record: Mapping[str, Any], where: str) -> Document:
    """The document of a line; raises ``ArtifactError`` where its fields are not right."""
    try:
        return document_of(record["document"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ArtifactError(f"{where}: not a document of this format ({error})", hint=_REPAIR) from error


def chunk_in(record: Mapping[str, Any], where: str) -> Chunk:
    """The chunk of a line; raises ``ArtifactError`` where its fields are not right."""
    try:
        return chunk_of(record["chunk"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ArtifactError(f"{where}: not a chunk of this format ({error})", hint=_REPAIR) from error


def documents(path: str | os.PathLike[str]) -> Iterator[Document]:
    """The documents of an artifact, in order; verify it first."""
    with open_lines(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.startswith(b'{"document":'):
                where = f"{path}, line {number}"
                yield document_in(decoded(line, where), where)


def _refuse_mismatch(chunk: Chunk, document: Document | None, where: str) -> None:
    if document is None or chunk.document_id != document.id:
        raise ArtifactError(f"{where}: the chunk {chunk.id!r} does not follow its document", hint=_REPAIR)
    exact = 0 <= chunk.char_start < chunk.char_end <= len(document.text)
    if not exact or document.text[chunk.char_start : chunk.char_end] != chunk.text:
        raise ArtifactError(
            f"{where}: the text of {chunk.id!r} is not that of its document at {chunk.char_start}:{chunk.char_end}",
            hint=_REPAIR,
        )
    if chunk.document_sha256 != document.text_sha256:
        raise ArtifactError(f"{where}: the chunk {chunk.id!r} was made of another text of its document", hint=_REPAIR)


def _zstandard(path: str | os.PathLike[str]) -> Any:  # noqa: ANN401
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtraError(
            f"{path}: compressed artifacts need the package zstandard, which is not installed",
            hint='pip install "seamline[zstd]"',
        ) from error
    return zstandard
