"""The main job in three calls: index, retrieve, answer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from seamline.knowledge_base import KnowledgeBase, open
from seamline.types import Answer, RetrievalResult


def build_index(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    kb: str = "default",
    **options: Any,  # noqa: ANN401
) -> KnowledgeBase:
    """Index folders or files into a knowledge base and return it. ``options`` are those of ``open``."""
    opened = open(kb, **options)
    opened.index(paths)
    return opened


def retrieve_passages(query: str, *, kb: KnowledgeBase | str = "default", **options: Any) -> RetrievalResult:  # noqa: ANN401
    """Retrieve from an open knowledge base, or from one by name. ``options`` are those of ``retrieve``."""
    if isinstance(kb, KnowledgeBase):
        return kb.retrieve(query, **options)
    with open(kb) as opened:
        return opened.retrieve(query, **options)


def answer_question(question: str, *, kb: KnowledgeBase | str = "default", **options: Any) -> Answer:  # noqa: ANN401
    """Answer from an open knowledge base, or from one by name. ``options`` are those of ``ask``."""
    if isinstance(kb, KnowledgeBase):
        return kb.ask(question, **options)
    with open(kb) as opened:
        return opened.ask(question, **options)
