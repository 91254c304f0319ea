"""A source in memory and an embedder that counts: what tests of a sync drive it with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seamline.errors import IngestError, ListingError
from seamline.fingerprint import sha256_bytes, sha256_text
from seamline.types import (
    Document,
    DocumentId,
    EmbeddingSpace,
    ParseStatus,
    Provenance,
    Quality,
    SourceEntry,
    SyncOptions,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OPTIONS = SyncOptions(commit_batch=2, mass_delete_share=0.2, mass_delete_floor=10, write_timeout_s=5.0)


@dataclass
class DictSource:
    """Entries are ``files``; reading an id in ``unreadable`` fails, listing fails after ``listing_stops_at``."""

    files: dict[str, str]
    name: str = "source"
    unreadable: set[str] = field(default_factory=set)
    listing_stops_at: int | None = None
    versions: dict[str, str] = field(default_factory=dict)
    readable_by: dict[str, frozenset[str]] = field(default_factory=dict)
    touched: int = 0
    reads: list[str] = field(default_factory=list)

    def entries(self) -> Iterator[SourceEntry]:
        for number, id_ in enumerate(sorted(self.files)):
            if number == self.listing_stops_at:
                raise ListingError("the listing broke")
            revision = f"{self.touched}:{sha256_text(self.files[id_])}"
            yield SourceEntry(
                id=DocumentId(id_),
                uri=id_,
                revision=revision,
                version=self.versions.get(id_),
                readable_by=self.readable_by.get(id_),
            )

    def read(self, entry: SourceEntry) -> bytes:
        self.reads.append(entry.id)
        if entry.id in self.unreadable:
            raise IngestError(f"{entry.id}: no permission")
        return self.files[entry.id].encode()


class PlainReader:
    """Bytes are the text; text that starts with ``status:`` is a document of that status."""

    def __init__(self, version: str = "1") -> None:
        self.version = version

    @property
    def recipe(self) -> Mapping[str, str]:
        return {"plain": self.version}

    def read(self, entry: SourceEntry, data: bytes) -> Document:
        text = data.decode()
        status = ParseStatus(text.split(":", 1)[1].split()[0]) if text.startswith("status:") else ParseStatus.OK
        return Document(
            id=entry.id,
            text=text,
            text_sha256=sha256_text(text),
            media_type="text/plain",
            provenance=Provenance(
                source_uri=entry.uri, content_sha256=sha256_bytes(data), parser="plain", parser_version=self.version
            ),
            quality=Quality(characters=len(text)),
            language="en",
            status=status,
            status_reason=None if status is ParseStatus.OK else "as the test asked",
        )


class CountingEmbedder:
    """Three made dimensions; remembers every text it was given and fails at the ``fails_at``-th call."""

    def __init__(self, model: str = "counting", fails_at: int | None = None) -> None:
        self.space = EmbeddingSpace(provider="test", model=model, revision="1", dimension=3)
        self.texts: list[str] = []
        self.calls = 0
        self.fails_at = fails_at

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        self.calls += 1
        if self.calls == self.fails_at:
            raise KeyboardInterrupt
        self.texts += texts
        return np.array([[1.0 + len(text), text.count("a"), text.count("e")] for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self.embed_passages([text])[0]
        return row
