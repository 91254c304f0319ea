"""Rerank scores by question and text, so that a repeated question costs no call."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence


class ScoreCache:
    """The least recently used scores are dropped beyond ``entries``. Holds hashes, never text. Thread-safe."""

    def __init__(self, entries: int) -> None:
        """``entries`` may be 0, which keeps nothing."""
        self._entries = entries
        self._scores: OrderedDict[bytes, float] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._scores)

    def get(self, identity: str, query: str, texts: Sequence[str]) -> list[float | None]:
        """The known score of each text for a reranker (its fingerprint) and a question."""
        found: list[float | None] = []
        with self._lock:
            for key in _keys(identity, query, texts):
                score = self._scores.get(key)
                if score is not None:
                    self._scores.move_to_end(key)
                found.append(score)
        return found

    def put(self, identity: str, query: str, texts: Sequence[str], scores: Sequence[float]) -> None:
        """Remember checked scores."""
        with self._lock:
            self._scores.update(zip(_keys(identity, query, texts), scores, strict=True))
            while len(self._scores) > self._entries:
                self._scores.popitem(last=False)


def _keys(identity: str, query: str, texts: Sequence[str]) -> list[bytes]:
    return [hashlib.sha256(f"{identity}\0{_sha(query)}\0{_sha(text)}".encode()).digest() for text in texts]


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
