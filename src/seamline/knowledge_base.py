"""The public verbs: open a knowledge base, index, retrieve, ask, and learn why something was not found."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from seamline import calibration, jobs, ledger, ports, registry, spaces
from seamline import settings as settings_module
from seamline.analyze.text import create as create_analyzer
from seamline.chunk.artifacts import is_artifact
from seamline.chunk.prechunked import ChunkedChunker, ChunkedReader, ChunkedSource
from seamline.chunkers import chunker_for
from seamline.errors import NotAllowedError, NotFoundError, QueryError, UnavailableError
from seamline.indexing import Indexer
from seamline.ingest.plan import indexed, within
from seamline.ingest.reader import EntryReader
from seamline.ingest.sandbox import ParseLimits
from seamline.pipeline import Pipeline, Request
from seamline.ports import Chunker, Embedder, Source, Store
from seamline.retrieve.explanation import WhyNot
from seamline.settings import LoadedSettings, home_dir
from seamline.store.catalogue import Catalogue
from seamline.store.generations import GenerationalStore
from seamline.store.traces import TraceStore
from seamline.types import (
    Answer,
    AnswerEvent,
    Binding,
    DocumentId,
    Fingerprint,
    MetadataValue,
    Principal,
    Progress,
    RetrievalResult,
    Scope,
    SyncOptions,
    SyncReport,
)

LOCAL_OWNER = Principal(id="owner", owner=True)
"""The principal of the command line and of Python calls that name none: the owner of the files."""

Filter = Mapping[str, MetadataValue | Sequence[MetadataValue]]


def open(
    kb: str = "default",
    *,
    home: str | os.PathLike[str] | None = None,
    workspace: str = "default",
    principal: Principal | None = None,
    settings: Mapping[str, object] | None = None,
    config: str | os.PathLike[str] | None = None,
    generation: int | None = None,
) -> KnowledgeBase:
    """A handle on a knowledge base; it is created by the first ``index``, not by opening.

    ``settings`` override the file and the environment; ``generation`` reads that index generation instead of the
    live one, and only reads. Raises ``SettingsError``.
    """
    loaded = settings_module.load(settings, config=config)
    return KnowledgeBase(
        kb, home=home_dir(home), workspace=workspace, principal=principal, settings=loaded, generation=generation
    )


class KnowledgeBase:
    """One knowledge base as one principal sees it. Close it, or use it as a context manager."""

    def __init__(
        self,
        name: str,
        *,
        home: Path,
        workspace: str,
        principal: Principal | None,
        settings: LoadedSettings,
        generation: int | None = None,
    ) -> None:
        self.name = name
        self.home = home
        self.workspace = workspace
        self.settings = settings
        asker = principal or LOCAL_OWNER
        self.principal = Principal(id=asker.id, groups=asker.groups, workspace=workspace, owner=asker.owner)
        self.scope = Scope(principal=self.principal, kb=name)
        self._analyzer = create_analyzer(settings.values.mapping())
        self._store: Store | None = None
        self._folder: Path | None = None
        self._traces: TraceStore | None = None
        self._pipeline: Pipeline | None = None
        self._generation = generation
        self._embedders: dict[Fingerprint | None, Embedder] = {}
        self._opening = threading.RLock()

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release files and locks; idempotent."""
        for opened in (self._traces, self._store):
            if opened is not None:
                opened.close()
        self._traces = self._store = self._pipeline = None
        self._embedders.clear()

    def index(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        source: str = "folder",
        source_name: str | None = None,
        readable_by: Sequence[str] | None = None,
        allow_mass_delete: bool = False,
        dry_run: bool = False,
        strict: bool = False,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> SyncReport:
        """Make the knowledge base equal to the folders or files: add, replace, skip, remove.

        ``source`` names what ``paths`` are: ``folder`` (files and folders), ``records``, ``stdin``, or a plug-in's.
        A single chunks artifact is verified, and its documents are indexed with the chunks that it holds.
        A document that cannot be indexed is in ``report.failed`` with its reason. Raises ``ListingError``,
        ``IdCollisionError``, ``MassDeletionError`` and ``SpaceMismatchError`` before anything is changed.
        """
        self._require_owner()
        roots = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        values = self.settings.values
        options = SyncOptions(
            commit_batch=values.commit_batch,
            mass_delete_share=values.mass_delete_share,
            mass_delete_floor=values.mass_delete_floor,
            write_timeout_s=values.write_timeout_s,
            allow_mass_delete=allow_mass_delete,
            dry_run=dry_run,
            strict=strict,
            readable_by=frozenset(readable_by) if readable_by is not None else None,
        )
        if source == "folder" and len(roots) == 1 and is_artifact(roots[0]):
            with ChunkedSource(roots[0], name=source_name) as chunked:
                return self._indexer(ChunkedReader(chunked), ChunkedChunker(chunked)).sync(chunked, options, progress)
        return self.sync(self._source(source, roots, source_name), options, progress)

    def listing(
        self, paths: Sequence[str | os.PathLike[str]], *, source: str = "folder", source_name: str | None = None
    ) -> list[tuple[str, str]]:
        """Ids and revisions of what ``index`` would look at now; raises as its listing does."""
        return [(entry.id, entry.revision) for entry in self._source(source, paths, source_name).entries()]

    def _source(self, kind: str, paths: Sequence[str | os.PathLike[str]], name: str | None) -> Source:
        places = [Path(path) for path in paths]
        kind = "stdin" if kind == "folder" and places == [Path("-")] else kind
        make = registry.factory("sources", kind)
        made: Source = make(self.settings.values.mapping(), paths=places, name=name, exclude=self.home)
        return made

    def sync(
        self, source: Source, options: SyncOptions, progress: Callable[[Progress], None] = lambda _: None
    ) -> SyncReport:
        """As ``index``, from any source. Raises ``NotAllowedError`` for a principal who is not the owner."""
        self._require_owner()
        values = self.settings.values.mapping()
        if isinstance(source, ports.ReadingSource):
            return self._sync(self._indexer(source.reader(), dry_run=options.dry_run), source, options, progress)
        with EntryReader(ParseLimits.of(values)) as reader:
            return self._sync(self._indexer(reader, dry_run=options.dry_run), source, options, progress)

    def _sync(
        self, indexer: Indexer, source: Source, options: SyncOptions, progress: Callable[[Progress], None]
    ) -> SyncReport:
        if options.dry_run:
            return indexer.sync(source, options, progress)
        with jobs.recorded(self._folder, source.name, progress, timeout=options.write_timeout_s) as step:
            return indexer.sync(source, options, step)

    def _indexer(self, reader: ports.EntryReader, chunker: Chunker | None = None, *, dry_run: bool = False) -> Indexer:
        store, embedder = self._writable(dry_run=dry_run), self.embedder()
        chunker = chunker or chunker_for(self.settings.values.mapping(), embedder)
        return Indexer(store, self.scope, embedder=embedder, analyzer=self._analyzer, chunker=chunker, reader=reader)

    def _writable(self, *, dry_run: bool) -> Store:
        """The store, made where it is absent; a dry run of a kb that is not there makes none."""
        try:
            return self._open_store(create=not dry_run)
        except NotFoundError:
            if not dry_run:
                raise
            make = registry.factory("stores", "memory")
            empty: Store = make(self.settings.values.mapping(), workspace=self.workspace, kb=self.name, folder=None)
            return empty

    def retrieve(
        self,
        query: str | Sequence[Mapping[str, str]],
        *,
        limit: int | None = None,
        mode: str | None = None,
        rerank: Literal["auto", "off", "required"] = "auto",
        query_language: str = "auto",
        document_filter: Sequence[str] | None = None,
        metadata_filter: Filter | None = None,
        overrides: Mapping[str, object] | None = None,
    ) -> RetrievalResult:
        """The best passages for a question, each with its stages. Raises ``QueryError``, ``NotFoundError``."""
        request = self._request(limit, mode, rerank, query_language, document_filter, metadata_filter, overrides)
        return self.pipeline().retrieve(query, request)

    def ask(self, question: str | Sequence[Mapping[str, str]], **options: Any) -> Answer:  # noqa: ANN401
        """A cited answer or an abstention. Options as for ``retrieve``. Raises ``GenerationError``."""
        return self.ask_with_passages(question, **options)[0]

    def ask_with_passages(
        self,
        question: str | Sequence[Mapping[str, str]],
        **options: Any,  # noqa: ANN401
    ) -> tuple[Answer, RetrievalResult]:
        """As ``ask``, together with the retrieval that the answer was written from."""
        return self.pipeline().ask(question, self._request(**_named(options)))

    def stream(
        self,
        question: str | Sequence[Mapping[str, str]],
        **options: Any,  # noqa: ANN401
    ) -> tuple[RetrievalResult, Iterator[AnswerEvent]]:
        """The retrieval, and the events of the answer: deltas, then exactly one terminal event."""
        return self.pipeline().stream(question, self._request(**_named(options)))

    def ledger(self, answer: Answer, result: RetrievalResult, **options: Any) -> dict[str, Any]:  # noqa: ANN401
        """All that an answer was made from as one JSON value; ``options`` are those that it was asked with."""
        return ledger.entry(answer, result, self.pipeline().answer_options(self._request(**_named(options))))

    def why_not(self, query: str, document: str, **options: Any) -> WhyNot:  # noqa: ANN401
        """At which stage a document (or chunk) was lost for a question, and by how much."""
        return self.pipeline().why_not(query, document, self._request(**_named(options)))

    def set_access(self, document: str, readable_by: Sequence[str] | None) -> None:
        """Change who may read a document and the files inside it; nothing is embedded again. ``None`` is everyone.

        Raises ``NotAllowedError`` for a principal who is not the owner, whether the document exists or not.
        """
        self._require_owner()
        store = self._open_store(create=False)
        with store.write(timeout=self.settings.values.write_timeout_s) as writer:
            with store.read() as snapshot:
                states = snapshot.states(self.scope)
            held = [id_ for id_ in within(states).get(DocumentId(document), ()) if indexed(states[id_])]
            for id_ in (DocumentId(document), *held):
                writer.set_access(id_, None if readable_by is None else frozenset(readable_by))
            writer.commit()

    def _require_owner(self) -> None:
        """Access lists guard reading; changing what there is to read is the owner's alone."""
        if not self.principal.owner:
            raise NotAllowedError(
                f"{self.principal.id!r} may not change the knowledge base {self.name!r}",
                hint="its owner can: leave out --as and --groups, or the principal",
            )

    def read(self) -> Any:  # noqa: ANN401
        """A snapshot of the store, for reading documents and chunks: a context manager."""
        return self._open_store(create=False).read()

    def create(self) -> None:
        """Make the kb exist, empty, so that other calls find it; does nothing when it does."""
        self._open_store(create=True)

    def store(self) -> Store:
        """The store of an existing kb; raises ``NotFoundError``."""
        return self._open_store(create=False)

    @property
    def folder(self) -> Path | None:
        """Where the kb's files are; ``None`` for a store in memory, or before it is opened."""
        return self._folder

    def binding(self) -> Binding | None:
        """What the kb is bound to; ``None`` before the first index."""
        with self._open_store(create=False).read() as snapshot:
            return snapshot.binding(self.scope)

    def embedder(self) -> Embedder:
        """The embedder of this kb, checked against its space; see :func:`seamline.spaces.embedder_for`."""
        try:
            bound = self.binding()
        except NotFoundError:  # the one that a new kb would have
            bound = None
        return self._embedder_of(bound)

    def calibration(self) -> calibration.Calibration | None:
        """What was calibrated for this kb; ``None`` when nothing was. Raises ``CalibrationError``."""
        if self.settings.values.calibration == "off":
            return None
        bound = self.binding()
        return calibration.load(self._folder, bound.space_fingerprint if bound else None)

    def pipeline(self) -> Pipeline:
        """The online half over this kb, one for all threads; raises ``NotFoundError`` when nothing was ever indexed."""
        with self._opening:
            return self._pipeline or self._compose()

    def _compose(self) -> Pipeline:
        store = self._open_store(create=False)
        self._traces = TraceStore(self._folder / "traces.sqlite") if self._folder is not None else None
        self._pipeline = Pipeline(
            store,
            self.settings,
            embedder=self._embedder_of,
            analyzer=self._analyzer,
            traces=self._traces,
            calibration=self.calibration(),
            corpus=str(self._folder.name if self._folder is not None else id(store)),
        )
        return self._pipeline

    def _embedder_of(self, bound: Binding | None) -> Embedder:
        space = bound.space_fingerprint if bound is not None else None
        with self._opening:
            if space not in self._embedders:
                self._embedders[space] = spaces.embedder_for(self.settings.values, bound, self.home)
            return self._embedders[space]

    def _open_store(self, *, create: bool) -> Store:
        with self._opening:
            return self._store or self._opened(create=create)

    def _opened(self, *, create: bool) -> Store:
        values = self.settings.values
        if values.store == "memory":
            if not create:
                raise NotFoundError(f"nothing was indexed into {self.name!r} yet", hint="call index(...) first")
            kind, self._folder = "memory", None
        else:
            record = Catalogue(self.home).open_kb(self.workspace, self.name, create=create, store=values.store)
            kind, self._folder = record.store, record.folder
        make = partial(registry.factory("stores", kind), values.mapping(), workspace=self.workspace, kb=self.name)
        folder = self._folder
        if kind == "embedded" and folder is not None:
            self._store = GenerationalStore(folder, lambda place: make(folder=place), pinned=self._generation)
        elif self._generation is not None:
            raise UnavailableError(f"the store {kind!r} has no index generations", hint="leave --generation out")
        else:
            self._store = make(folder=folder)
        return self._store

    def _request(
        self,
        limit: int | None = None,
        mode: str | None = None,
        rerank: Literal["auto", "off", "required"] = "auto",
        query_language: str = "auto",
        document_filter: Sequence[str] | None = None,
        metadata_filter: Filter | None = None,
        overrides: Mapping[str, object] | None = None,
    ) -> Request:
        return Request(
            principal=self.principal,
            mode=mode,
            limit=limit,
            rerank=rerank,
            query_language=query_language,
            document_filter=None if document_filter is None else frozenset(map(DocumentId, document_filter)),
            metadata_filter={key: _accepted(value) for key, value in (metadata_filter or {}).items()},
            overrides=overrides or {},
        )


def _accepted(value: MetadataValue | Sequence[MetadataValue]) -> frozenset[MetadataValue]:
    return frozenset([value]) if isinstance(value, str | int | float | bool) else frozenset(value)


_OPTIONS = frozenset({"limit", "mode", "rerank", "query_language", "document_filter", "metadata_filter", "overrides"})


def _named(options: dict[str, Any]) -> dict[str, Any]:
    unknown = options.keys() - _OPTIONS
    if unknown:
        raise QueryError(f"unknown option: {', '.join(sorted(unknown))}", hint=f"known: {', '.join(sorted(_OPTIONS))}")
    return options
