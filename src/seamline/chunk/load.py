"""The ingest kit: documents as chunks, with no knowledge base and no extras."""

from __future__ import annotations

from collections.abc import Iterable

from seamline.chunk.sizes import ChunkSizes
from seamline.chunk.structural import StructuralChunker
from seamline.errors import UsageError
from seamline.types import Chunk, Document, ParseStatus

_CHUNK_SIZE = 1000
_CHUNK_OVERLAP = 0
_LEAST = 50
_MOST = 10_000
_INDEXED = (ParseStatus.OK, ParseStatus.TRUNCATED)


def chunk_loaded_documents(
    documents: Iterable[Document], *, chunk_size: int | None = None, chunk_overlap: int | None = None
) -> list[Chunk]:
    """The chunks of every document whose extraction succeeded, in the order of ``documents``.

    ``chunk_size`` (1000) and ``chunk_overlap`` (0) are characters. Raises ``UsageError`` for a size outside
    50 to 10,000, or an overlap of more than half of it.
    """
    target = _CHUNK_SIZE if chunk_size is None else chunk_size
    overlap = _CHUNK_OVERLAP if chunk_overlap is None else chunk_overlap
    if not _LEAST <= target <= _MOST:
        raise UsageError(f"chunk_size is {target}", hint=f"choose {_LEAST} to {_MOST} characters")
    if not 0 <= overlap * 2 <= target:
        raise UsageError(f"chunk_overlap is {overlap}", hint=f"choose 0 to {target // 2}, half of chunk_size")
    chunker = StructuralChunker(ChunkSizes(target=target, overlap=overlap, least=_LEAST, most=_MOST))
    return [
        chunk for document in documents if document.status in _INDEXED for chunk in chunker.chunk(document).children
    ]
