"""The dense leg: cosine against the question's vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from seamline.errors import EmbeddingError
from seamline.ports import Embedder, LegReader
from seamline.retrieve.pool import checked
from seamline.retrieve.question import embedding_text
from seamline.types import Hit, Scope

if TYPE_CHECKING:
    from seamline.ports import Vector

_DEEPER = 4
"""How many times deeper the store is asked when exclusions emptied part of a pool."""


def embed(embedder: Embedder, text: str) -> Vector:
    """The question's vector, float32 of shape ``(d,)``; raises ``EmbeddingError`` when it is not one."""
    vector = embedder.embed_query(embedding_text(text))
    if vector.shape != (embedder.space.dimension,):
        raise EmbeddingError(
            f"the embedder returned a question vector of shape {vector.shape}, not ({embedder.space.dimension},)",
            hint="the provider and its declared space disagree; check embedding_provider",
        )
    if not np.isfinite(vector).all():
        raise EmbeddingError("the question's vector holds values that are not finite", hint="run `seamline doctor`")
    return vector


def pool(
    reader: LegReader, scope: Scope, vector: Vector, depth: int | None, keep: Callable[[list[Hit]], list[Hit]]
) -> list[Hit]:
    """The leg's pool of the hits that ``keep`` leaves, asked for deeper until it is full or the scope is used up."""
    asked = depth
    while True:
        hits = checked(reader.dense_pool(scope, vector, asked), "dense", asked)
        kept = keep(hits)
        if depth is None or asked is None or len(kept) >= depth or len(hits) < asked:
            return kept[:depth]
        asked *= _DEEPER
