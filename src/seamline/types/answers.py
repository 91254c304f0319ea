"""What ``generate/`` makes: answers, their citations, and the events of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from seamline.types.documents import ChunkId, DocumentId, Page
from seamline.types.retrieval import Passage

Support = Literal["supported", "partial", "unsupported"]
Confidence = Literal["confident", "uncertain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One resolved ``[n]``: the exact source span behind a sentence of an answer.

    ``quote`` equals ``document.text[char_start:char_end]``; ``pages`` are those of the span itself.
    ``answer_start`` and ``answer_end`` delimit the cited sentence in ``Answer.text``.
    """

    number: int
    document_id: DocumentId
    chunk_id: ChunkId
    char_start: int
    char_end: int
    quote: str
    document_sha256: str
    source_uri: str | None = None
    title: str | None = None
    heading_path: tuple[str, ...] = ()
    pages: tuple[Page, ...] = ()
    answer_start: int
    answer_end: int
    support: Support


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the provider reported them, and their cost by the configured prices; ``None`` where it did not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A cited answer, or an honest abstention with its reason.

    ``nearest`` are titles or ids of passages that came close when the answer abstained: pointers, not
    citations. ``unsupported`` are the ``(start, end)`` spans of ``text`` without a valid citation.
    ``removed_citations`` counts marks that named no passage. ``score`` is what a generator without a model
    abstains by, on its own scale; it is no confidence.
    """

    question: str
    text: str
    citations: tuple[Citation, ...] = ()
    abstained: bool = False
    reason: str | None = None
    nearest: tuple[str, ...] = ()
    confidence: Confidence | None = None
    provider: str
    model: str | None = None
    stand_in: bool = False
    score: float | None = None
    usage: Usage = field(default_factory=Usage)
    unsupported: tuple[tuple[int, int], ...] = ()
    removed_citations: int = 0
    dropped_passages: tuple[ChunkId, ...] = ()
    prompt_sha256: str | None = None
    prompt_nonce: str | None = None
    template: str | None = None
    trace_id: str | None = None
    timings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDelta:
    """A piece of the answer's text, in order; never a partial citation mark."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCompleted:
    """The one terminal event of a stream that succeeded."""

    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFailed:
    """The one terminal event of a stream that failed: the error's name, message and hint."""

    error: str
    message: str
    hint: str | None = None


AnswerEvent = AnswerDelta | AnswerCompleted | AnswerFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """All that a generator is given. It may not fetch anything else."""

    question: str
    passages: tuple[Passage, ...]
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationPiece:
    """A piece of a generator's stream: text, and usage and score where there are any (the last ones count)."""

    text: str = ""
    usage: Usage | None = None
    score: float | None = None
    abstained: str | None = None
