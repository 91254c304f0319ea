"""The verbs of Seamline: what each part must be able to do, and nothing about how.

Stages know these protocols and the nouns of :mod:`seamline.types`; they never know each other. A provider
need not inherit anything. Optional abilities are protocols of their own (``TokenCounter``, ``Closeable``).
Errors: a part that cannot do its job raises from :mod:`seamline.errors`; it never returns an empty result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from seamline.types import (
    Attachment,
    Binding,
    Block,
    Candidate,
    Chunk,
    Chunked,
    ChunkId,
    Document,
    DocumentId,
    EmbeddingSpace,
    Finding,
    Fingerprint,
    GenerationPiece,
    GenerationRequest,
    Hit,
    IngestState,
    KbStatistics,
    KeywordQuery,
    Metadata,
    Page,
    ParseStatus,
    Quality,
    RankedHit,
    RetrievalResult,
    Scope,
    SourceEntry,
    Support,
    VectorName,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """Shape ``(d,)``."""
    Matrix = NDArray[np.float32]
    """Shape ``(n, d)``."""


# --- ingest -------------------------------------------------------------------------------------------


@runtime_checkable
class Source(Protocol):
    """Lists entries with a cheap revision, and reads one."""

    @property
    def name(self) -> str:
        """The name under which the kb remembers this source's entries."""

    def entries(self) -> Iterator[SourceEntry]:
        """Every entry, ordered by id. Raises ``ListingError`` when the listing cannot be completed."""

    def read(self, entry: SourceEntry) -> bytes:
        """The bytes of one entry. Raises ``IngestError`` when it cannot be read."""


@runtime_checkable
class ReadingSource(Protocol):
    """A source whose entries are no files of a format: it brings what reads them."""

    def reader(self) -> EntryReader:
        """The reader of its entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a parser makes of bytes: cleaned text, structure as ranges of it, and the files inside the file."""

    text: str
    media_type: str
    blocks: tuple[Block, ...] = ()
    pages: tuple[Page, ...] = ()
    title: str | None = None
    language: str | None = None
    metadata: Metadata = field(default_factory=dict)
    decoder: str | None = None
    quality: Quality | None = None
    status: ParseStatus = ParseStatus.OK
    reason: str | None = None
    attachments: tuple[Attachment, ...] = ()


@runtime_checkable
class Parser(Protocol):
    """Turns the bytes of one format into text and structure. Runs in a child process with caps."""

    name: str
    version: str
    media_types: frozenset[str]

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:
        """Extract. A document that cannot be extracted is a ``Parsed`` with its status and reason."""


class EntryReader(Protocol):
    """Turns an entry's bytes into a document; bad content is a status, not an exception."""

    @property
    def recipe(self) -> Mapping[str, str]:
        """Parser names and versions: part of what decides whether a document is unchanged."""

    def read(self, entry: SourceEntry, data: bytes) -> Document:
        """The document, with its status and reason."""


@runtime_checkable
class AttachmentReader(Protocol):
    """An entry reader that also reads the files inside a file."""

    def read_all(self, entry: SourceEntry, data: bytes) -> list[Document]:
        """The document of an entry, then those inside it: ids are ``entry!/name``, at any depth."""


# --- chunk, analyze, embed ----------------------------------------------------------------------------


@runtime_checkable
class Chunker(Protocol):
    """A pure function of normalised text, structure and settings."""

    @property
    def fingerprint(self) -> Fingerprint:
        """Identity of the algorithm and its settings."""

    def chunk(self, document: Document) -> Chunked:
        """Children (and parents) with exact spans; empty when the text is blank."""


@runtime_checkable
class SentenceSplitter(Protocol):
    """Finds sentences. Spans are half open, ordered, and do not overlap."""

    def sentences(self, text: str, language: str | None) -> list[tuple[int, int]]:
        """The ``(start, end)`` of each sentence, without surrounding whitespace."""


@runtime_checkable
class Analyzer(Protocol):
    """Turns text into keyword terms; the same for documents and questions, by language."""

    @property
    def fingerprint(self) -> Fingerprint:
        """Identity of the analysis and the versions of what it uses."""

    def terms(self, text: str, language: str | None) -> list[str]:
        """The terms of a chunk, repeated as often as they occur."""

    def query(self, text: str, languages: Sequence[str | None]) -> KeywordQuery:
        """The analysed question: the union of its terms in the given languages."""


