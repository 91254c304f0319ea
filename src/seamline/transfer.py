"""Whole knowledge bases: list, delete, copy between any two stores, export, import, back up and restore.

A copy goes through the ports alone: terms are analysed again, vectors are found by the hash of their text, and the
digest of what arrived must be the digest of what was sent.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seamline.analyze.text import create as create_analyzer
from seamline.errors import IntegrityError, StoreCorruptError, UsageError
from seamline.fingerprint import sha256_text
from seamline.ports import IndexedChunk, Snapshot
from seamline.store import records
from seamline.store.catalogue import Catalogue, KbRecord
from seamline.store.embedded import backup
from seamline.store.generations import GenerationalStore
from seamline.types import Binding, Document, IngestState, VectorName

if TYPE_CHECKING:
    from seamline.knowledge_base import KnowledgeBase
    from seamline.ports import Vector

FORMAT = "seamline/export/1"
BATCH_DOCUMENTS = 64

Filed = tuple[Document, list[IndexedChunk]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What was copied, and the digest that both sides have."""

    documents: int
    chunks: int
    digest: str


def copy(source: KnowledgeBase, target: KnowledgeBase) -> Moved:
    """Copy a kb into an empty one, in whichever stores they are.

    Raises:
        UsageError: the target holds documents, or the principal is not the owner.
        IntegrityError: the analysis changed since the kb was indexed, a vector is missing, or the digests differ.
    """
    _require_owner(source, target)
    with source.read() as snapshot:
        binding = _bound(snapshot, source)
        states = list(snapshot.states(source.scope).values())
        return _fill(target, binding, states, _filed(snapshot, source, binding), snapshot.digest(source.scope))


def export(kb: KnowledgeBase, path: Path) -> Moved:
    """Write a kb into a new file: gzipped JSON Lines with a header, texts, chunks, terms, vectors and a checksum."""
    _require_owner(kb)
    with kb.read() as snapshot, ExitStack() as stack:
        binding = _bound(snapshot, kb)
        file = stack.enter_context(gzip.open(path, "xb", compresslevel=6))
        running = hashlib.sha256()
        documents = chunks = 0

        def line(value: dict[str, Any]) -> None:
            data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"
            running.update(data)
            file.write(data)

        digest = snapshot.digest(kb.scope)
        line({"format": FORMAT, "binding": records.binding_to_json(binding), "digest": digest})
        for state in snapshot.states(kb.scope).values():
            line({"state": records.state_to_json(state)})
        for document, items in _filed(snapshot, kb, binding):
            line({"document": records.document_to_json(document), "chunks": [_chunk_line(item) for item in items]})
            documents += 1
            chunks += len(items)
        line({"documents": documents, "chunks": chunks, "sha256": running.hexdigest()})
        return Moved(documents=documents, chunks=chunks, digest=digest)


def load(path: Path, target: KnowledgeBase) -> Moved:
    """Fill an empty kb from an export. The file is checked to its end before anything is written.

    Raises:
        StoreCorruptError: the file is cut short or changed.
        UsageError: the target holds documents, or the principal is not the owner.
    """
    _require_owner(target)
    header = _checked(path)
    states = [records.state_from_json(line["state"]) for line in _lines(path) if "state" in line]
    filed = (_filed_line(line) for line in _lines(path) if "document" in line)
    return _fill(target, records.binding_from_json(header["binding"]), states, filed, header["digest"])


def listed(home: Path, workspace: str | None) -> list[KbRecord]:
    """The kbs that are registered under a home."""
    return Catalogue(home).list(workspace)


def delete(kb: KnowledgeBase) -> None:
    """Delete a kb with everything in it; raises ``NotFoundError``."""
    _require_owner(kb)
    store = kb.store()
    drop = getattr(store, "drop", None)
    if drop is not None:  # a store that keeps the kb elsewhere than in its folder
        drop()
    kb.close()
    Catalogue(kb.home).delete(kb.workspace, kb.name)


def save(kb: KnowledgeBase, destination: Path) -> None:
    """Back up the live generation of an embedded kb into one file, while it is in use."""
    _require_owner(kb)
    store = kb.store()
    if not isinstance(store, GenerationalStore):
        raise UsageError(
            "only the embedded store is backed up as a file",
            hint="use `seamline kb export`, or the server's own backup",
        )
    backup.save(store.folder_of(store.pointer().live), destination)


def restore(saved: Path, home: Path, workspace: str, name: str) -> None:
    """Make a new kb of a backup; raises ``UsageError`` when there is one of that name."""
    catalogue = Catalogue(home)
    if any(record.name == name for record in catalogue.list(workspace)):
        raise UsageError(f"there is a kb {name!r} already", hint="name another one with --kb, or delete it first")
    if not saved.is_file():
        raise UsageError(f"{saved} is not a file", hint="name a file that `seamline backup` wrote")
    record = catalogue.open_kb(workspace, name, create=True, store="embedded")
    try:
        backup.restore(saved, record.folder)
    except BaseException:
        catalogue.delete(workspace, name)
        raise


