"""What is derived of chunks before they are stored: their terms, and vectors that are not yet known."""

from __future__ import annotations

import time
from collections.abc import Sequence

from seamline.fingerprint import sha256_text
from seamline.ingest.plan import Ready
from seamline.ports import Analyzer, Embedder, IndexedChunk, Store, TokenCounter
from seamline.types import Scope, SyncReport


class Derivation:
    """Analyzes and embeds for one knowledge base."""

    def __init__(self, store: Store, scope: Scope, *, embedder: Embedder, analyzer: Analyzer) -> None:
        self._store, self._scope, self._embedder, self._analyzer = store, scope, embedder, analyzer

    def derive(self, batch: Sequence[Ready], report: SyncReport) -> list[list[IndexedChunk]]:
        """Terms and vectors of each document's chunks; the same text in the same space is embedded once."""
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
        if missing:
            self._count_window_cuts(list(missing.values()), report)
            began = time.perf_counter()
            matrix = self._embedder.embed_passages(list(missing.values()))
            report.seconds["embed"] = report.seconds.get("embed", 0.0) + time.perf_counter() - began
            vectors.update(zip(missing, matrix, strict=True))
            report.embedded += len(missing)
        return [
            [
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

    def _count_window_cuts(self, texts: Sequence[str], report: SyncReport) -> None:
        window = self._embedder.space.window
        if window is not None and isinstance(self._embedder, TokenCounter):
            report.window_cuts += sum(count > window for count in self._embedder.count_tokens(texts))
