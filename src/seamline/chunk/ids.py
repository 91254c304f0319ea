"""Chunk ids that survive edits elsewhere: a hash of what the chunk says and where it stands."""

from __future__ import annotations

import json
from collections import Counter
from typing import ClassVar

from seamline.fingerprint import sha256_text
from seamline.folding import collapse
from seamline.types import ChunkId, DocumentId


class ChunkIds:
    """Ids of one document's chunks, asked for in order.

    ``<document id>#c<16 hex>``, and ``-<k>`` for the k-th of identical chunks, from the second on.
    """

    _kind: ClassVar[str] = "c"

    def __init__(self, document_id: DocumentId) -> None:
        self._document_id = document_id
        self._seen: Counter[str] = Counter()

    def next(self, text: str, heading_path: tuple[str, ...]) -> ChunkId:
        """The id of the next chunk. Whitespace and Unicode composition of its text do not matter."""
        body = json.dumps([collapse(text), *heading_path], separators=(",", ":"), ensure_ascii=False)
        digest = sha256_text(body)[:16]
        self._seen[digest] += 1
        count = self._seen[digest]
        return ChunkId(f"{self._document_id}#{self._kind}{digest}" + (f"-{count}" if count > 1 else ""))


class ParentIds(ChunkIds):
    """The same for parents, with ``#p``: a parent may hold the very text of its only child."""

    _kind: ClassVar[str] = "p"