@runtime_checkable
class Embedder(Protocol):
    """Maps texts into one embedding space."""

    @property
    def space(self) -> EmbeddingSpace:
        """The descriptor whose fingerprint binds an index to this embedder."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Float32 of shape ``(len(texts), space.dimension)``; raises ``EmbeddingError``."""

    def embed_query(self, text: str) -> Vector:
        """Float32 of shape ``(space.dimension,)``, with the space's query prefix applied."""


@runtime_checkable
class TokenCounter(Protocol):
    """Counts tokens as the model would, prefix and special tokens included."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """One count a text."""


# --- store --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedChunk:
    """A chunk with everything that is derived from it, as it goes into the store.

    ``text_sha256`` is the hash of the embedded text, the key under which its vector can be found again.
    ``terms`` are the analysed terms in order, repeated. ``vectors`` are float32 of shape ``(d,)``.
    """

    chunk: Chunk
    text_sha256: str
    terms: Sequence[str]
    vectors: Mapping[VectorName, Vector]


class DocumentReader(Protocol):
    """Reads documents and chunks of one snapshot. What a scope does not admit is not there."""

    def statistics(self, scope: Scope) -> KbStatistics:
        """Counts of what the scope admits."""

    def documents(self, scope: Scope) -> Iterator[Document]:
        """Every admitted document, ordered by id, read in pages."""

    def document(self, scope: Scope, document_id: DocumentId) -> Document:
        """One document; raises ``NotFoundError``."""

    def chunks(self, scope: Scope, ids: Sequence[ChunkId]) -> list[Chunk]:
        """The chunks with these ids that the scope admits, in the order of ``ids``."""

    def chunks_of(self, scope: Scope, document_id: DocumentId) -> list[Chunk]:
        """A document's chunks by ``chunk_index``; raises ``NotFoundError``."""


