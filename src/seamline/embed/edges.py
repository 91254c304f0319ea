"""Checks at an embedder's edges: what may go in, and what may come out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seamline.errors import EmbeddingError

if TYPE_CHECKING:
    from seamline.ports import Matrix


_CLOSING = "?!.\u2026\u3002\uff1f\uff01\u061f\u0964"
"""What ends a sentence: Latin, ideographic, Arabic, Devanagari."""


def bare_question(text: str) -> str:
    """A question without whitespace around it and without closing punctuation; one that is nothing else, as it is.

    So that a question mark does not change what is found. Measured on the dense leg alone (nDCG@10, with and
    without the closing mark): xquad-en .956 -> .962, nq-utd .774 -> .775, time .584 -> .593.
    """
    return text.strip().rstrip(_CLOSING + " \t\n") or text


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
