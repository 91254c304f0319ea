"""What the online half makes: hits, candidates, passages, and the sealed type that crosses the seam."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, overload

from seamline.types.documents import Chunk, ChunkId, Fingerprint

ScoreKind = Literal["rerank", "cosine", "bm25", "fused"]
AdmittedBy = Literal["rerank", "cosine", "ungated"]
RetrievalMethod = Literal["dense", "keyword", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordQuery:
    """An analysed question. ``terms`` are unique and sorted; phrases and exclusions are honoured on text.

    ``counts`` says how often the question holds each term, in the order of ``terms``; empty means once each. A
    term that is asked for twice counts twice in a score.
    ``text`` and ``languages`` are the question as it was typed, for a store whose engine analyses it itself.
    """

    terms: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    text: str = field(default="", compare=False)
    languages: tuple[str | None, ...] = field(default=(), compare=False)

    def counted(self) -> tuple[tuple[str, int], ...]:
        """Each term with its count; raises ``ValueError`` when there is not one count a term."""
        return tuple(zip(self.terms, self.counts or (1,) * len(self.terms), strict=True))


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry of a leg's pool: the chunk, its score on the leg's own scale, and its language."""

    chunk_id: ChunkId
    score: float
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedHit:
    """One hit of another system's ranking; what it does not state is ``None``.

    ``document_id`` is as the golden set names it. ``score`` is higher-is-better, on that system's own scale; the
    order of the hits is what counts.
    """

    document_id: str | None
    chunk_id: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """What each stage made of a chunk. Ranks count from 1. Absent is ``None``, never 0."""

    dense_rank: int | None = None
    cosine: float | None = None
    keyword_rank: int | None = None
    keyword_score: float | None = None
    matched_terms: tuple[str, ...] | None = None
    prefilter_rank: int | None = None
    fused_rank: int | None = None
    fused_score: float | None = None
    rerank_rank: int | None = None
    rerank_score: float | None = None
    admitted_by: AdmittedBy | None = None
    absorbed: tuple[ChunkId, ...] = ()

    @property
    def retrieval_method(self) -> RetrievalMethod | None:
        """Which legs' pools held the chunk."""
        if self.dense_rank is not None:
            return "both" if self.keyword_rank is not None else "dense"
        return "keyword" if self.keyword_rank is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk that at least one leg returned, by id, in fused order. Its text has not been read yet."""

    chunk_id: ChunkId
    stages: Stages
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A chunk with its stages."""

    chunk: Chunk
    stages: Stages


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """An admitted chunk. ``score`` belongs to the last ordering stage and never rises down the list.

    ``shown_text`` is what a prompt shows (a parent's text where the kb has parents) and starts at
    ``shown_start`` of the document.
    """

    rank: int
    score: float
    score_kind: ScoreKind
    chunk: Chunk
    stages: Stages
    confident: bool | None = None
    shown_text: str = ""
    shown_start: int = 0


_SEAL = object()
"""The key to :class:`RerankedPassages`. Only ``rerank/mint.py`` may import it; a guard checks that."""


class RerankedPassages(Sequence[Passage]):
    """The one type that may cross the seam into ``generate/``: admitted passages, in order, immutable.

    Only ``rerank.mint`` can make one, also when no reranker ran. ``rejected`` are the nearest passages that
    a gate refused: an abstention may name them, and may not quote them.
    """

    __slots__ = ("_passages", "_rejected")
    _passages: tuple[Passage, ...]
    _rejected: tuple[Scored, ...]

    def __init__(self, passages: Sequence[Passage], rejected: Sequence[Scored] = (), *, seal: object) -> None:
        """Refuse every caller that does not hold the seal, with ``TypeError``."""
        if seal is not _SEAL:
            raise TypeError("RerankedPassages are minted by seamline.rerank.mint only")
        object.__setattr__(self, "_passages", tuple(passages))
        object.__setattr__(self, "_rejected", tuple(rejected))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("RerankedPassages are immutable")

    def __reduce__(self) -> str:
        raise TypeError("RerankedPassages cannot be pickled or copied: that would mint them a second time")

    def __len__(self) -> int:
        return len(self._passages)

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._passages)

    @overload
    def __getitem__(self, index: int) -> Passage: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Passage, ...]: ...
    def __getitem__(self, index: int | slice) -> Passage | tuple[Passage, ...]:
        return self._passages[index]

    def __repr__(self) -> str:
        return f"RerankedPassages({len(self._passages)} passages)"

    @property
    def rejected(self) -> tuple[Scored, ...]:
        """The nearest passages that were not admitted, best first."""
        return self._rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOutcome:
    """Whether a reranker ordered the passages: ``applied``, ``off``, or ``skipped`` with the reason.

    ``cut`` counts the texts that were longer than ``rerank_max_chars`` and were sent shortened.
    """

    status: Literal["applied", "off", "skipped"]
    provider: str | None = None
    reason: str | None = None
    cut: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalResult:
    """One answered retrieval: the passages, and everything that decided which they are.

    ``timings`` are milliseconds by stage. ``notes`` are sentences for people (a leg that had no terms, a
    language that the model does not cover). ``candidates`` are all fused candidates, in fused order.
    """

    query: str
    passages: RerankedPassages
    candidates: tuple[Candidate, ...]
    mode_requested: str
    mode_used: str
    rerank: RerankOutcome
    query_language: str | None
    query_language_known: Literal["given", "detected", "unknown"]
    pool_sizes: Mapping[str, int]
    timings: Mapping[str, float]
    corpus_fingerprint: Fingerprint
    space_fingerprint: Fingerprint | None
    policy_fingerprint: Fingerprint
    calibrated: bool
    stand_ins: tuple[str, ...]
    trace_id: str
    cut_by: str | None = None
    notes: tuple[str, ...] = ()
