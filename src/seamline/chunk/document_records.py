"""Documents as JSON objects, for artifacts; what is read back is checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from seamline.fingerprint import sha256_text
from seamline.types import Block, Document, DocumentId, Page, ParseStatus, Provenance, Quality

_FIELDS = frozenset(field.name for field in fields(Document))


def document_record(document: Document) -> dict[str, Any]:
    """JSON types only; who may read it is a sorted list."""
    record = asdict(document)
    readers = document.readable_by
    return {**record, "status": document.status.value, "readable_by": None if readers is None else sorted(readers)}


def document_of(record: Mapping[str, Any]) -> Document:
    """The document of a record; raises ``TypeError``, ``ValueError`` or ``KeyError``, also for a wrong text hash."""
    unknown = record.keys() - _FIELDS
    if unknown:
        raise ValueError(f"unknown fields: {', '.join(sorted(unknown))}")
    if sha256_text(record["text"]) != record["text_sha256"]:
        raise ValueError(f"the text of {record['id']!r} does not have the hash that is stated")
    readers = record["readable_by"]
    return Document(
        **{
            **record,
            "id": DocumentId(record["id"]),
            "provenance": Provenance(**record["provenance"]),
            "quality": Quality(**record["quality"]),
            "blocks": tuple(Block(**block) for block in record["blocks"]),
            "pages": tuple(Page(**page) for page in record["pages"]),
            "readable_by": None if readers is None else frozenset(readers),
            "status": ParseStatus(record["status"]),
        }
    )
