# ruff: noqa: S101 - conformance tests assert
"""What the conformance tests of stores share: how a store is made, a small corpus, and a plain BM25."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seamline.errors import SeamlineError
from seamline.fingerprint import fingerprint, sha256_text, space_fingerprint
from seamline.ports import IndexedChunk, Snapshot, Store
from seamline.types import (
    Binding,
    Canary,
    Chunk,
    ChunkId,
    Document,
    DocumentId,
    EmbeddingSpace,
    Hit,
    IngestState,
    IngestStatus,
    KeywordQuery,
    Metadata,
    MetadataValue,
    Page,
    Principal,
    Provenance,
    Quality,
    Scope,
)

if TYPE_CHECKING:
    from seamline.ports import Vector

DIMENSION = 8
K1, B = 1.2, 0.75
"""What ``make_store`` must configure BM25 with."""
TOLERANCE = 1e-5
"""Largest difference between a store's float32 score and the same formula in float64."""

FOX = "the quick brown fox\njumps over the lazy dog"
CAT = "a cat sat on the mat\nthe mat was brown"
FOX_IDS = [ChunkId("fox#0"), ChunkId("fox#1")]

OWNER = Principal(id="owner", workspace="w", owner=True)


class StoreCase:
    """Makes the stores under test. The tests use kb ``k`` of workspace ``w`` unless they say otherwise."""

    def make_store(self, tmp_path: Path, kb: str = "k", workspace: str = "w") -> Store:
        """A new, empty store with BM25 at ``K1`` and ``B``; several may be made in one ``tmp_path``."""
        raise NotImplementedError

    def reopen(self, store: Store, tmp_path: Path) -> Store:
        """Close a store and open what it left on disk; a store that is not durable returns itself."""
        del tmp_path
        return store

    @contextmanager
    def filled(self, tmp_path: Path, *puts: tuple[Document, Sequence[IndexedChunk]], kb: str = "k") -> Iterator[Store]:
        """A bound store that holds these documents, put one a commit in this order."""
        store = self.make_store(tmp_path, kb)
        try:
            put(store, *puts)
            yield store
        finally:
            store.close()


def put(store: Store, *puts: tuple[Document, Sequence[IndexedChunk]]) -> None:
    """Bind to the tests' space, and put one document a commit."""
    with store.write() as writer:
        writer.bind(binding())
        writer.commit()
        for document, chunks in puts:
            writer.put(document, chunks)
            writer.commit()


def remove(store: Store, *ids: str) -> int:
    """Remove documents and commit; how many there were."""
    with store.write() as writer:
        count = writer.remove([DocumentId(item) for item in ids])
        writer.commit()
    return count


def binding(model: str = "m") -> Binding:
    """A binding to a space of ``DIMENSION``; another model is another space."""
    space = EmbeddingSpace(
        provider="test", model=model, revision="1", dimension=DIMENSION, window=128, languages=frozenset({"en", "fr"})
    )
    return Binding(
        space=space,
        space_fingerprint=space_fingerprint(space),
        chunker_fingerprint=fingerprint("recipe", "chunker"),
        analyzer_fingerprint=fingerprint("recipe", "analyzer"),
        canaries=(Canary(text="a canary", vector=(0.1, -1.5, 1e-7)),),
    )


def scope(
    principal: Principal = OWNER,
    *,
    kb: str = "k",
    documents: Sequence[str] | None = None,
    metadata: Mapping[str, frozenset[MetadataValue]] | None = None,
) -> Scope:
    """What the owner sees, unless narrowed."""
    return Scope(
        principal=principal,
        kb=kb,
        document_filter=None if documents is None else frozenset(map(DocumentId, documents)),
        metadata_filter=metadata or {},
    )


def reader(name: str, *groups: str, workspace: str = "w") -> Principal:
    """A principal who is not the owner."""
    return Principal(id=name, groups=frozenset(groups), workspace=workspace)


def document(
    document_id: str,
    text: str,
    *,
    readable_by: frozenset[str] | None = None,
    metadata: Metadata | None = None,
    language: str | None = "en",
) -> Document:
    """A document of one page; each line of its text becomes a chunk in :func:`indexed`."""
    return Document(
        id=DocumentId(document_id),
        text=text,
        text_sha256=sha256_text(text),
        media_type="text/plain",
        provenance=Provenance(
            source_uri=f"file:///{document_id}",
            content_sha256=sha256_text(text),
            parser="text",
            parser_version="1",
        ),
        quality=Quality(characters=len(text)),
        title=f"Title of {document_id}",
        language=language,
        pages=(Page(index=0, label="i", char_start=0, char_end=len(text)),),
        readable_by=readable_by,
        metadata=metadata or {},
    )


