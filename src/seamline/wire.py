"""The JSON shapes of results: one place, so that command line, service and traces print the same thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from seamline.types import Answer, Candidate, Chunk, Citation, Page, Passage, RetrievalResult, Stages

CANDIDATE_COLUMNS = (
    "chunk_id", "dense_rank", "cosine", "keyword_rank", "keyword_score", "fused_rank", "fused_score",
)  # fmt: skip
_TRACED_PLACE = frozenset({"document_id", "chunk_id", "chunk_index", "char_start", "char_end", "document_sha256"})
_STAGES = tuple(field.name for field in fields(Stages))


def plain(value: object) -> Any:  # noqa: ANN401
    """Any value made of dataclasses, enums, sets and scalars as JSON types; sets become sorted lists."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def page_range(pages: tuple[Page, ...]) -> dict[str, Any] | None:
    """First and last page of a span, index (from 0) and printed label kept apart; ``None`` without pages."""
    if not pages:
        return None
    first, last = pages[0], pages[-1]
    place = {"index": first.index, "label": first.label, "last_index": last.index, "last_label": last.label}
    return place if first.unit == "page" else {"unit": first.unit, **place}


def stages(value: Stages) -> dict[str, Any]:
    """Every stage of a chunk; absent is null, never 0."""
    shown: dict[str, Any] = {name: getattr(value, name) for name in _STAGES}
    for name in ("matched_terms", "absorbed"):
        shown[name] = None if shown[name] is None else list(shown[name])
    return shown | {"retrieval_method": value.retrieval_method}


def chunk_place(chunk: Chunk) -> dict[str, Any]:
    """Where a chunk is, without its text."""
    return {
        "document_id": chunk.document_id,
        "chunk_id": chunk.id,
        "chunk_index": chunk.chunk_index,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
        "document_sha256": chunk.document_sha256,
        "source": chunk.source_uri,
        "title": chunk.title,
        "heading_path": list(chunk.heading_path),
        "page": page_range(chunk.pages_of(chunk.char_start, chunk.char_end)),
        "language": chunk.language,
    }


def passage(value: Passage) -> dict[str, Any]:
    """One admitted passage with its text and stages."""
    return {
        "rank": value.rank,
        "score": value.score,
        "score_kind": value.score_kind,
        "confident": value.confident,
        "text": value.chunk.text,
        **chunk_place(value.chunk),
        "context": value.chunk.context,
        "retrieval_method": value.stages.retrieval_method,
        "stages": stages(value.stages),
    }


def candidate(value: Candidate) -> list[Any]:
    """One fused candidate as a row of :data:`CANDIDATE_COLUMNS`: there are hundreds in a trace."""
    found = value.stages
    return [value.chunk_id, *(getattr(found, name) for name in CANDIDATE_COLUMNS[1:])]


def result_header(value: RetrievalResult) -> dict[str, Any]:
    """All of a retrieval but its passages."""
    return {
        "query": value.query,
        "mode_requested": value.mode_requested,
        "mode_used": value.mode_used,
        "rerank": plain(value.rerank),
        "query_language": value.query_language,
        "query_language_known": value.query_language_known,
        "pool_sizes": dict(value.pool_sizes),
        "timings_ms": {name: round(ms, 3) for name, ms in value.timings.items()},
        "corpus_fingerprint": value.corpus_fingerprint,
        "space_fingerprint": value.space_fingerprint,
        "policy_fingerprint": value.policy_fingerprint,
        "calibrated": value.calibrated,
        "stand_ins": list(value.stand_ins),
        "trace_id": value.trace_id,
        "cut_by": value.cut_by,
        "notes": list(value.notes),
    }


def result(value: RetrievalResult) -> dict[str, Any]:
    """A whole retrieval, as ``seamline search --json`` prints it."""
    return result_header(value) | {"passages": [passage(item) for item in value.passages]}


def trace(value: RetrievalResult) -> dict[str, Any]:
    """What is kept of a retrieval: ids, spans, hashes and numbers, no word of a document.

    Titles, headings and matched terms are document text too: whoever shows a trace reads them from the store,
    in the scope of who looks.
    """
    return result_header(value) | {
        "passages": [
            {name: place for name, place in chunk_place(item.chunk).items() if name in _TRACED_PLACE}
            | {"rank": item.rank, "score": item.score, "score_kind": item.score_kind}
            | {"stages": stages(item.stages) | {"matched_terms": None}}
            for item in value.passages
        ],
        "candidate_columns": list(CANDIDATE_COLUMNS),
        "candidates": [candidate(item) for item in value.candidates],
    }


def citation(value: Citation) -> dict[str, Any]:
    """One citation; ``page`` is that of the cited span."""
    return {**plain(value), "page": page_range(value.pages)}


def answer(value: Answer) -> dict[str, Any]:
    """An answer with its citations, as ``seamline ask --json`` prints it."""
    return {**plain(value), "citations": [citation(item) for item in value.citations]}
