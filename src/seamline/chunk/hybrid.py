"""The hybrid chunker: structural, and by meaning inside sections that are longer than a parent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from seamline.chunk.making import chunked
from seamline.chunk.packing import Draft, joined, packed
from seamline.chunk.sections import sections, whole_subtrees
from seamline.chunk.semantic import SemanticParts, divided
from seamline.chunk.sizes import ChunkSizes, ParentSizes
from seamline.fingerprint import fingerprint
from seamline.ports import Embedder, SentenceSplitter
from seamline.types import Chunked, Document, Fingerprint

_ALGORITHM = "hybrid/1"


class HybridChunker:
    """Headings and blocks where they are dense enough to go by, meaning where they are not."""

    def __init__(self, sizes: ChunkSizes, parts: SemanticParts, parents: ParentSizes) -> None:
        self._sizes, self._parts, self._parents = sizes, parts, parents

    @property
    def fingerprint(self) -> Fingerprint:
        """Identity of the algorithm, its sizes, its sentence splitter and the embedding space."""
        sizes = {"sizes": asdict(self._sizes), "parents": asdict(self._parents)}
        return fingerprint("recipe", {"chunker": _ALGORITHM, **self._parts.identity(), **sizes})

    def chunk(self, document: Document) -> Chunked:
        """Children with exact spans, and their parents; raises what the embedder raises."""
        drafts: list[Draft] = []
        for section in whole_subtrees(sections(document), self._sizes.target):
            if section.end - section.start > self._parents.target:
                drafts.extend(divided(document, [section], self._sizes, self._parts))
            else:
                drafts.extend(packed(document, section, self._sizes, self._parts.splitter))
        return chunked(document, joined(document, drafts, self._sizes), self._parents)


def create(
    settings: Mapping[str, object], splitter: SentenceSplitter | None = None, embedder: Embedder | None = None
) -> HybridChunker:
    """The chunker for these settings; raises ``SettingsError`` without an embedder."""
    parts = SemanticParts.of(settings, splitter, embedder)
    return HybridChunker(ChunkSizes.of(settings), parts, ParentSizes.of(settings))