class LegReader(Protocol):
    """The two legs over one snapshot. Pools are ordered by (score descending, chunk id ascending).

    ``depth=None`` asks for every chunk of the scope that has a score (that is what why-not does).
    Scope and filters are applied before the pool is cut. Safe to call from two threads at once.
    """

    def dense_pool(self, scope: Scope, vector: Vector, depth: int | None, name: VectorName = "child") -> list[Hit]:
        """Nearest chunks by cosine in [-1, 1]."""

    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        """Best chunks by BM25 (> 0), disjunctive; phrases and exclusions honoured."""

    def cosines(
        self, scope: Scope, vector: Vector, ids: Sequence[ChunkId], name: VectorName = "child"
    ) -> list[float | None]:
        """Exact cosine of each chunk; ``None`` where it has no vector or is outside the scope."""

    def keyword_scores(self, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> list[float | None]:
        """Exact BM25 of each chunk, 0.0 where no term occurs; ``None`` outside the scope."""

    def matched_terms(self, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> list[tuple[str, ...]]:
        """The query's terms that occur in each chunk, sorted; empty outside the scope."""


class StateReader(Protocol):
    """What a sync and a check of an index need to know beyond its documents."""

    def binding(self, scope: Scope) -> Binding | None:
        """What the kb was derived with; ``None`` for a kb that was never indexed."""

    def states(self, scope: Scope, source: str | None = None) -> dict[DocumentId, IngestState]:
        """The last state of every entry of a source (of all sources for ``None``)."""

    def known_vectors(self, scope: Scope, text_hashes: Sequence[str]) -> dict[str, Vector]:
        """Stored ``child`` vectors by the hash of the embedded text, of those that exist."""

    def digest(self, scope: Scope) -> str:
        """sha256 over all that is stored in a canonical order: equal indexes have equal digests."""


class Snapshot(DocumentReader, LegReader, StateReader, Protocol):
    """One committed state of a kb; later commits do not show in it."""


class Writer(Protocol):
    """The one writer of a kb. Nothing is visible before ``commit``; leaving without it rolls back."""

    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        """Add or replace a document with all its chunks, in both legs."""

    def remove(self, ids: Sequence[DocumentId]) -> int:
        """Remove documents and every trace of them from both legs; how many there were."""

    def record(self, states: Sequence[IngestState]) -> None:
        """Remember ingest states; ``REMOVED`` forgets the entry."""

    def set_access(self, document_id: DocumentId, readable_by: frozenset[str] | None) -> None:
        """Change who may read a document; raises ``NotFoundError``."""

    def bind(self, binding: Binding) -> None:
        """Record what the kb is derived with. Refused (``SpaceMismatchError``) over chunks of another space."""

    def commit(self) -> int:
        """Make everything since the last commit visible and durable at once; the new generation number."""


@runtime_checkable
class Store(Protocol):
    """Both indexes of one knowledge base, committed together."""

    @property
    def kb(self) -> str:
        """The knowledge base's name; a scope of another kb or workspace is ``NotFoundError``."""

    def read(self) -> AbstractContextManager[Snapshot]:
        """The last committed state, unchanged for as long as the context is open."""

    def write(self, *, timeout: float = 10.0) -> AbstractContextManager[Writer]:
        """Hold the write lock; waits at most ``timeout`` seconds, then raises ``StoreBusyError``."""

    def check(self) -> list[Finding]:
        """Integrity findings of the store's own: both legs, statistics, spans, hashes."""

    def capabilities(self) -> Mapping[str, str]:
        """Declared differences, e.g. ``{"dense": "exact", "keyword_scoring": "bm25"}``."""

    def close(self) -> None:
        """Release files and locks; idempotent."""


# --- retrieve, rerank, generate, verify ---------------------------------------------------------------


class Fuser(Protocol):
    """Orders candidates by both legs' scores: a pure function."""

    def __call__(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The same candidates with ``fused_rank`` and ``fused_score``; duplicate ids are refused."""


@runtime_checkable
class Reranker(Protocol):
    """Scores passages against a question, all in one call."""

    name: str
    stand_in: bool

    @property
    def fingerprint(self) -> Fingerprint:
        """Identity of the model, its revision and its settings."""

    def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """One finite score a text, same order, higher is better; raises ``ProviderError``."""


ChunkFetch = Callable[[Sequence[ChunkId]], list[Chunk]]
"""Fetches admitted chunks by id: how ``rerank/`` reads payloads without knowing a store."""

SentenceScorer = Callable[[str, Sequence[str]], list[float]]
"""``(question, sentences) -> similarity of each in [-1, 1]``: injected over given passages only."""


@runtime_checkable
class Generator(Protocol):
    """Writes an answer from the passages that it is given, as a stream."""

    name: str
    stand_in: bool

    @property
    def model(self) -> str | None:
        """The model's name, where there is one."""

    def stream(self, request: GenerationRequest) -> Iterator[GenerationPiece]:
        """Pieces in order; raises ``GenerationError`` or ``TransientProviderError``."""


class SupportChecker(Protocol):
    """Decides, over text it is given, whether a sentence is supported, and by which span of it."""

    def __call__(self, sentence: str, source: str) -> tuple[Support, int, int]:
        """The verdict and the best supporting ``(start, end)`` in ``source``."""


# --- evaluation, traces -------------------------------------------------------------------------------


class Retriever(Protocol):
    """What an evaluation drives: this engine or any other behind the same two verbs."""

    def retrieve(self, query: str, *, top_k: int, overrides: Mapping[str, object]) -> RetrievalResult:
        """Run one retrieval; ``overrides`` are retrieval settings by name."""

    def info(self) -> Mapping[str, object]:
        """Fingerprints, stand-ins and provider names, for the report."""


class SystemUnderTest(Protocol):
    """A retrieval system that someone else built, as a black box: the first protocol of a connector."""

    def retrieve(self, query: str, *, top_k: int) -> Sequence[RankedHit]:
        """At most ``top_k`` hits, best first. A backend that fails raises: ``[]`` means that nothing was found."""

    def info(self) -> Mapping[str, object]:
        """JSON values for the report, without secrets; ``stand_ins`` is a list of names."""


class TraceSink(Protocol):
    """Keeps traces. A trace holds ids, spans, hashes and numbers, never document text."""

    def put(self, trace_id: str, record: Mapping[str, object]) -> None:
        """Store one trace under its id."""
