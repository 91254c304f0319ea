"""Documents, chunks, bindings and states as canonical JSON, and back without loss.

Canonical: sorted keys, no spaces, frozensets as sorted lists; equal values have equal texts. A value that
JSON cannot carry exactly (a float that is not finite, text that is not valid Unicode) is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

from seamline.errors import IntegrityError, StoreCorruptError
from seamline.types import (
    Binding,
    Block,
    Canary,
    Chunk,
    Document,
    EmbeddingSpace,
    IngestState,
    IngestStatus,
    Page,
    ParseStatus,
    Provenance,
    Quality,
)

Record = TypeVar("Record")


def document_to_json(document: Document) -> str:
    """A document with its text, structure, provenance and access list; raises ``IntegrityError``."""
    return _dump(
        _shallow(document)
        | {
            "provenance": _shallow(document.provenance),
            "quality": _shallow(document.quality),
            "blocks": [_shallow(block) for block in document.blocks],
            "pages": [_shallow(page) for page in document.pages],
            "metadata": dict(document.metadata),
        },
        f"document {document.id!r}",
    )


def document_from_json(text: str) -> Document:
    """The inverse of :func:`document_to_json`; raises ``StoreCorruptError``."""
    return _load(text, "document", _document)


def chunk_to_json(chunk: Chunk) -> str:
    """A chunk with its text, span and pages; raises ``IntegrityError``."""
    return _dump(_shallow(chunk) | {"pages": [_shallow(page) for page in chunk.pages]}, f"chunk {chunk.id!r}")


def chunk_from_json(text: str) -> Chunk:
    """The inverse of :func:`chunk_to_json`; raises ``StoreCorruptError``."""
    return _load(text, "chunk", _chunk)


def binding_to_json(binding: Binding) -> str:
    """What a kb was derived with, canaries included; raises ``IntegrityError``."""
    return _dump(
        _shallow(binding)
        | {"space": _shallow(binding.space), "canaries": [_shallow(canary) for canary in binding.canaries]},
        "the binding",
    )


def binding_from_json(text: str) -> Binding:
    """The inverse of :func:`binding_to_json`; raises ``StoreCorruptError``."""
    return _load(text, "binding", _binding)


def state_to_json(state: IngestState) -> str:
    """What the last sync made of an entry; raises ``IntegrityError``."""
    return _dump(_shallow(state), f"the state of {state.document_id!r}")


def state_from_json(text: str) -> IngestState:
    """The inverse of :func:`state_to_json`; raises ``StoreCorruptError``."""
    return _load(text, "ingest state", _state)


def _document(value: dict[str, Any]) -> Document:
    readable_by = value["readable_by"]
    converted = {
        "provenance": Provenance(**value["provenance"]),
        "quality": Quality(**value["quality"]),
        "blocks": tuple(Block(**block) for block in value["blocks"]),
        "pages": tuple(Page(**page) for page in value["pages"]),
        "readable_by": None if readable_by is None else frozenset(readable_by),
        "status": ParseStatus(value["status"]),
    }
    return Document(**(value | converted))


def _chunk(value: dict[str, Any]) -> Chunk:
    pages = tuple(Page(**page) for page in value["pages"])
    return Chunk(**(value | {"heading_path": tuple(value["heading_path"]), "pages": pages}))


def _binding(value: dict[str, Any]) -> Binding:
    space = value["space"]
    converted = {
        "space": EmbeddingSpace(**(space | {"languages": frozenset(space["languages"])})),
        "canaries": tuple(Canary(text=item["text"], vector=tuple(item["vector"])) for item in value["canaries"]),
    }
    return Binding(**(value | converted))


def _state(value: dict[str, Any]) -> IngestState:
    readable_by = value.get("readable_by")  # states of before it was kept have none
    access = None if readable_by is None else frozenset(readable_by)
    return IngestState(**(value | {"status": IngestStatus(value["status"]), "readable_by": access}))


def _shallow(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the dataclasses above
    # Not dataclasses.asdict: it copies recursively, which would be most of the cost of a commit.
    return {item.name: getattr(value, item.name) for item in fields(value)}


def _dump(value: dict[str, Any], what: str) -> str:
    try:
        text = json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_listed
        )
        text.encode("utf-8")
    except (TypeError, ValueError) as error:  # text with lone surrogates is a ValueError too
        raise IntegrityError(
            f"{what} cannot be stored exactly: {error}",
            hint="metadata values are strings, booleans and finite numbers; text is valid Unicode",
        ) from error
    return text


def _listed(value: object) -> list[str]:
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not a value of a record")


def _load(text: str, what: str, build: Callable[[dict[str, Any]], Record]) -> Record:
    try:
        return build(json.loads(text))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StoreCorruptError(
            f"a stored {what} is not readable: {type(error).__name__}: {error}",
            hint="`seamline doctor` lists what is damaged; index the sources again",
        ) from error
