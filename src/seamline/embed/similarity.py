"""Similarity of sentences to a question, in an embedder's space."""

from __future__ import annotations

from collections.abc import Sequence

from seamline.ports import Embedder, SentenceScorer


def scorer(embedder: Embedder) -> SentenceScorer:
    """Query-sentence cosine in the embedder's space, as a function over given sentences."""

    def score(question: str, sentences: Sequence[str]) -> list[float]:
        if not sentences:
            return []
        query = embedder.embed_query(question)
        matrix = embedder.embed_passages(sentences)
        return [float(value) for value in matrix @ query]

    return score
