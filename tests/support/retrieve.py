"""A tiny index in dictionaries, with an analyzer and an embedder to match: what retrieval is tested on."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from seamline.errors import NotFoundError
from seamline.fingerprint import fingerprint
from seamline.folding import fold, holds_phrases
from seamline.ports import Reranker
from seamline.rerank.select import select
from seamline.rerank.selection import Selection, SelectOptions
from seamline.retrieve.modes import Retrieved, RetrieveOptions, retrieve
from seamline.retrieve.question import Question
from seamline.types import (
    Candidate,
    Chunk,
    ChunkId,
    DocumentId,
    EmbeddingSpace,
    Fingerprint,
    Hit,
    KeywordQuery,
    Metadata,
    Principal,
    Scope,
    ScoreKind,
    Stages,
    VectorName,
)

if TYPE_CHECKING:
    from seamline.ports import Matrix, Vector

SCOPE = Scope(principal=Principal(id="me", owner=True), kb="k")
OPTIONS = RetrieveOptions(
    mode="economy",
    candidate_k=100,
    fusion="weighted",
    alpha=0.6,
    alpha_uncovered=0.2,
    normaliser="theoretical",
    rrf_k=60.0,
)
SELECT = SelectOptions(
    limit=5,
    rerank="off",
    rerank_candidates=30,
    timeout_s=2.0,
    max_chars=8000,
    min_cosine=None,
    confident_cosine=None,
    rerank_min_score=None,
    rerank_confident_score=None,
    near_duplicate_jaccard=0.9,
    score_kind="fused",
)
DIMENSION = 24


def question(text: str, language: str | None = None) -> Question:
    return Question(text=text, language=language, keyword_languages=(language,))


def chunk(
    chunk_id: str, text: str, *, document: str | None = None, start: int = 0, language: str | None = None
) -> Chunk:
    return Chunk(
        id=ChunkId(chunk_id),
        document_id=DocumentId(document or f"doc-{chunk_id}"),
        text=text,
        char_start=start,
        char_end=start + len(text),
        chunk_index=0,
        language=language,
    )


def candidate(chunk_id: str, *, language: str | None = None, **stages: Any) -> Candidate:  # noqa: ANN401
    return Candidate(chunk_id=ChunkId(chunk_id), language=language, stages=Stages(**stages))


def with_stages(one: Candidate, **changes: Any) -> Candidate:  # noqa: ANN401
    return replace(one, stages=replace(one.stages, **changes))


class WordAnalyzer:
    """Folded words, without the stop word "the"; double quotes make phrases and a leading minus excludes."""

    fingerprint = fingerprint("recipe", "word analyzer of the tests")

    def terms(self, text: str, language: str | None) -> list[str]:
        del language
        return [word for word in re.findall(r"\w+", fold(text)) if word != "the"]

    def query(self, text: str, languages: Sequence[str | None]) -> KeywordQuery:
        del languages
        excluded = re.findall(r"(?<!\S)-(\w+)", fold(text))
        phrases = tuple(fold(phrase) for phrase in re.findall(r'"([^"]+)"', text))
        wanted = set(self.terms(re.sub(r"(?<!\S)-\w+", " ", text), None))
        return KeywordQuery(terms=tuple(sorted(wanted)), phrases=phrases, excluded=tuple(sorted(set(excluded))))


class WordEmbedder:
    """Signed word hashing into a few dimensions; remembers which questions it was given."""

    def __init__(self, languages: frozenset[str] = frozenset()) -> None:
        self.questions: list[str] = []
        self.space = EmbeddingSpace(
            provider="test", model="words", revision="1", dimension=DIMENSION, languages=languages
        )

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", fold(text)):
                code = zlib.crc32(word.encode())
                row[code % DIMENSION] += 1 if code & 4096 else -1
        return rows

    def embed_query(self, text: str) -> Vector:
        self.questions.append(text)
        vector: Vector = self.embed_passages([text])[0]
        return vector


@dataclass
class Entry:
    chunk: Chunk
    terms: Counter[str]
    vector: Vector
    readable_by: frozenset[str] | None = None
    metadata: Metadata = field(default_factory=dict)


class DictIndex:
    """Both legs over chunks in a dictionary, exact and naive; the scope filters before everything."""

    def __init__(self, chunks: Sequence[Chunk] = (), *, embedder: WordEmbedder | None = None) -> None:
        self.embedder = embedder or WordEmbedder()
        self.analyzer = WordAnalyzer()
        self.entries: dict[ChunkId, Entry] = {}
        self.fetched: list[list[ChunkId]] = []
        for one in chunks:
            self.add(one)

    def add(self, one: Chunk, readable_by: frozenset[str] | None = None, metadata: Metadata | None = None) -> None:
        vector = self.embedder.embed_passages([one.text])[0]
        terms = Counter(self.analyzer.terms(one.text, one.language))
        self.entries[one.id] = Entry(one, terms, vector, readable_by, metadata or {})

    def _seen(self, scope: Scope) -> dict[ChunkId, Entry]:
        return {
            chunk_id: entry
            for chunk_id, entry in self.entries.items()
            if scope.admits(entry.chunk.document_id, entry.readable_by, entry.metadata)
        }

    def dense_pool(self, scope: Scope, vector: Vector, depth: int | None, name: VectorName = "child") -> list[Hit]:
        ids = list(self._seen(scope))
        return self._pool(ids, self.cosines(scope, vector, ids, name), depth)

    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        entries = self._seen(scope)
        ids = [
            chunk_id
            for chunk_id, entry in entries.items()
            if holds_phrases(entry.chunk, query.phrases) and not any(term in entry.terms for term in query.excluded)
        ]
        scores = self.keyword_scores(scope, query, ids)
        return self._pool(ids, [score or None for score in scores], depth)

    def _pool(self, ids: Sequence[ChunkId], scores: Sequence[float | None], depth: int | None) -> list[Hit]:
        hits = [
            Hit(chunk_id, score, self.entries[chunk_id].chunk.language)
            for chunk_id, score in zip(ids, scores, strict=True)
            if score is not None
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:depth]

    def cosines(
        self, scope: Scope, vector: Vector, ids: Sequence[ChunkId], name: VectorName = "child"
    ) -> list[float | None]:
        del name
        entries = self._seen(scope)
        return [_cosine(vector, entries[chunk_id].vector) if chunk_id in entries else None for chunk_id in ids]

    def keyword_scores(self, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> list[float | None]:
        entries = self._seen(scope)
        total = len(self.entries)
        average = sum(entry.terms.total() for entry in self.entries.values()) / max(total, 1)
        frequency = Counter(term for entry in self.entries.values() for term in entry.terms)

        def score(entry: Entry) -> float:
            return math.fsum(
                math.log(1 + (total - frequency[term] + 0.5) / (frequency[term] + 0.5))
                * entry.terms[term]
                * 2.2
                / (entry.terms[term] + 1.2 * (0.25 + 0.75 * entry.terms.total() / average))
                for term in query.terms
                if term in entry.terms
            )

        return [score(entries[chunk_id]) if chunk_id in entries else None for chunk_id in ids]

    def matched_terms(self, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> list[tuple[str, ...]]:
        entries = self._seen(scope)
        return [
            tuple(term for term in query.terms if chunk_id in entries and term in entries[chunk_id].terms)
            for chunk_id in ids
        ]

    def chunks(self, scope: Scope, ids: Sequence[ChunkId]) -> list[Chunk]:
        entries = self._seen(scope)
        self.fetched.append(list(ids))
        return [entries[chunk_id].chunk for chunk_id in ids if chunk_id in entries]

    def chunks_of(self, scope: Scope, document_id: DocumentId) -> list[Chunk]:
        found = [entry.chunk for entry in self._seen(scope).values() if entry.chunk.document_id == document_id]
        if not found:
            raise NotFoundError(f"no document {document_id!r}")
        return found

    def fetch(self, scope: Scope) -> Callable[[Sequence[ChunkId]], list[Chunk]]:
        return lambda ids: self.chunks(scope, ids)


def _cosine(first: Vector, second: Vector) -> float | None:
    lengths = float(np.linalg.norm(first)) * float(np.linalg.norm(second))
    return float(np.clip(float(np.dot(first, second)) / lengths, -1, 1)) if lengths > 0 else None


class ScriptedReranker:
    """Returns what it is told to, and remembers what it was asked."""

    name = "scripted"
    stand_in = True

    def __init__(self, answer: Callable[[Sequence[str]], list[float]]) -> None:
        self._answer = answer
        self.calls: list[tuple[str, tuple[str, ...]]] = []

    @property
    def fingerprint(self) -> Fingerprint:
        return fingerprint("policy", self.name)

    def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        assert deadline_s > 0
        self.calls.append((query, tuple(texts)))
        return self._answer(texts)


def run_pipeline(
    index: DictIndex,
    asked: Question,
    *,
    scope: Scope = SCOPE,
    options: RetrieveOptions = OPTIONS,
    selection: SelectOptions = SELECT,
    reranker: Reranker | None = None,
) -> tuple[Retrieved, Selection]:
    """Retrieve and select, as the pipeline composes them."""
    found = retrieve(index, scope, asked, embedder=index.embedder, analyzer=index.analyzer, options=options)
    return found, select_from(index, found.candidates, asked, scope=scope, selection=selection, reranker=reranker)


def select_from(
    index: DictIndex,
    candidates: Sequence[Candidate],
    asked: Question,
    *,
    scope: Scope = SCOPE,
    selection: SelectOptions = SELECT,
    reranker: Reranker | None = None,
    overrides: Mapping[str, float] | None = None,
) -> Selection:
    changed = replace(selection, **(overrides or {}))  # type: ignore[arg-type]
    return select(asked.text, candidates, fetch=index.fetch(scope), reranker=reranker, options=changed)


WORDS = ("gate", "harbour", "pump", "crane", "tide", "lock", "the")


@st.composite
def corpora(draw: st.DrawFn) -> DictIndex:
    """Few words, so that ties, duplicates and empty overlaps are common; some chunks share a document."""
    index = DictIndex(embedder=WordEmbedder(frozenset({"en"})))
    for number in range(draw(st.integers(0, 14))):
        text = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)))
        one = chunk(
            f"c{number}",
            text,
            document=f"d{draw(st.integers(0, 7))}",
            start=draw(st.integers(0, 60)),
            language=draw(st.sampled_from([None, "en", "ru"])),
        )
        index.add(
            one,
            readable_by=draw(st.sampled_from([None, frozenset({"me"}), frozenset({"you"})])),
            metadata={"year": draw(st.integers(1, 2))},
        )
    return index


def questions() -> st.SearchStrategy[Question]:
    """A few words, sometimes with a phrase or an exclusion, in some language."""
    words = st.lists(st.sampled_from([*WORDS, "-pump", '"gate tide"', "unheard", "?"]), min_size=1, max_size=4)
    return st.builds(question, words.map(" ".join), st.sampled_from([None, "en", "ru"]))


def scopes() -> st.SearchStrategy[Scope]:
    """The owner, a reader who sees part of the corpus, and either with a filter."""
    principals = st.sampled_from([Principal(id="owner", owner=True), Principal(id="me")])
    filters = st.sampled_from([{}, {"year": frozenset({1})}])
    return st.builds(Scope, principal=principals, kb=st.just("k"), metadata_filter=filters)


def retrieve_options() -> st.SearchStrategy[RetrieveOptions]:
    return st.builds(
        RetrieveOptions,
        mode=st.sampled_from(["economy", "hybrid", "dense", "keyword"]),
        candidate_k=st.integers(1, 12),
        fusion=st.sampled_from(["weighted", "rrf", "dbsf"]),
        alpha=st.sampled_from([0.0, 0.6, 1.0]),
        alpha_uncovered=st.just(0.2),
        normaliser=st.sampled_from(["theoretical", "shifted", "min_max", "z_score"]),
        rrf_k=st.just(60.0),
    )


def score_kind(options: RetrieveOptions) -> ScoreKind:
    kinds: dict[str, ScoreKind] = {"dense": "cosine", "keyword": "bm25"}
    return kinds.get(options.mode, "fused")


@st.composite
def select_options(draw: st.DrawFn, options: RetrieveOptions) -> SelectOptions:
    gates = st.sampled_from([None, 0.0, 0.3, 0.7])
    return SelectOptions(
        limit=draw(st.integers(1, options.candidate_k)),
        rerank=draw(st.sampled_from(["off", "auto"])),
        rerank_candidates=draw(st.integers(1, 8)),
        timeout_s=30.0,
        max_chars=draw(st.sampled_from([100, 8000])),
        min_cosine=draw(gates),
        confident_cosine=draw(gates),
        rerank_min_score=draw(gates),
        rerank_confident_score=draw(gates),
        near_duplicate_jaccard=draw(st.sampled_from([0.3, 0.9, 1.0])),
        score_kind=score_kind(options),
    )
