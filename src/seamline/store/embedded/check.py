"""Integrity findings: everything that is derived is recounted from the rows that it was derived from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seamline.errors import StoreCorruptError
from seamline.fingerprint import sha256_text
from seamline.store.embedded import segment_tables
from seamline.store.embedded.rows import unpack_chunk, unpack_document
from seamline.store.embedded.schema import LIVE
from seamline.store.embedded.vectors import decoded
from seamline.store.records import binding_from_json
from seamline.types import Finding

if TYPE_CHECKING:
    from seamline.store.embedded.segment_tables import Directory
    from seamline.store.embedded.session import Session

_SAMPLES = 5
_PAGE = 256
_REINDEX = "restore a backup, or index the sources again"

_ORPHANS = {
    "document_payload": ("documents without text", "SELECT id FROM documents LEFT JOIN document_payloads"
        " USING (number) WHERE payload IS NULL"),
    "document_payload_orphan": ("texts without a document", "SELECT document_payloads.number FROM document_payloads"
        " LEFT JOIN documents USING (number) WHERE id IS NULL"),
    "chunk_document": ("chunks without a document", "SELECT chunks.id FROM chunks LEFT JOIN documents"
        " ON documents.number = chunks.document WHERE documents.id IS NULL"),
    "chunk_payload": ("chunks without text", "SELECT id FROM chunks LEFT JOIN chunk_payloads USING (ordinal)"
        " WHERE payload IS NULL"),
    "chunk_payload_orphan": ("texts without a chunk", "SELECT ordinal FROM chunk_payloads"
        " WHERE ordinal NOT IN (SELECT ordinal FROM chunks)"),
    "vector_orphan": ("vectors without a chunk", "SELECT DISTINCT ordinal FROM vectors"
        " WHERE ordinal NOT IN (SELECT ordinal FROM chunks)"),
    "postings_orphan": ("postings without a segment", "SELECT DISTINCT segment FROM posting_blocks"
        " WHERE segment NOT IN (SELECT id FROM segments)"),
    "ordinal": ("ordinals that could be given twice", "SELECT ordinal FROM chunks"
        " WHERE ordinal >= (SELECT value FROM counters WHERE name = 'next_ordinal')"),
}  # fmt: skip


def findings(session: Session, path: Path) -> list[Finding]:
    """Every finding on the session's snapshot. Empty when all is well."""
    found: list[Finding] = []
    for look in (_file, _rows, _segments, _vectors, _texts):
        try:
            found += look(session)
        except StoreCorruptError as error:
            found.append(_error(look.__name__.strip("_"), f"{path.name}: {error.message}", []))
        if found and look is _file:
            break  # what a damaged file holds cannot be counted
    return found


def _file(session: Session) -> Iterator[Finding]:
    lines = [line for (line,) in session.query("PRAGMA integrity_check", ())]
    if lines != ["ok"]:
        yield _error("integrity", f"SQLite finds {len(lines)} faults in the file", lines)


def _rows(session: Session) -> Iterator[Finding]:
    for check, (what, sql) in _ORPHANS.items():
        ids = [str(row[0]) for row in session.query(sql, ())]
        if ids:
            yield _error(check, f"{what}: {len(ids)}", ids)
    unknown = session.query(
        "SELECT value FROM counters WHERE name = 'generation' AND value > 0"
        " AND value NOT IN (SELECT generation FROM commits)",
        (),
    )
    if unknown:
        yield _error("commit", "the last commit is not recorded", [str(row[0]) for row in unknown])


def _segments(session: Session) -> Iterator[Finding]:
    rows = session.query("SELECT ordinal, id FROM chunks WHERE index_generation = ? ORDER BY ordinal", (LIVE,))
    live = np.fromiter((ordinal for ordinal, _ in rows), np.int64, len(rows))
    times = np.zeros(len(rows), dtype=np.int64)
    recorded = dict(session.query("SELECT id, live FROM segments WHERE index_generation = ?", (LIVE,)))
    for directory in segment_tables.directories(session.query, {}):
        inside = np.isin(live, directory.ordinals)
        times += inside
        if int(inside.sum()) != recorded[directory.id]:
            yield _error(
                "statistics",
                f"segment {directory.id} holds {int(inside.sum())} live chunks, {recorded[directory.id]} are recorded",
                [],
            )
        yield from _segment(session, directory)
    for what, wrong in (("no segment", times == 0), ("several segments", times > 1)):
        ids = [rows[place][1] for place in np.flatnonzero(wrong).tolist()]
        if ids:
            yield _error("postings", f"chunks in {what} of the keyword index: {len(ids)}", ids)


