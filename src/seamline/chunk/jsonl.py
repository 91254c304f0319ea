r"""Chunks as JSON Lines, one canonical object a line; lines end at ``\n`` and nowhere else."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path

from seamline.errors import IngestError
from seamline.fingerprint import canonical_json
from seamline.types import Chunk, ChunkId, DocumentId, Page

_FIELDS = frozenset(field.name for field in fields(Chunk))


def chunks_to_jsonl(chunks: Iterable[Chunk]) -> Iterator[str]:
    r"""One line a chunk, with its ``\n``: sorted keys, no spaces, so that equal chunks are equal bytes."""
    for chunk in chunks:
        yield canonical_json(chunk) + "\n"


def chunks_from_jsonl(source: str | os.PathLike[str] | Iterable[str]) -> Iterator[Chunk]:
    r"""Read chunks from a file's path or from lines; raises ``IngestError`` naming the line that is wrong.

    Only ``\n`` ends a line: U+2028, U+2029 and U+0085 occur inside texts.
    """
    if isinstance(source, str | os.PathLike):
        with Path(source).open(encoding="utf-8", newline="\n") as file:
            yield from _read(file, str(source))
    else:
        yield from _read(source, "chunks")


def _read(lines: Iterable[str], where: str) -> Iterator[Chunk]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield chunk_of(json.loads(line))
        except (ValueError, TypeError, KeyError) as error:
            raise IngestError(
                f"{where}, line {number}: not a chunk ({error})",
                hint="a chunks file holds one JSON object a line, as chunks_to_jsonl writes them",
            ) from error


def chunk_of(record: object) -> Chunk:
    """The chunk of a decoded record; raises ``TypeError``, ``ValueError`` or ``KeyError``."""
    if not isinstance(record, dict):
        raise TypeError("not an object")
    unknown = record.keys() - _FIELDS
    if unknown:
        raise ValueError(f"unknown fields: {', '.join(sorted(unknown))}")
    parent = record.get("parent_id")
    return Chunk(
        **record
        | {
            "id": ChunkId(record["id"]),
            "document_id": DocumentId(record["document_id"]),
            "heading_path": tuple(record.get("heading_path", ())),
            "pages": tuple(Page(**page) for page in record.get("pages", ())),
            "parent_id": ChunkId(parent) if parent is not None else None,
        }
    )
