"""The digest of a kb: equal indexes have equal digests, whichever store holds them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from seamline.store.records import chunk_to_json, document_to_json
from seamline.types import Chunk, Document, VectorName

if TYPE_CHECKING:
    from seamline.ports import Vector


def digest(
    documents: Iterable[Document],
    chunks_with_terms: Iterable[tuple[Chunk, Mapping[str, int], Mapping[VectorName, Vector]]],
) -> str:
    """Hex sha256 over documents, chunks, term frequencies and vectors, each as stored.

    Both inputs must come in ascending order of id; they are read once and never held, so that memory stays
    bounded. Generation numbers, ingest states and a store's internal numbering are left out. Vectors count
    as little-endian float16, so that a store of float32 agrees with one of float16.

    Raises:
        ValueError: an input is not in strictly ascending order of id.
    """
    digest = hashlib.sha256(b"seamline/kb/1\n")
    previous = None
    for document in documents:
        previous = _ascending("document", previous, document.id)
        _add(digest, b"document", document_to_json(document).encode("utf-8"))
    previous = None
    for chunk, terms, vectors in chunks_with_terms:
        previous = _ascending("chunk", previous, chunk.id)
        _add(digest, b"chunk", chunk_to_json(chunk).encode("utf-8"))
        for term in sorted(terms):
            _add(digest, b"term", term.encode("utf-8"), str(terms[term]).encode("ascii"))
        for name in sorted(vectors):
            _add(digest, b"vector", name.encode("ascii"), _half(vectors[name]))
    return digest.hexdigest()


def _ascending(what: str, previous: str | None, current: str) -> str:
    if previous is not None and current <= previous:
        raise ValueError(f"{what} ids must be strictly ascending, got {current!r} after {previous!r}")
    return current


def _add(digest: hashlib._Hash, *parts: bytes) -> None:
    # Each part with its length, so that no two sequences of parts run together into the same bytes.
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)


def _half(vector: Vector) -> bytes:
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(vector, dtype="<f2").tobytes()
