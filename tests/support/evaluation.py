"""A retriever with scripted rankings, so that an evaluation's arithmetic can be checked by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from seamline.types import (
    Chunk,
    ChunkId,
    DocumentId,
    Fingerprint,
    Passage,
    RerankedPassages,
    RerankOutcome,
    RetrievalResult,
    Stages,
)
from seamline.types.retrieval import _SEAL

Script = Callable[[str, Mapping[str, object]], RetrievalResult]
OFF = RerankOutcome(status="off")


def result(
    query: str,
    documents: Sequence[str],
    *,
    mode_requested: str = "hybrid",
    mode_used: str = "hybrid",
    rerank: RerankOutcome = OFF,
    corpus: str = "corpus:1",
    stand_ins: tuple[str, ...] = (),
) -> RetrievalResult:
    """A result with one passage for each entry of ``documents``; a document may occur several times."""
    passages = [
        Passage(rank=rank, score=1 / rank, score_kind="fused", chunk=_chunk(document, rank), stages=Stages())
        for rank, document in enumerate(documents, 1)
    ]
    return RetrievalResult(
        query=query,
        passages=RerankedPassages(passages, seal=_SEAL),
        candidates=(),
        mode_requested=mode_requested,
        mode_used=mode_used,
        rerank=rerank,
        query_language=None,
        query_language_known="unknown",
        pool_sizes={},
        timings={},
        corpus_fingerprint=Fingerprint(corpus),
        space_fingerprint=None,
        policy_fingerprint=Fingerprint("policy:1"),
        calibrated=False,
        stand_ins=stand_ins,
        trace_id="t",
    )


def _chunk(document: str, rank: int) -> Chunk:
    return Chunk(
        id=ChunkId(f"{document}#{rank}"),
        document_id=DocumentId(document),
        text="text",
        char_start=0,
        char_end=4,
        chunk_index=rank,
    )


@dataclass
class ScriptedRetriever:
    """Answers with whatever ``script`` makes of a query and the overrides; remembers every call."""

    script: Script
    about: Mapping[str, object] = field(default_factory=dict)
    calls: list[tuple[str, int, Mapping[str, object]]] = field(default_factory=list)

    def retrieve(self, query: str, *, top_k: int, overrides: Mapping[str, object]) -> RetrievalResult:
        self.calls.append((query, top_k, overrides))
        return self.script(query, overrides)

    def info(self) -> Mapping[str, object]:
        return self.about
