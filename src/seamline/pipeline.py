"""COMPOSITION ROOT, online: retrieve -> rerank -> generate; why-not; traces.

The only place where the online stages meet. Passages cross into generation once, as ``RerankedPassages``.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, Literal

from seamline import registry, wire
from seamline.analyze.sentences import SentencexSplitter
from seamline.calibration import Calibration
from seamline.embed.similarity import scorer
from seamline.errors import NotFoundError, StoreError
from seamline.fingerprint import fingerprint, space_fingerprint
from seamline.generate.answer import AnswerOptions, stream_answer
from seamline.generate.answer import answer as write_answer
from seamline.generate.condense import condense
from seamline.ingest.language import detect
from seamline.ports import Analyzer, Embedder, Generator, Reranker, Snapshot, Store, TraceSink
from seamline.rerank.guarded import Guarded, guard
from seamline.rerank.select import select
from seamline.rerank.selection import Fate, Selection, SelectOptions
from seamline.retrieve.explanation import WhyNot
from seamline.retrieve.modes import RetrieveOptions, retrieve
from seamline.retrieve.question import Question, validate, validate_limit
from seamline.retrieve.whynot import explain
from seamline.settings import LoadedSettings, Settings
from seamline.types import (
    Answer,
    AnswerEvent,
    Binding,
    Candidate,
    Chunk,
    ChunkId,
    DocumentId,
    Fingerprint,
    KbStatistics,
    MetadataValue,
    Principal,
    RetrievalResult,
    Scope,
)
from seamline.verify.support import check

log = logging.getLogger("seamline.pipeline")

SURE = 0.9
"""Confidence from which a detected language of a question is used."""
MOST_ANALYSES = 16
"""Languages in which one question is analysed, the most frequent of the chunks; a note names the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one question asks for, beside its text. ``None`` means: as the settings say."""

    principal: Principal
    mode: str | None = None
    limit: int | None = None
    rerank: Literal["auto", "off", "required"] = "auto"
    query_language: str = "auto"
    document_filter: frozenset[DocumentId] | None = None
    metadata_filter: Mapping[str, frozenset[MetadataValue]] = field(default_factory=dict)
    overrides: Mapping[str, object] = field(default_factory=dict)


class Pipeline:
    """The online half of one knowledge base, composed: everything it uses is handed in.

    ``corpus`` is the id of the kb's files, which no other kb has or had. ``embedder`` is called when a dense query
    is asked, with what the snapshot that answers is bound to; it raises when that space is not available.
    """

    def __init__(
        self,
        store: Store,
        settings: LoadedSettings,
        *,
        embedder: Callable[[Binding | None], Embedder],
        analyzer: Analyzer,
        traces: TraceSink | None,
        calibration: Calibration | None = None,
        corpus: str,
    ) -> None:
        self._store = store
        self._corpus = corpus
        self._settings = settings
        self._embedder = embedder
        self._analyzer = analyzer
        self._traces = traces
        self._calibration = calibration
        self._splitter = SentencexSplitter()
        self._by_space: dict[Fingerprint, Embedder] = {}

    @property
    def settings(self) -> Settings:
        """The settings of a question that overrides none, calibration included."""
        return self._calibrated(self._settings)

    # --- the public verbs ---

    def retrieve(
        self, query: str | Sequence[Mapping[str, str]], request: Request, *, notes: Sequence[str] = ()
    ) -> RetrievalResult:
        """Retrieve, rerank or skip, gate and cut. Raises ``QueryError`` and whatever a failing leg raises.

        ``notes`` are put before those of the retrieval, in the result and in its trace.
        """
        started = time.perf_counter()
        settings = self._effective(request)
        text = validate(query, settings.query_chars)
        limit = _limit(request, settings)
        mode = request.mode or settings.mode
        scope = self._scope(request)
        with self._store.read() as snapshot:
            embedder = None if mode == "keyword" else self._embedder_of(snapshot, scope)
            statistics = snapshot.statistics(scope)
            question, known = self._question(text, request, statistics)
            opened = (time.perf_counter() - started) * 1000
            retrieved = retrieve(
                snapshot,
                scope,
                question,
                embedder=embedder,
                analyzer=self._analyzer,
                options=RetrieveOptions.of(settings.mapping() | {"mode": mode}),
            )
            selection = self._select(snapshot, scope, text, retrieved.candidates, request, settings, mode, limit)
        timings = {
            "open": opened,
            **retrieved.timings_ms,
            **selection.timings_ms,
            "total": (time.perf_counter() - started) * 1000,
        }
        result = RetrievalResult(
            query=text,
            passages=selection.passages,
            candidates=tuple(retrieved.candidates),
            mode_requested=mode,
            mode_used=mode,
            rerank=selection.outcome,
            query_language=question.language,
            query_language_known=known,
            pool_sizes=retrieved.pool_sizes,
            timings=timings,
            corpus_fingerprint=fingerprint("corpus", {"kb": self._corpus, "generation": statistics.generation}),
            space_fingerprint=space_fingerprint(embedder.space) if embedder else None,
            policy_fingerprint=_policy_fingerprint(settings, mode, limit, request.rerank),
            calibrated=settings.min_cosine is not None or settings.rerank_min_score is not None,
            stand_ins=_stand_ins(embedder, settings),
            trace_id=uuid.uuid4().hex,
            cut_by=selection.cut_by,
            notes=(*notes, *retrieved.notes, *_left_out(statistics)),
        )
        self._trace(result)
        return result

    def ask(self, question: str | Sequence[Mapping[str, str]], request: Request) -> tuple[Answer, RetrievalResult]:
        """Retrieve, then answer from the passages or abstain. Raises ``GenerationError``."""
        result = self._read_for(question, request)
        began = time.perf_counter()
        answer = write_answer(result.query, result.passages, **self._generation(request, result))
        timings = {**result.timings, "generate": (time.perf_counter() - began) * 1000}
        return replace(answer, timings=timings), result

    def stream(
        self, question: str | Sequence[Mapping[str, str]], request: Request
    ) -> tuple[RetrievalResult, Iterator[AnswerEvent]]:
        """Retrieve, then the events of the answer: deltas and exactly one terminal event."""
        result = self._read_for(question, request)
        return result, stream_answer(result.query, result.passages, **self._generation(request, result))

    def answer_options(self, request: Request) -> AnswerOptions:
        """How an answer to this request is prompted and checked; raises ``SettingsError`` for a bad template."""
        return AnswerOptions.from_settings(self._effective(request).mapping())

    def why_not(self, query: str, target: str, request: Request) -> WhyNot:
        """At which stage a document or chunk was lost, and by how much. Raises ``NotFoundError``."""
        settings = self._effective(request)
        text = validate(query, settings.query_chars)
        mode = request.mode or settings.mode
        limit = _limit(request, settings)
        scope = self._scope(request)
        with self._store.read() as snapshot:
            embedder = None if mode == "keyword" else self._embedder_of(snapshot, scope)
            question, _ = self._question(text, request, snapshot.statistics(scope))

            def selected(candidates: Sequence[Candidate], changes: Mapping[str, float]) -> Mapping[ChunkId, Fate]:
                named = {name: value for name, value in changes.items() if name != "limit"}
                stated = self._settings.override({**request.overrides, **named}) if named else None
                changed = self._calibrated(stated) if stated else settings
                allowed = int(changes.get("limit", limit))
                return self._select(snapshot, scope, text, candidates, request, changed, mode, allowed).fates

            explained = partial(
                explain,
                snapshot,
                scope,
                question,
                embedder=embedder,
                analyzer=self._analyzer,
                options=RetrieveOptions.of(settings.mapping() | {"mode": mode}),
                select=selected,
            )
            with suppress(NotFoundError):  # then it is a chunk, or nothing that may be read
                return explained(document_id=DocumentId(target))
            try:
                return explained(chunk_id=ChunkId(target))
            except NotFoundError as error:
                raise NotFoundError(
                    f"no document or chunk {target!r}",
                    hint="`seamline status --documents` lists documents, `seamline search --json` the ids of chunks",
                ) from error

    # --- how the parts are put together ---

    def _embedder_of(self, snapshot: Snapshot, scope: Scope) -> Embedder:
        """The embedder of the snapshot's own space: a swap of index generations may have changed it meanwhile."""
        embedder = self._embedder(snapshot.binding(scope))
        self._by_space[space_fingerprint(embedder.space)] = embedder
        return embedder

    def _effective(self, request: Request) -> Settings:
        return self._calibrated(self._settings.override(request.overrides) if request.overrides else self._settings)

    def _calibrated(self, loaded: LoadedSettings) -> Settings:
        """With the calibrated values where nobody stated one; they hold for the reranker that is asked for."""
        if self._calibration is None or loaded.values.calibration == "off":
            return loaded.values
        return self._calibration.apply(loaded, lambda name: _fingerprint_of(name, loaded.values)).values

    def _read_for(self, question: str | Sequence[Mapping[str, str]], request: Request) -> RetrievalResult:
        """Retrieve for an answer; a follow-up is rewritten first where the settings ask for it, and says so."""
        settings = self._effective(request)
        if isinstance(question, str) or not settings.condense or len(question) < 2:
            return self.retrieve(question, self._as_read(request))
        asked = validate(question, settings.query_chars)
        rewritten = condense(question, _generator(settings, None, self._splitter))
        return self.retrieve(rewritten, self._as_read(request), notes=(f"the question was rewritten from: {asked}",))

    def _as_read(self, request: Request) -> Request:
        """The request of an answer: quoting costs no tokens, so more passages are read than a model is given."""
        settings = self._effective(request)
        if settings.generation_provider != "extractive" or (request.limit or settings.rerank_top_n) is not None:
            return request
        return replace(request, limit=min(settings.extractive_passages, settings.candidate_k))

    def _scope(self, request: Request) -> Scope:
        return Scope(
            principal=request.principal,
            kb=self._store.kb,
            document_filter=request.document_filter,
            metadata_filter=request.metadata_filter,
        )

    def _question(
        self, text: str, request: Request, statistics: KbStatistics
    ) -> tuple[Question, Literal["given", "detected", "unknown"]]:
        present = _languages(statistics)
        if request.query_language != "auto":
            tag = request.query_language.split("-")[0].lower()
            return Question(text=text, language=tag, keyword_languages=tuple(dict.fromkeys((tag, *present)))), "given"
        if len(present) == 1:
            return Question(text=text, language=present[0], keyword_languages=present), "unknown"
        detected, confidence = detect(text)
        if detected in present and confidence >= SURE:
            # Detection on a short question is a guess: it may lower the dense weight, not drop an analysis.
            return Question(
                text=text, language=detected, keyword_languages=tuple(dict.fromkeys((detected, *present)))
            ), "detected"
        return Question(text=text, language=None, keyword_languages=present or (None,)), "unknown"

    def _select(
        self,
        snapshot: Snapshot,
        scope: Scope,
        text: str,
        candidates: Sequence[Candidate],
        request: Request,
        settings: Settings,
        mode: str,
        limit: int,
    ) -> Selection:
        def fetch(ids: Sequence[ChunkId]) -> list[Chunk]:
            return snapshot.chunks(scope, ids)

        reranker = None if request.rerank == "off" else _reranker(settings)
        return select(
            text,
            candidates,
            fetch=fetch,
            reranker=reranker,
            options=SelectOptions.of(
                settings.mapping(),
                limit=limit,
                rerank="off" if reranker is None and request.rerank == "auto" else request.rerank,
                score_kind={"dense": "cosine", "keyword": "bm25"}.get(mode, "fused"),  # type: ignore[arg-type]
            ),
        )

    def _generation(self, request: Request, result: RetrievalResult) -> dict[str, Any]:
        settings = self._effective(request)
        # A keyword search works without the kb's model, and so does its answer: by the question's words alone.
        embedder = self._by_space[result.space_fingerprint] if result.space_fingerprint is not None else None
        return {
            "generator": _generator(settings, embedder, self._splitter),
            "checker": check,
            "splitter": self._splitter,
            "options": self.answer_options(request),
            "trace_id": result.trace_id,
        }

    def _trace(self, result: RetrievalResult) -> None:
        if self._traces is None:
            return
        try:
            self._traces.put(result.trace_id, wire.trace(result))
        except StoreError as error:
            # A question does not fail because its trace cannot be kept; the log says that it was not.
            log.warning("trace %s was not kept: %s", result.trace_id, error.message)


