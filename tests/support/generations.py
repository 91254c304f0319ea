"""A second embedding space for tests of reindexing: the stand-in's vectors, folded to half as many dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import pytest

from seamline import registry
from seamline.embed import hash as stand_in
from seamline.types import EmbeddingSpace

if TYPE_CHECKING:
    from seamline.ports import Embedder, Matrix, Vector


class Folded:
    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.space: EmbeddingSpace = replace(
            inner.space, provider="folded", model="folded", dimension=inner.space.dimension // 2
        )

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        matrix = self._inner.embed_passages(texts)
        return matrix[:, ::2] + matrix[:, 1::2]

    def embed_query(self, text: str) -> Vector:
        vector = self._inner.embed_query(text)
        return vector[::2] + vector[1::2]


def create(settings: Mapping[str, object]) -> Folded:
    return Folded(stand_in.create(settings))


def register(patched: pytest.MonkeyPatch) -> None:
    """Make ``folded`` an embedder that the registry knows."""
    points = registry._points

    def extended(kind: registry.Kind) -> list[EntryPoint]:
        added = EntryPoint("folded", "support.generations:create", "seamline.embedders")
        return [*points(kind), *([added] if kind == "embedders" else [])]

    patched.setattr(registry, "_points", extended)
