"""A stand-in for a cross-encoder: the share of the question's words that a text holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seamline.errors import TransientProviderError
from seamline.fingerprint import fingerprint
from seamline.rerank.words import words_of
from seamline.types import Fingerprint


class LexicalReranker:
    """Term overlap in [0, 1], not a probability. Knows no synonyms and no word forms: a stand-in, and a baseline."""

    name = "lexical"
    stand_in = True

    @property
    def fingerprint(self) -> Fingerprint:
        """Identity of the algorithm; it has no settings."""
        return fingerprint("policy", {"reranker": self.name, "version": 1})

    def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """The share of the question's distinct words in each text; all 0.0 for a question without words.

        Raises:
            TransientProviderError: the deadline has already passed.
        """
        if deadline_s <= 0:
            raise TransientProviderError("the reranking deadline passed before the call")
        asked = set(words_of(query))
        return [len(asked.intersection(words_of(text))) / len(asked) if asked else 0.0 for text in texts]


def create(settings: Mapping[str, object]) -> LexicalReranker:
    """The stand-in; no setting changes it."""
    del settings
    return LexicalReranker()
