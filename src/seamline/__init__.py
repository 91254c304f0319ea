"""Hybrid retrieval over your own documents, with answers that can be traced to their source text."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seamline.errors import SeamlineError as SeamlineError
    from seamline.kit import chunk_loaded_documents as chunk_loaded_documents
    from seamline.kit import load_documents as load_documents
    from seamline.knowledge_base import KnowledgeBase as KnowledgeBase
    from seamline.knowledge_base import open as open
    from seamline.shortcuts import answer_question as answer_question
    from seamline.shortcuts import build_index as build_index
    from seamline.shortcuts import retrieve_passages as retrieve_passages
    from seamline.types import Answer as Answer
    from seamline.types import Chunk as Chunk
    from seamline.types import Citation as Citation
    from seamline.types import Document as Document
    from seamline.types import Passage as Passage
    from seamline.types import Principal as Principal
    from seamline.types import RerankedPassages as RerankedPassages
    from seamline.types import RetrievalResult as RetrievalResult
    from seamline.types import Scope as Scope
    from seamline.types import Scored as Scored

_HOMES = {
    "Answer": "types",
    "Chunk": "types",
    "Citation": "types",
    "Document": "types",
    "KnowledgeBase": "knowledge_base",
    "Passage": "types",
    "Principal": "types",
    "RerankedPassages": "types",
    "RetrievalResult": "types",
    "Scope": "types",
    "Scored": "types",
    "SeamlineError": "errors",
    "answer_question": "shortcuts",
    "build_index": "shortcuts",
    "chunk_loaded_documents": "kit",
    "load_documents": "kit",
    "open": "knowledge_base",
    "retrieve_passages": "shortcuts",
}

__version__ = "0.1.0"
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'seamline' has no attribute {name!r}")
    return getattr(import_module(f"seamline.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
