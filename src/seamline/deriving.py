"""What is derived of chunks before they are stored: their terms, and vectors that are not yet known."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seamline.fingerprint import sha256_text
from seamline.ingest.plan import Ready
from seamline.ports import Analyzer, Embedder, IndexedChunk, PartialEmbedder, Store, TokenCounter
from seamline.types import Scope, SyncReport

if TYPE_CHECKING:
    from seamline.ports import Vector


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """Chunks of a document that could not be embedded, and why the first of them could not."""

    chunks: int
    of: int
    reason: str

    @classmethod
    def among(cls, hashes: Sequence[str], dead: Mapping[str, str]) -> DeadLetters | None:
        """Those of a document's chunks that are dead; ``None`` when none is."""
        found = [name for name in hashes if name in dead]
        return cls(len(found), len(hashes), dead[found[0]]) if found else None


class Derivation:
    """Analyzes and embeds for one knowledge base."""

    def __init__(self, store: Store, scope: Scope, *, embedder: Embedder, analyzer: Analyzer) -> None:
        self._store, self._scope, self._embedder, self._analyzer = store, scope, embedder, analyzer

    def derive(self, batch: Sequence[Ready], report: SyncReport) -> list[list[IndexedChunk] | DeadLetters]:
        """Terms and vectors of each document's chunks; the same text in the same space is embedded once.

        A document with a chunk that the embedder refuses for itself is a ``DeadLetters``: it would be in one leg only.
        """
        template = self._embedder.space.template
        texts = [[chunk.rendered(template) for chunk in ready.chunks] for ready in batch]
        hashes = [[sha256_text(text) for text in row] for row in texts]
        by_hash = {
            h: text for row_h, row_t in zip(hashes, texts, strict=True) for h, text in zip(row_h, row_t, strict=True)
        }
        with self._store.read() as snapshot:
            vectors = dict(snapshot.known_vectors(self._scope, list(by_hash)))
        missing = {h: text for h, text in by_hash.items() if h not in vectors}
        report.reused += len(by_hash) - len(missing)
        dead = self._embed(missing, vectors, report) if missing else {}
        return [
            DeadLetters.among(row_h, dead)
            or [
                IndexedChunk(
                    chunk=chunk,
                    text_sha256=h,
                    terms=self._analyzer.terms(text, chunk.language),
                    vectors={"child": vectors[h]},
                )
                for chunk, text, h in zip(ready.chunks, row_t, row_h, strict=True)
            ]
            for ready, row_t, row_h in zip(batch, texts, hashes, strict=True)
        ]

    def _embed(self, missing: Mapping[str, str], vectors: dict[str, Vector], report: SyncReport) -> dict[str, str]:
        """Put the vectors of ``missing`` (hash to text) into ``vectors``; what is refused, by hash, with the reason."""
        texts = list(missing.values())
        self._count_window_cuts(texts, report)
        began = time.perf_counter()
        refused: dict[int, str] = {}
        if isinstance(self._embedder, PartialEmbedder):
            matrix, refused = self._embedder.embed_each(texts)
        else:
            matrix = self._embedder.embed_passages(texts)
        report.seconds["embed"] = report.seconds.get("embed", 0.0) + time.perf_counter() - began
        report.embedded += len(texts) - len(refused)
        dead: dict[str, str] = {}
        for place, (name, vector) in enumerate(zip(missing, matrix, strict=True)):
            if place in refused:
                dead[name] = refused[place]
            else:
                vectors[name] = vector
        return dead

    def _count_window_cuts(self, texts: Sequence[str], report: SyncReport) -> None:
        window = self._embedder.space.window
        if window is not None and isinstance(self._embedder, TokenCounter):
            report.window_cuts += sum(count > window for count in self._embedder.count_tokens(texts))
