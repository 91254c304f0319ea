"""A stand-in embedder: a bag of hashed words. Lexical, not semantic; it lets a fresh checkout run end to end."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seamline.embed.edges import checked, refuse_blank
from seamline.folding import fold
from seamline.types import EmbeddingSpace

if TYPE_CHECKING:
    from seamline.ports import Matrix, Vector

DIMENSION = 256

_WORD = re.compile(r"\w+")


def create(settings: Mapping[str, object]) -> HashEmbedder:  # noqa: ARG001 - the factory's port; nothing to configure
    """The stand-in; it has no settings."""
    return HashEmbedder()


class HashEmbedder:
    """Stand-in: each folded word adds 1 or -1 to one of 256 places (blake2b), the sum is L2-normalised."""

    space = EmbeddingSpace(provider="hash", model="bag-of-words", revision="1", dimension=DIMENSION, stand_in=True)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Float32 of shape ``(n, 256)``, unit rows; raises ``EmbeddingError`` on a blank text."""
        import numpy as np

        refuse_blank(texts, "hash")
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            folded = fold(text)
            # A text without words (punctuation, emoji) is hashed whole, so that no vector is zero.
            for word in _WORD.findall(folded) or [folded]:
                place, sign = _place(word)
                row[place] += sign
            if not row.any():  # words that cancelled each other out
                row[_place(folded)[0]] = 1.0
            row /= np.linalg.norm(row)
        return checked(vectors, len(texts), DIMENSION, "hash")

    def embed_query(self, text: str) -> Vector:
        """Float32 of shape ``(256,)``; a question is embedded as a passage is."""
        vector: Vector = self.embed_passages([text])[0]
        return vector


def _place(word: str) -> tuple[int, float]:
    digest = hashlib.blake2b(word.encode("utf-8"), digest_size=2).digest()
    return digest[0], 1.0 if digest[1] & 1 else -1.0
