"""Canaries: short texts whose vectors are stored with a kb, to notice a model that changed under its name."""

from __future__ import annotations

from seamline.errors import SpaceMismatchError
from seamline.ports import Embedder
from seamline.types import Binding, Canary

TEXTS = (
    "The harbour master closes the lock at high water.",
    "Press and hold the reset button for ten seconds.",
    "La facture doit être payée avant la fin du mois.",
    "Error E-417: the pump did not reach its pressure.",
    "What is the capital of the neighbouring country?",
    "A small dog slept under the kitchen table.",
    "def add(a, b): return a + b",
    "In 1987 the yield fell by 12.5 percent.",
)


def record(embedder: Embedder) -> tuple[Canary, ...]:
    """The canaries of an embedder, to be stored in a binding."""
    vectors = embedder.embed_passages(TEXTS)
    return tuple(
        Canary(text=text, vector=tuple(float(x) for x in row)) for text, row in zip(TEXTS, vectors, strict=True)
    )


def check(embedder: Embedder, binding: Binding, min_cosine: float) -> float:
    """The lowest cosine between stored and fresh canaries, in [-1, 1].

    Raises ``SpaceMismatchError`` when it is below ``min_cosine``, or when a dimension differs.
    """
    if not binding.canaries:
        return 1.0
    import numpy as np

    stored = np.array([canary.vector for canary in binding.canaries], dtype=np.float32)
    fresh = embedder.embed_passages([canary.text for canary in binding.canaries])
    if fresh.shape != stored.shape:
        raise SpaceMismatchError(
            f"the model returns vectors of {fresh.shape[1]} dimensions, the knowledge base holds {stored.shape[1]}",
            hint="restore the model that indexed it, or index into another --kb",
        )
    norms = np.linalg.norm(stored, axis=1) * np.linalg.norm(fresh, axis=1)
    lowest = float(np.min(np.einsum("ij,ij->i", stored, fresh) / np.maximum(norms, 1e-12)))
    if lowest < min_cosine:
        raise SpaceMismatchError(
            f"the model answers to the name that indexed this knowledge base, but not with its vectors "
            f"(canary cosine {lowest:.4f}, at least {min_cosine} is needed)",
            hint="restore the model that indexed it, or index into another --kb",
        )
    return lowest
