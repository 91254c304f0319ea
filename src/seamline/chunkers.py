"""COMPOSITION of the configured chunker: a sentence splitter, an embedder where it divides by meaning, a ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seamline import registry
from seamline.analyze.sentences import SentencexSplitter
from seamline.chunk.clamp import UNDECLARED_WINDOW_CHARS, ClampedChunker, by_characters, by_tokens
from seamline.chunk.window import NAME as PUBLISHED_RECIPE
from seamline.ports import Chunker, Embedder, TokenCounter
from seamline.types import DEFAULT_TEMPLATE


def chunker_for(settings: Mapping[str, Any], embedder: Embedder | None = None) -> Chunker:
    """The configured chunker, with a sentence splitter for blocks that are too long.

    ``embedder`` is what ``semantic`` and ``hybrid`` divide by; without one they raise ``SettingsError``. With it, a
    child longer than its vector holds is divided: over ``embed_max_chars`` where that is set, else over the
    embedder's window, else over 512 characters. The published recipe is left as it is.
    """
    build = registry.factory("chunkers", settings["chunker"])
    made: Chunker = build(settings, splitter=SentencexSplitter(), embedder=embedder)
    ceiling: int | None = settings["embed_max_chars"]
    if settings["chunker"] == PUBLISHED_RECIPE or (ceiling is None and embedder is None):
        return made
    template = DEFAULT_TEMPLATE if embedder is None else embedder.space.template
    window = None if embedder is None else embedder.space.window
    counter: object = embedder
    if ceiling is None and window is not None and isinstance(counter, TokenCounter):
        return ClampedChunker(made, by_tokens(counter, window), template=template, ceiling=f"{window} tokens")
    most = UNDECLARED_WINDOW_CHARS if ceiling is None else ceiling
    return ClampedChunker(made, by_characters(most), template=template, ceiling=f"{most} characters")
