"""A knowledge base as an evaluation sees it."""

from __future__ import annotations

from collections.abc import Mapping

from seamline.knowledge_base import KnowledgeBase
from seamline.ports import Snapshot
from seamline.types import RetrievalResult


class ScopedRetriever:
    """A knowledge base behind the ``Retriever`` port: how an evaluation drives this engine.

    ``cold`` keeps no rerank scores: with them a variant that runs after another would be timed without its reranker.
    """

    def __init__(self, kb: KnowledgeBase, *, cold: bool = True) -> None:
        self._kb = kb
        self._always: Mapping[str, object] = {"rerank_cache_entries": 0} if cold else {}

    def retrieve(self, query: str, *, top_k: int, overrides: Mapping[str, object]) -> RetrievalResult:
        """One retrieval of ``top_k`` passages with some settings replaced."""
        rest = {name: value for name, value in overrides.items() if name != "mode"}
        mode = overrides.get("mode")
        return self._kb.retrieve(
            query, limit=top_k, mode=str(mode) if mode else None, overrides={**self._always, **rest}
        )

    def info(self) -> Mapping[str, object]:
        """Fingerprints and what the kb is made of."""
        snapshot: Snapshot
        with self._kb.read() as snapshot:
            bound = snapshot.binding(self._kb.scope)
            statistics = snapshot.statistics(self._kb.scope)
            digest = snapshot.digest(self._kb.scope)
        return {
            "kb": self._kb.name,
            "corpus_digest": digest,
            "documents": statistics.documents,
            "chunks": statistics.chunks,
            "space": bound.space_fingerprint if bound else None,
            "embedder": f"{bound.space.provider} {bound.space.model} {bound.space.precision}" if bound else None,
            "chunker": bound.chunker_fingerprint if bound else None,
            "analyzer": bound.analyzer_fingerprint if bound else None,
            "rerank_provider": self._kb.pipeline().settings.rerank_provider,
            "stand_ins": [f"embedder {bound.space.provider}"] if bound and bound.space.stand_in else [],
        }
