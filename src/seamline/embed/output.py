"""Checks at an embedder's edges: what may go in, and what may come out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seamline.errors import EmbeddingError

if TYPE_CHECKING:
    from seamline.ports import Matrix


def refuse_blank(texts: Sequence[str], provider: str) -> None:
    """Raise ``EmbeddingError`` naming the first text that has nothing to embed, or that is not valid Unicode."""
    for position, text in enumerate(texts):
        if not text or text.isspace():
            raise EmbeddingError(
                f"{provider}: text {position} of {len(texts)} is empty or whitespace",
                hint="leave blank texts out before embedding: they have no meaning to place in the space",
            )
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise EmbeddingError(
                f"{provider}: text {position} of {len(texts)} holds a lone surrogate at character {error.start}",
                hint="the text was decoded wrongly where it was read; decode it again",
            ) from error


def checked(vectors: Matrix, count: int, dimension: int, provider: str) -> Matrix:
    """``vectors`` as they are; raises ``EmbeddingError`` on a wrong shape or a value that is not finite."""
    import numpy as np

    if vectors.shape != (count, dimension):
        raise EmbeddingError(
            f"{provider}: vectors of shape {vectors.shape}, expected ({count}, {dimension})",
            hint="the model is not the one that the embedding space declares",
        )
    if not np.isfinite(vectors).all():
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise EmbeddingError(f"{provider}: the vector of text {row} of {count} holds a value that is not finite")
    return vectors
