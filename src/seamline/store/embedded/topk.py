"""Selection of the best scores, exact at the cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 128


def candidates(
    scores: NDArray[np.float32], depth: int | None, *, above: float = -np.inf, margin: float = 0.0
) -> NDArray[np.intp]:
    """Positions that hold the ``depth`` best scores, every tie at the cut included, and usually a few more.

    The ``depth``-th largest of the blocks' maxima is a lower bound of the ``depth``-th largest score, because
    each of ``depth`` blocks holds a score at least as high.

    Args:
        scores: shape ``(n,)``.
        depth: how many are wanted, at least 1; ``None`` for all.
        above: scores that are not above this are never returned.
        margin: how much lower than the cut a score may still be, for scores that are not exact yet.
    """
    blocks = -(-len(scores) // _BLOCK)
    if depth is None or depth >= blocks:
        return np.flatnonzero(scores > above)
    maxima = np.maximum.reduceat(scores, np.arange(0, len(scores), _BLOCK))
    cut = np.partition(maxima, blocks - depth)[blocks - depth] - np.float32(margin)
    return np.flatnonzero(scores >= cut) if cut > above else np.flatnonzero(scores > above)


def ranked(scores: NDArray[np.float32], rows: NDArray[Any], depth: int | None) -> NDArray[np.intp]:
    """Positions in order of (score descending, row ascending), cut at ``depth``."""
    return np.lexsort((rows, -scores))[:depth]