def _segment(session: Session, directory: Directory) -> Iterator[Finding]:
    segment = segment_tables.whole(session.query, directory)
    terms = directory.terms.all()
    if any(left >= right for left, right in pairwise(terms)):
        yield _error("terms", f"the terms of segment {directory.id} are not in order", [])
    counted = np.bincount(segment.locals, weights=segment.frequencies, minlength=len(directory.ordinals))
    wrong = int((counted != directory.lengths).sum()) if len(counted) == len(directory.lengths) else len(counted)
    if wrong:
        yield _error("lengths", f"chunk lengths of segment {directory.id} that differ from a recount: {wrong}", [])


def _vectors(session: Session) -> Iterator[Finding]:
    bindings = session.query("SELECT payload FROM bindings WHERE index_generation = ?", (LIVE,))
    if not bindings:
        if session.query("SELECT 1 FROM chunks LIMIT 1", ()):
            yield _error("binding", "there are chunks, but no record of what they were derived with", [])
        return
    dimension = binding_from_json(bindings[0][0]).space.dimension
    infinite = []
    for page in _pages(session, "SELECT ordinal, data FROM vectors WHERE ordinal > ? ORDER BY ordinal LIMIT ?"):
        matrix = decoded([data for _, data in page], dimension)
        infinite += [str(page[row][0]) for row in np.flatnonzero(~np.isfinite(matrix).all(axis=1)).tolist()]
    if infinite:
        yield _error("vectors", f"vectors with a value that is not finite: {len(infinite)}", infinite)
    without = session.query(
        "SELECT id FROM chunks WHERE index_generation = ? AND ordinal NOT IN (SELECT ordinal FROM vectors)", (LIVE,)
    )
    if without:
        yield Finding(
            severity="warning",
            check="vectors",
            message=f"chunks that only the keyword leg can find, for they have no vector: {len(without)}",
            remedy="index their documents again",
            samples=tuple(row[0] for row in without[:_SAMPLES]),
        )


def _texts(session: Session) -> Iterator[Finding]:
    hashes: list[str] = []
    spans: list[str] = []
    columns: list[str] = []
    sql = (
        "SELECT number, payload, readable_by, metadata, id FROM documents JOIN document_payloads USING (number)"
        " WHERE number > ? ORDER BY number LIMIT ?"
    )
    for page in _pages(session, sql):
        for number, payload, readable_by, metadata, document_id in page:
            document = unpack_document(payload, readable_by, metadata)
            if document.id != document_id:
                columns.append(document_id)
            if sha256_text(document.text) != document.text_sha256:
                hashes.append(document_id)
            for chunk_id, language, packed in session.query(
                "SELECT id, language, payload FROM chunks JOIN chunk_payloads USING (ordinal) WHERE document = ?",
                (number,),
            ):
                chunk = unpack_chunk(packed)
                if (chunk.id, chunk.document_id, chunk.language) != (chunk_id, document_id, language):
                    columns.append(chunk_id)
                same_text = chunk.document_sha256 in ("", document.text_sha256)
                if not same_text or document.text[chunk.char_start : chunk.char_end] != chunk.text:
                    spans.append(chunk_id)
    for check, what, ids in (
        ("text_hash", "documents whose text differs from its hash", hashes),
        ("span", "chunks that differ from their span of the document", spans),
        ("columns", "records that differ from their columns", columns),
    ):
        if ids:
            yield _error(check, f"{what}: {len(ids)}", ids)


def _pages(session: Session, sql: str) -> Iterator[list[tuple[Any, ...]]]:
    """Pages of rows in ascending order of their first column."""
    after = -1
    while page := session.query(sql, (after, _PAGE)):
        yield page
        after = page[-1][0]


def _error(check: str, message: str, samples: Sequence[str]) -> Finding:
    return Finding(
        severity="error", check=check, message=message, remedy=_REINDEX, samples=tuple(sorted(samples)[:_SAMPLES])
    )
