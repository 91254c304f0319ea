"""Documents, chunks, metadata and vectors as rows. What has a column of its own is left out of the payload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seamline.errors import EmbeddingError, IntegrityError
from seamline.store.records import document_from_json, document_to_json
from seamline.types import Document, Metadata, MetadataValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seamline.ports import Vector

VECTOR = "coalesce(halfvec_send(half), vector_send(single)), half IS NOT NULL"
"""Select list of a vector's bytes, for :func:`vector_from`."""


def pack_document(document: Document) -> str:
    """A document without its language and access list, which are columns; raises ``IntegrityError``."""
    return document_to_json(replace(document, language=None, readable_by=None))


def unpack_document(payload: str, language: str | None, readable_by: list[str] | None) -> Document:
    """The inverse of :func:`pack_document`; raises ``StoreCorruptError``."""
    access = None if readable_by is None else frozenset(readable_by)
    return replace(document_from_json(payload), language=language, readable_by=access)


def metadata_rows(metadata: Metadata) -> list[tuple[bytes, bytes]]:
    """Keys and values in the form that they are compared in."""
    return [(key.encode("utf-8"), comparable(value)) for key, value in metadata.items()]


def comparable(value: MetadataValue) -> bytes:
    """Equal for values that are equal in Python (``True``, ``1`` and ``1.0``), different for all others."""
    if isinstance(value, str):
        return b"s:" + value.encode("utf-8")
    whole = int(value) if isinstance(value, bool | int) or value.is_integer() else value
    return b"n:" + repr(whole).encode("ascii")


def storable(text: str) -> bool:
    """Whether PostgreSQL can hold a text at all: no U+0000, no lone surrogates. What cannot is in no kb."""
    if "\x00" in text:
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def require_storable(what: str, *texts: str | None) -> None:
    """Raise ``IntegrityError`` for a text that cannot be stored."""
    if not all(text is None or storable(text) for text in texts):
        raise IntegrityError(
            f"{what} holds U+0000 or is not valid Unicode, which PostgreSQL cannot store",
            hint="nothing was changed; the embedded store can hold U+0000",
        )


def check_vector(vector: NDArray[Any], dimension: int, what: str) -> None:
    """Raise ``EmbeddingError`` for a wrong dimension or a value that is not finite."""
    if vector.shape != (dimension,):
        raise EmbeddingError(
            f"the vector {what} has shape {vector.shape}, the kb's space has dimension {dimension}",
            hint="embed with the model that the kb was indexed with",
        )
    if not np.isfinite(vector).all():
        raise EmbeddingError(f"the vector {what} has a value that is not finite", hint="the embedder is at fault")


def vector_text(vector: Vector, dtype: str, what: str) -> str:
    """A vector as pgvector reads it, already in the stored precision."""
    with np.errstate(over="ignore"):
        stored = np.asarray(vector, dtype=dtype)
    if not np.isfinite(stored).all():
        raise EmbeddingError(
            f"the vector {what} has values beyond the range of {dtype}", hint="set vector_dtype to float32"
        )
    return "[" + ",".join(map(repr, stored.astype(np.float64).tolist())) + "]"


def vector_from(data: bytes, half: bool) -> NDArray[np.float32]:
    """The inverse: the bytes that ``halfvec_send`` and ``vector_send`` give, without their header of four."""
    return np.frombuffer(data, dtype=">f2" if half else ">f4", offset=4).astype(np.float32)


def cosines_of(vectors: Mapping[str, NDArray[np.float32]], query: NDArray[np.float64]) -> dict[str, float]:
    """Exact cosines in double precision, rounded once: the same to the bit as the reference store's."""
    unit = _normalised(query)
    return {
        key: float(np.float32(np.clip((_normalised(vector.astype(np.float64)) * unit).sum(), -1.0, 1.0)))
        for key, vector in vectors.items()
    }


def _normalised(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    norm = float(np.sqrt((vector * vector).sum()))
    return vector / norm if norm > 0 else vector