def _fill(
    target: KnowledgeBase, binding: Binding, states: list[IngestState], filed: Iterable[Filed], digest: str
) -> Moved:
    target.create()
    store = target.store()
    documents = chunks = 0
    with store.read() as snapshot:
        if snapshot.statistics(target.scope).documents:
            raise UsageError(
                f"the kb {target.name!r} holds documents already", hint="name a new one, or delete it first"
            )
    with store.write(timeout=target.settings.values.write_timeout_s) as writer:
        writer.bind(binding)
        for document, items in filed:
            writer.put(document, items)
            documents += 1
            chunks += len(items)
            if documents % BATCH_DOCUMENTS == 0:
                writer.commit()
        writer.record(states)  # last: a sync after a crash before this reads every document again
        writer.commit()
    with store.read() as snapshot:
        arrived = snapshot.digest(target.scope)
    if arrived != digest:
        raise IntegrityError(
            f"the kb {target.name!r} is not what was sent: digest {arrived}, not {digest}",
            hint="delete it and try again; with vector_dtype=float32 in one store only, use float32 in both",
        )
    return Moved(documents=documents, chunks=chunks, digest=digest)


def _filed(snapshot: Snapshot, kb: KnowledgeBase, binding: Binding) -> Iterator[Filed]:
    analyzer = create_analyzer(kb.settings.values.mapping())
    if analyzer.fingerprint != binding.analyzer_fingerprint:
        raise IntegrityError(
            "the keyword analysis of this version is not the one that the kb was indexed with",
            hint="run `seamline reindex` first",
        )
    template = binding.space.template
    for document in snapshot.documents(kb.scope):
        chunks = snapshot.chunks_of(kb.scope, document.id)
        texts = [chunk.rendered(template) for chunk in chunks]
        hashes = [sha256_text(text) for text in texts]
        known = snapshot.known_vectors(kb.scope, hashes)
        missing = [chunk.id for chunk, key in zip(chunks, hashes, strict=True) if key not in known]
        if missing:
            raise IntegrityError(
                f"chunk {missing[0]!r} has no vector of its text", hint="`seamline doctor` says more; index it again"
            )
        yield (
            document,
            [
                IndexedChunk(
                    chunk=chunk,
                    text_sha256=key,
                    terms=analyzer.terms(text, chunk.language),
                    vectors={"child": known[key]},
                )
                for chunk, text, key in zip(chunks, texts, hashes, strict=True)
            ],
        )


def _bound(snapshot: Snapshot, kb: KnowledgeBase) -> Binding:
    binding = snapshot.binding(kb.scope)
    if binding is None:
        raise UsageError(f"nothing was indexed into {kb.name!r} yet", hint="`seamline index FOLDER` does")
    return binding


def _require_owner(*kbs: KnowledgeBase) -> None:
    if not all(kb.principal.owner for kb in kbs):
        raise UsageError("only the owner moves or deletes a whole knowledge base", hint="leave --as and --groups out")


def _chunk_line(item: IndexedChunk) -> dict[str, Any]:
    return {
        "chunk": records.chunk_to_json(item.chunk),
        "text_sha256": item.text_sha256,
        "terms": list(item.terms),
        "vectors": {
            name: base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode("ascii")
            for name, vector in item.vectors.items()
        },
    }


def _filed_line(line: dict[str, Any]) -> Filed:
    items = []
    for found in line["chunks"]:
        vectors: dict[VectorName, Vector] = {
            name: np.frombuffer(base64.b64decode(data), dtype="<f4").astype(np.float32)
            for name, data in found["vectors"].items()
        }
        chunk = records.chunk_from_json(found["chunk"])
        items.append(IndexedChunk(chunk=chunk, text_sha256=found["text_sha256"], terms=found["terms"], vectors=vectors))
    return records.document_from_json(line["document"]), items


def _checked(path: Path) -> dict[str, Any]:
    """The header of a whole, unchanged file."""
    running, header, last = hashlib.sha256(), None, b""
    for line in _raw_lines(path):
        running.update(last)
        header = header or _parsed(path, line)
        last = line
    if header is None or header.get("format") != FORMAT:
        raise StoreCorruptError(f"{path} is not a kb export of a known format", hint=f"expected {FORMAT}")
    if _parsed(path, last).get("sha256") != running.hexdigest():
        raise StoreCorruptError(f"{path} is cut short or was changed", hint="export the kb again")
    return header


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return (_parsed(path, line) for line in _raw_lines(path))


def _raw_lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path, "rb") as file:
            yield from file
    except (OSError, EOFError) as error:
        raise StoreCorruptError(f"{path} cannot be read to its end: {error}", hint="export the kb again") from error


def _parsed(path: Path, line: bytes) -> dict[str, Any]:
    try:
        return dict(json.loads(line))
    except (ValueError, TypeError) as error:
        raise StoreCorruptError(
            f"{path} has a line that is not a record: {error}", hint="export the kb again"
        ) from error