def _generator(settings: Settings, embedder: Embedder | None, splitter: SentencexSplitter) -> Generator:
    build = registry.factory("generators", settings.generation_provider)
    made: Generator = build(
        settings.mapping(),
        scorer=scorer(embedder) if embedder is not None else None,
        splitter=splitter,
        space_fingerprint=space_fingerprint(embedder.space) if embedder is not None else None,
    )
    return made


_HOW_RERANKED = tuple(
    name for name in Settings.model_fields if name.startswith("rerank_") and not name.endswith("_score")
)


def _reranker(settings: Settings) -> Reranker | None:
    if settings.rerank_provider == "off":
        return None
    return _guarded(tuple((name, getattr(settings, name)) for name in _HOW_RERANKED))


@lru_cache(maxsize=8)
def _guarded(stated: tuple[tuple[str, object], ...]) -> Guarded:
    """One reranker a process and configuration: its model, its breaker and its cache outlive a question."""
    named = dict(stated)
    settings = Settings.model_validate(named).mapping()
    return guard(registry.factory("rerankers", str(named["rerank_provider"]))(settings), settings)


def _fingerprint_of(reranker: str, settings: Settings) -> str:
    return registry.factory("rerankers", reranker)(settings.mapping()).fingerprint  # type: ignore[no-any-return]


