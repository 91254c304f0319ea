"""BM25 as every store of ours computes it, so that their scores agree to the last bit.

Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), with Lucene's idf,
which is never negative. ``N``, ``df`` and the average length are those of all live chunks of the kb, not of
the scope: a score does not depend on who asks. A chunk's length is the number of its terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def idf(documents: int, document_frequency: NDArray[Any] | int) -> NDArray[np.float64]:
    """Inverse document frequency ``ln(1 + (N - df + 0.5) / (df + 0.5))``, at least 0.

    Args:
        documents: ``N``, the number of live chunks of the kb.
        document_frequency: how many of them hold the term; a number or an array of any shape.
    """
    df = np.asarray(document_frequency, dtype=np.float64)
    return np.log1p((documents - df + 0.5) / (df + 0.5))


def impacts(
    tf: NDArray[Any], lengths: NDArray[Any], *, idf: float, average_length: float, k1: float, b: float
) -> NDArray[np.float32]:
    """What one term adds to the score of each chunk that holds it: float32 of shape ``(n,)``.

    ``idf * (k1 + 1) * tf / (tf + k1 * (1 - b + b * length / average_length))``, computed in float32. A query's
    score is the float32 sum of its terms' impacts, each times the term's count in the question (float32), in the
    order of ``KeywordQuery.terms``.

    Args:
        tf: how often the term occurs in each chunk, at least 1; shape ``(n,)``.
        lengths: the number of terms of the same chunks; shape ``(n,)``.
        idf: of the term.
        average_length: the mean number of terms of all live chunks, above 0.
        k1: saturation of the term frequency, at least 0.
        b: share of length normalisation, in [0, 1].
    """
    frequency = tf.astype(np.float32)
    norm = lengths.astype(np.float32)
    norm *= np.float32(k1 * b / average_length)
    norm += np.float32(k1 * (1 - b))
    norm += frequency
    frequency *= np.float32(float(idf) * (k1 + 1))
    frequency /= norm
    return frequency
