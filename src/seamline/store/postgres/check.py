"""Integrity findings: everything that is derived is recounted from the rows that it was derived from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from seamline.fingerprint import sha256_text
from seamline.store.postgres.rows import unpack_document
from seamline.store.records import chunk_from_json
from seamline.types import Finding

if TYPE_CHECKING:
    from seamline.store.postgres.kb import Kb
    from seamline.store.postgres.session import Session

_SAMPLES = 5
_PAGE = 256
_COUNTED = {
    "statistics": (
        "corpus statistics that differ from a recount",
        "SELECT 'chunk_count, term_count' FROM seamline.kbs k WHERE id = %(kb)s AND (chunk_count, term_count)"
        " <> (SELECT count(*), coalesce(sum(length), 0) FROM seamline.chunks WHERE kb = k.id)",
    ),
    "lengths": (
        "chunks whose length differs from a recount of their postings",
        "SELECT c.id FROM seamline.chunks c LEFT JOIN seamline.postings p ON p.chunk = c.number WHERE c.kb = %(kb)s"
        " GROUP BY c.number HAVING c.length <> coalesce(sum(p.frequency), 0)",
    ),
    "search_config": (
        "chunks whose search configuration is not that of their document's language",
        "SELECT c.id FROM seamline.chunks c JOIN seamline.documents d ON d.number = c.document"
        " WHERE c.kb = %(kb)s AND c.search_config <> seamline.config_of(d.language)",
    ),
    "owner": (
        "rows that belong to another kb than their document or chunk",
        "SELECT c.id FROM seamline.chunks c JOIN seamline.documents d ON d.number = c.document"
        " LEFT JOIN seamline.vectors v ON v.chunk = c.number WHERE c.kb = %(kb)s AND (d.kb <> c.kb OR v.kb <> c.kb)",
    ),
}
_NO_VECTOR = (
    "SELECT c.id FROM seamline.chunks c LEFT JOIN seamline.vectors v ON v.chunk = c.number"
    " WHERE c.kb = %(kb)s AND v.chunk IS NULL"
)


def findings(session: Session, kb: Kb) -> list[Finding]:
    """Every finding on the session's snapshot. Empty when all is well."""
    found = []
    for check, (what, sql) in _COUNTED.items():
        ids = [row[0] for row in session.query(sql, {"kb": kb.id})]
        if ids:
            found.append(_error(check, f"{what}: {len(ids)}", ids))
    without = [row[0] for row in session.query(_NO_VECTOR, {"kb": kb.id})]
    if without:
        found.append(
            Finding(
                severity="warning",
                check="vectors",
                message=f"chunks that only the keyword leg can find, for they have no vector: {len(without)}",
                remedy="index their documents again",
                samples=tuple(sorted(without)[:_SAMPLES]),
            )
        )
    return found + list(_texts(session, kb))


def _texts(session: Session, kb: Kb) -> Iterator[Finding]:
    hashes: list[str] = []
    spans: list[str] = []
    after = -1
    while page := session.query(
        "SELECT number, payload, language, readable_by FROM seamline.documents WHERE kb = %s AND number > %s"
        " ORDER BY number LIMIT %s",
        (kb.id, after, _PAGE),
    ):
        for number, payload, language, readable_by in page:
            document = unpack_document(payload, language, readable_by)
            if sha256_text(document.text) != document.text_sha256:
                hashes.append(document.id)
            for (packed,) in session.query("SELECT payload FROM seamline.chunks WHERE document = %s", (number,)):
                chunk = chunk_from_json(packed)
                same_text = chunk.document_sha256 in ("", document.text_sha256)
                if not same_text or document.text[chunk.char_start : chunk.char_end] != chunk.text:
                    spans.append(chunk.id)
        after = page[-1][0]
    if hashes:
        yield _error("text_hash", f"documents whose text differs from its hash: {len(hashes)}", hashes)
    if spans:
        yield _error("span", f"chunks that differ from their span of the document: {len(spans)}", spans)


def _error(check: str, message: str, samples: Sequence[str]) -> Finding:
    return Finding(
        severity="error",
        check=check,
        message=message,
        remedy="restore a backup, or index the sources again",
        samples=tuple(sorted(samples)[:_SAMPLES]),
    )