def _limit(request: Request, settings: Settings) -> int:
    limit = request.limit if request.limit is not None else settings.rerank_top_n or settings.limit_economy
    return validate_limit(limit, settings.candidate_k)


def _languages(statistics: KbStatistics) -> tuple[str | None, ...]:
    """The languages of the chunks, most frequent first: a question is analysed in each of them."""
    tags = sorted(statistics.languages, key=lambda tag: (-statistics.languages[tag], tag))
    return tuple(None if tag == "und" else tag for tag in tags[:MOST_ANALYSES])


def _left_out(statistics: KbStatistics) -> tuple[str, ...]:
    """The note of a kb in more languages than one question is analysed in."""
    tags = sorted(statistics.languages, key=lambda tag: (-statistics.languages[tag], tag))[MOST_ANALYSES:]
    return (f"keyword: the question is not analysed as {', '.join(tags)}",) if tags else ()


def _stand_ins(embedder: Embedder | None, settings: Settings) -> tuple[str, ...]:
    names = []
    if embedder is not None and embedder.space.stand_in:
        names.append(f"embedder {embedder.space.provider}")
    if registry.is_stand_in("rerankers", settings.rerank_provider):
        names.append(f"reranker {settings.rerank_provider}")
    return tuple(names)


@lru_cache(maxsize=64)
def _policy_fingerprint(settings: Settings, mode: str, limit: int, rerank: str) -> Fingerprint:
    names = [
        "candidate_k", "fusion", "fusion_alpha", "fusion_alpha_uncovered", "fusion_normaliser", "rrf_k", "bm25_k1",
        "bm25_b", "min_cosine", "confident_cosine", "near_duplicate_jaccard", "rerank_provider", "rerank_candidates",
        "rerank_min_score", "rerank_confident_score", "rerank_timeout_s",
    ]  # fmt: skip
    return fingerprint(
        "policy", {"mode": mode, "limit": limit, "rerank": rerank} | {name: getattr(settings, name) for name in names}
    )