def indexed(of: Document, *, names: Sequence[str] = ("child",)) -> list[IndexedChunk]:
    """The lines of a document as chunks ``<document id>#<line>``, with words as terms and made-up vectors."""
    chunks, start = [], 0
    for index, line in enumerate(of.text.split("\n")):
        chunk = Chunk(
            id=ChunkId(f"{of.id}#{index}"),
            document_id=of.id,
            text=line,
            char_start=start,
            char_end=start + len(line),
            chunk_index=index,
            heading_path=("Part", f"Section {index}"),
            title=of.title,
            language=of.language,
            pages=of.pages,
            source_uri=of.provenance.source_uri,
            document_sha256=of.text_sha256,
        )
        start += len(line) + 1
        chunks.append(
            IndexedChunk(
                chunk=chunk,
                text_sha256=sha256_text(line),
                terms=line.casefold().split(" "),
                vectors={name: vector_of(f"{name}:{line}") for name in names},  # type: ignore[misc]
            )
        )
    return chunks


def filed(document_id: str, text: str, **given: object) -> tuple[Document, list[IndexedChunk]]:
    """A document with its chunks, as :meth:`StoreCase.filled` takes them."""
    made = document(document_id, text, **given)  # type: ignore[arg-type]
    return made, indexed(made)


def vector_of(text: str) -> Vector:
    """A vector that depends on nothing but the text, not normalised, and exact in float16."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float16).astype(np.float32)


def query(text: str, *, phrases: Sequence[str] = (), excluded: Sequence[str] = ()) -> KeywordQuery:
    """The words of a text as a keyword query, each as often as it occurs."""
    counts = Counter(text.split())
    return KeywordQuery(
        terms=tuple(sorted(counts)),
        phrases=tuple(phrases),
        excluded=tuple(excluded),
        counts=tuple(counts[term] for term in sorted(counts)),
    )


def cosine(left: Vector, right: Vector) -> float:
    """Cosine in float64."""
    a, b = left.astype(np.float64), right.astype(np.float64)
    return float(a @ b / math.sqrt(float(a @ a) * float(b @ b)))


def bm25_scores(chunks: Sequence[IndexedChunk], terms: Sequence[str]) -> dict[str, float]:
    """BM25 by the book over a whole kb, of the chunks that hold a term; a repeated term adds its score again."""
    average = sum(len(item.terms) for item in chunks) / len(chunks)
    scores: dict[str, float] = {}
    for term in terms:
        frequency = sum(term in item.terms for item in chunks)
        idf = math.log(1 + (len(chunks) - frequency + 0.5) / (frequency + 0.5))
        for item in chunks:
            tf = item.terms.count(term)
            if tf:
                norm = K1 * (1 - B + B * len(item.terms) / average)
                scores[item.chunk.id] = scores.get(item.chunk.id, 0.0) + idf * (K1 + 1) * tf / (tf + norm)
    return scores


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Ids by (score descending, id ascending)."""
    return sorted(scores, key=lambda key: (-scores[key], key))


def ids_of(hits: Sequence[Hit]) -> list[str]:
    """The chunk ids of a pool, in order."""
    return [hit.chunk_id for hit in hits]


def assert_close(hits: Sequence[Hit], scores: Mapping[str, float]) -> None:
    """A pool has exactly these ids in order of their scores, and the scores agree to ``TOLERANCE``."""
    assert ids_of(hits) == ranked(scores)
    assert all(abs(hit.score - scores[hit.chunk_id]) <= TOLERANCE for hit in hits), (hits, scores)


class refused:
    """The block raises this kind of error (or one below it), and its message names these things."""

    def __init__(self, kind: type[SeamlineError], *mentions: str) -> None:
        self._kind = kind
        self._mentions = mentions

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        assert error is not None, f"{self._kind.__name__} was not raised"
        if not isinstance(error, self._kind):
            return False
        missing = [text for text in self._mentions if text not in str(error)]
        assert not missing, f"{error!r} does not mention {missing}"
        return True


def seen(snapshot: Snapshot, of: Scope, chunk_ids: Sequence[ChunkId], text: str) -> dict[str, object]:
    """The results of every read of a snapshot that depends on documents, by the read's name.

    ``text`` is searched for in both legs; ``chunk_ids`` are asked of the reads by id.
    """
    words, vector = query(text.casefold()), vector_of(f"child:{text}")
    hashes = [sha256_text(line) for line in text.split("\n")]
    documents = list(snapshot.documents(of))
    return {
        "documents": documents,
        "document": [snapshot.document(of, item.id) for item in documents],
        "statistics": snapshot.statistics(of),
        "chunks": snapshot.chunks(of, chunk_ids),
        "chunks_of": [snapshot.chunks_of(of, item.id) for item in documents],
        "dense_pool": snapshot.dense_pool(of, vector, None),
        "keyword_pool": snapshot.keyword_pool(of, words, None),
        "cosines": snapshot.cosines(of, vector, chunk_ids),
        "keyword_scores": snapshot.keyword_scores(of, words, chunk_ids),
        "matched_terms": snapshot.matched_terms(of, words, chunk_ids),
        "states": snapshot.states(of),
        "known_vectors": {key: value.tolist() for key, value in snapshot.known_vectors(of, hashes).items()},
        "digest": snapshot.digest(of),
    }


def state(document_id: str) -> IngestState:
    """What a sync of source ``s1`` remembers of a committed document."""
    return IngestState(
        document_id=DocumentId(document_id),
        source="s1",
        status=IngestStatus.COMMITTED,
        revision="1",
        content_sha256="ab",
        recipe=fingerprint("recipe", 1),
    )
