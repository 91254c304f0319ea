"""Documents and chunks as rows: compressed JSON, without what has a column of its own."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from seamline.errors import StoreCorruptError
from seamline.store.records import chunk_from_json, chunk_to_json, document_from_json, document_to_json
from seamline.types import Chunk, Document

Record = TypeVar("Record")


def pack_document(document: Document) -> tuple[str | None, str, bytes]:
    """The columns ``readable_by`` and ``metadata``, and the payload; raises ``IntegrityError``.

    Access and metadata have one place, their columns: changing access rewrites no payload.
    """
    text = document_to_json(document)
    record = json.loads(text)
    metadata = json.dumps(record["metadata"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    bare = document_to_json(replace(document, readable_by=None, metadata={}))
    return access_to_json(document.readable_by), metadata, zlib.compress(bare.encode("utf-8"))


def unpack_document(payload: bytes, readable_by: str | None, metadata: str) -> Document:
    """The inverse of :func:`pack_document`; raises ``StoreCorruptError``."""
    document = _unpacked(payload, document_from_json, "document")
    access = None if readable_by is None else frozenset(json.loads(readable_by))
    return replace(document, readable_by=access, metadata=json.loads(metadata))


def access_to_json(readable_by: frozenset[str] | None) -> str | None:
    """An access list as stored; ``None`` is one that was never set."""
    return None if readable_by is None else json.dumps(sorted(readable_by), ensure_ascii=False)


def pack_chunk(chunk: Chunk) -> bytes:
    """A chunk's payload; raises ``IntegrityError``."""
    return zlib.compress(chunk_to_json(chunk).encode("utf-8"))


def unpack_chunk(payload: bytes) -> Chunk:
    """The inverse of :func:`pack_chunk`; raises ``StoreCorruptError``."""
    return _unpacked(payload, chunk_from_json, "chunk")


def _unpacked(payload: Any, build: Callable[[str], Record], what: str) -> Record:  # noqa: ANN401 - SQLite is untyped
    try:
        text = zlib.decompress(payload).decode("utf-8")
    except (zlib.error, UnicodeDecodeError, TypeError) as error:
        raise StoreCorruptError(
            f"a stored {what} cannot be unpacked: {error}",
            hint="restore a backup, or index the sources again; `seamline doctor` lists what is damaged",
        ) from error
    return build(text)
