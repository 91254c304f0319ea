"""Embedders for tests: the real local one where its weights are, and broken ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

import numpy as np

from seamline.embed import weights
from seamline.embed.hash import HashEmbedder
from seamline.embed.local import LocalEmbedder, create
from seamline.embed.multilingual import MultilingualEmbedder

if TYPE_CHECKING:
    from seamline.embed.built import Precision
    from seamline.ports import Matrix, Vector

# Shared by the workers and by later runs: building takes seconds, and what is built is stamped.
CACHE_DIR = Path(gettempdir()) / "seamline-test-models"


def settings(precision: Precision = "int8", threads: int = 0) -> dict[str, object]:
    """The settings that the local embedder reads."""
    return {
        "embedding_precision": precision,
        "embedding_threads": threads,
        "embedding_model_dir": None,
        "model_cache_dir": str(CACHE_DIR),
    }


MODEL_PRESENT = weights.present(settings())
NO_MODEL = f"the weights of {weights.MODEL} are not on this machine (seamline models pull)"


@cache
def local(precision: Precision = "int8", threads: int = 0) -> LocalEmbedder:
    """One loaded embedder a process."""
    return create(settings(precision, threads))


@cache
def multilingual() -> MultilingualEmbedder:
    """One loaded embedder a process."""
    return MultilingualEmbedder()


class Wrapped:
    """The stand-in, for broken embedders to change one thing of."""

    def __init__(self) -> None:
        self.inner = HashEmbedder()
        self.space = self.inner.space
        self.calls = 0

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.calls += 1
        return self.inner.embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        self.calls += 1
        return self.inner.embed_query(text)


class ChangesItsSpace(Wrapped):
    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        vectors = super().embed_passages(texts)
        self.space = replace(self.space, revision=f"changed {self.calls}")
        return vectors


class LosesARow(Wrapped):
    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        vectors = super().embed_passages(texts)
        return vectors[:1] if len(texts) == 2 else vectors


class DropsTheTail(Wrapped):
    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return super().embed_passages(texts)[:, :-1]

    def embed_query(self, text: str) -> Vector:
        vector: Vector = super().embed_query(text)[:-1]
        return vector


class GivesFloat64(Wrapped):
    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return super().embed_passages(texts).astype(np.float64)


class GivesNan(Wrapped):
    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        vectors = super().embed_passages(texts)
        vectors[[len(text) > 5000 for text in texts]] = np.nan
        return vectors

    def embed_query(self, text: str) -> Vector:
        return self.embed_passages([text])[0]  # type: ignore[no-any-return]


class IsNotNormalised(Wrapped):
    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return super().embed_passages(texts) * np.float32(2)

    def embed_query(self, text: str) -> Vector:
        return super().embed_query(text) * np.float32(2)


class Drifts(Wrapped):
    """A question asked again at once gets another vector."""

    last = ""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.last = ""
        return super().embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        again, self.last = self.last == text, text
        return np.roll(super().embed_query(text), int(again))


class SeesOneText(Wrapped):
    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return (
            super().embed_passages(["constant"] * len(texts))
            if all(t.strip() for t in texts)
            else super().embed_passages(texts)
        )

    def embed_query(self, text: str) -> Vector:
        return super().embed_query("constant") if text.strip() else super().embed_query(text)


class SortsItsBatch(Wrapped):
    """Batches by length and forgets to put the rows back, where there is no long text."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        short = max(map(len, texts), default=0) < 1000
        return super().embed_passages(sorted(texts, key=len) if short else texts)


class DependsOnBatchMates(Wrapped):
    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        vectors = super().embed_passages(texts)
        if len(texts) > 4:
            vectors = vectors + np.float32(1e-3)
        return vectors


class RefusesEmoji(Wrapped):
    def embed_query(self, text: str) -> Vector:
        text.encode("utf-16-le").decode("ucs2" if "👩" in text else "utf-16-le")
        return super().embed_query(text)


class ForgetsItsPrefix(Wrapped):
    def __init__(self) -> None:
        super().__init__()
        self.space = replace(self.space, query_prefix="query: ")


class HearsTheQuestionMark(Wrapped):
    def embed_query(self, text: str) -> Vector:
        return np.roll(super().embed_query(text), int(text.endswith("?")))


class EmbedsNothing(Wrapped):
    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return super().embed_passages([text if text.strip() else "nothing" for text in texts])

    def embed_query(self, text: str) -> Vector:
        return super().embed_query(text if text.strip() else "nothing")
