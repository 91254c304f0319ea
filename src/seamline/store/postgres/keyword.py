"""The keyword leg in SQL: BM25 over our own terms, or PostgreSQL's ``ts_rank_cd`` where that is asked for.

BM25 is computed in ``real`` with the operations of :func:`seamline.store.bm25.impacts` in the same order, so that
scores are those of the other stores to the bit. ``ts_rank_cd`` brings PostgreSQL's own semantics: all words of the
question must occur (unless it says ``or``), and neither term rarity nor the corpus counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seamline.folding import holds_phrases
from seamline.store import bm25
from seamline.store.postgres.options import Options
from seamline.store.postgres.scoping import condition
from seamline.store.postgres.session import Session
from seamline.store.records import chunk_from_json
from seamline.types import Hit, KeywordQuery, Scope

if TYPE_CHECKING:
    from seamline.store.postgres.kb import Kb

_PAGE = 200
_BM25 = """
    SELECT c.id AS id, c.language AS language, c.number AS number, sum(
        p.frequency::real * t.weight / (c.length::real * %(per_term)s::real + %(floor)s::real + p.frequency::real)
        ORDER BY t.term) AS score
    FROM unnest(%(terms)s::bytea[], %(weights)s::real[]) AS t(term, weight)
    JOIN seamline.postings p ON p.kb = %(kb)s AND p.term = t.term
    JOIN seamline.chunks c ON c.number = p.chunk
    JOIN seamline.documents d ON d.number = c.document
    WHERE {where}
    GROUP BY c.number, c.id, c.language"""
_RANKED = """
    SELECT c.id AS id, c.language AS language, c.number AS number, ts_rank_cd(c.search_vector, q.query) AS score
    FROM (SELECT {query} AS query) q
    JOIN seamline.chunks c ON c.kb = %(kb)s AND c.search_vector @@ q.query
    JOIN seamline.documents d ON d.number = c.document
    WHERE {where}"""
_NONE_EXCLUDED = (
    " AND NOT EXISTS (SELECT FROM seamline.postings x WHERE x.kb = %(kb)s AND x.chunk = c.number"
    " AND x.term = ANY(%(excluded)s::bytea[]))"
)


def pool(session: Session, kb: Kb, options: Options, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
    """The best chunks that hold every phrase and none of the excluded terms."""
    scored = _scored(session, kb, options, scope, query)
    if scored is None:
        return []
    statement, parameters = scored
    if query.excluded:
        statement = statement.replace("{more}", _NONE_EXCLUDED)
        parameters["excluded"] = encoded(query.excluded)
    ordered = (
        "SELECT id, score, language, number FROM ("
        + statement.replace("{more}", "")
        + ') AS s WHERE score > 0 ORDER BY score DESC, id COLLATE "C"'
    )
    limit = None if query.phrases else depth
    rows = session.query(f"{ordered} LIMIT %(limit)s", {**parameters, "limit": limit})
    if query.phrases:
        rows = _with_phrases(session, rows, query.phrases, depth)
    return [Hit(row[0], _real(row[1]), row[2]) for row in rows]


def scores(
    session: Session, kb: Kb, options: Options, scope: Scope, query: KeywordQuery, ids: Sequence[str]
) -> dict[str, float]:
    """The scores of those of these chunks that have one."""
    scored = _scored(session, kb, options, scope, query)
    if scored is None or not ids:
        return {}
    statement, parameters = scored
    statement = statement.replace("{more}", " AND c.id = ANY(%(ids)s::text[])")
    rows = session.query(f"SELECT id, score FROM ({statement}) AS s", {**parameters, "ids": list(ids)})
    return {key: _real(score) for key, score in rows}


def encoded(terms: Iterable[str]) -> list[bytes]:
    """Terms as they are stored: bytes, so that any text is one and all compare by code point."""
    return [term.encode("utf-8", "surrogatepass") for term in terms]


def _scored(
    session: Session, kb: Kb, options: Options, scope: Scope, query: KeywordQuery
) -> tuple[str, dict[str, Any]] | None:
    """A statement of ids and scores with a place ``{more}`` for further conditions; ``None`` when nothing matches."""
    admitted, parameters = condition(scope)
    parameters["kb"] = kb.id
    if options.postgres_keyword_scoring == "ts_rank_cd":
        words, given = _websearch(query)
        statement = _RANKED.replace("{query}", words)
        parameters |= given
    else:
        weights = _weights(session, kb, options, query)
        if not weights:
            return None
        statement = _BM25
        parameters |= {
            "terms": [term for term, _ in weights],
            "weights": [weight for _, weight in weights],
            "per_term": options.bm25_k1 * options.bm25_b / (kb.terms / kb.chunks),
            "floor": options.bm25_k1 * (1 - options.bm25_b),
        }
    return statement.replace("{where}", admitted + "{more}"), parameters


def _weights(session: Session, kb: Kb, options: Options, query: KeywordQuery) -> list[tuple[bytes, float]]:
    """``count * idf * (k1 + 1)`` of each term that occurs in the kb; the count is the question's."""
    counts = {term.encode("utf-8", "surrogatepass"): count for term, count in query.counted()}
    rows = session.query(
        "SELECT term, count(*) FROM seamline.postings WHERE kb = %s AND term = ANY(%s::bytea[]) GROUP BY term",
        (kb.id, list(counts)),
    )
    scale = options.bm25_k1 + 1
    return [
        (bytes(term), counts[bytes(term)] * float(bm25.idf(kb.chunks, frequency)) * scale) for term, frequency in rows
    ]


def _websearch(query: KeywordQuery) -> tuple[str, dict[str, object]]:
    """The question as a ``tsquery`` in each of its languages, any of which may match."""
    languages = query.languages or (None,)
    words = (query.text or " or ".join(query.terms)).replace("\x00", " ")
    parts = [
        f"websearch_to_tsquery(seamline.config_of(%(language{place})s), %(words)s)" for place in range(len(languages))
    ]
    given: dict[str, object] = {f"language{place}": language for place, language in enumerate(languages)}
    return " || ".join(parts), {**given, "words": words.encode("utf-8", "replace").decode("utf-8")}


def _real(score: float) -> float:
    """The float32 itself: PostgreSQL sends its shortest decimal form."""
    return float(np.float32(score))


def _with_phrases(
    session: Session, rows: Sequence[tuple[Any, ...]], phrases: tuple[str, ...], depth: int | None
) -> list[tuple[Any, ...]]:
    """Those of the rows, in order and at most ``depth``, whose stored text holds every phrase."""
    kept: list[tuple[Any, ...]] = []
    for start in range(0, len(rows), _PAGE):
        page = rows[start : start + _PAGE]
        texts = session.query(
            "SELECT number, payload FROM seamline.chunks WHERE number = ANY(%s)", ([row[3] for row in page],)
        )
        payload_of = dict(texts)
        kept += [row for row in page if holds_phrases(chunk_from_json(payload_of[row[3]]), phrases)]
        if depth is not None and len(kept) >= depth:
            return kept[:depth]
    return kept
