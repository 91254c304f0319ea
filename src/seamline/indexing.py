"""COMPOSITION ROOT, offline: source -> parse -> chunk -> analyze and embed -> store.

``Indexer.sync`` makes a knowledge base equal to a source. What it may rely on: the known ids are read before
the listing; nothing is removed unless the listing is complete; each batch of documents is one commit over
both legs and the ingest states, so that a crash at any point leaves the last commit, and the next sync goes
on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from seamline.deriving import DeadLetters, Derivation
from seamline.embed import canary
from seamline.errors import SeamlineError
from seamline.fingerprint import fingerprint, sha256_bytes, space_fingerprint
from seamline.ingest import safety
from seamline.ingest.plan import Plan, Ready, Work, gone_from, indexed, same_content, within
from seamline.ports import (
    Analyzer,
    AttachmentReader,
    Chunker,
    Embedder,
    EntryReader,
    Source,
    Store,
    Writer,
)
from seamline.types import (
    Binding,
    Chunked,
    Document,
    DocumentId,
    Failure,
    Fingerprint,
    IngestState,
    IngestStatus,
    ParseStatus,
    Progress,
    Scope,
    SourceEntry,
    SyncOptions,
    SyncReport,
)

BATCH_CHUNKS = 256
BATCH_CHARS = 8_000_000
INDEXABLE = frozenset({ParseStatus.OK, ParseStatus.TRUNCATED})


class Indexer:
    """The offline half, composed: everything it uses is handed in."""

    def __init__(
        self,
        store: Store,
        scope: Scope,
        *,
        embedder: Embedder,
        analyzer: Analyzer,
        chunker: Chunker,
        reader: EntryReader,
    ) -> None:
        self._store = store
        self._scope = scope
        self._embedder = embedder
        self._analyzer = analyzer
        self._chunker = chunker
        self._reader = reader
        self.space = embedder.space
        self.derivation = Derivation(store, scope, embedder=embedder, analyzer=analyzer)
        self._space = space_fingerprint(embedder.space)

    def recipe(self) -> Fingerprint:
        """Identity of everything that decides what is stored for given bytes."""
        parts = {
            "parsers": dict(self._reader.recipe),
            "chunker": self._chunker.fingerprint,
            "analyzer": self._analyzer.fingerprint,
            "space": self._space,
        }
        return fingerprint("recipe", parts)

    def sync(
        self, source: Source, options: SyncOptions, progress: Callable[[Progress], None] = lambda _: None
    ) -> SyncReport:
        """Make the kb equal to the source.

        Raises ``ListingError``, ``IdCollisionError`` and ``MassDeletionError`` before anything is changed,
        and ``SpaceMismatchError`` when the kb holds vectors of another space. A document that cannot be
        indexed is a ``Failure`` of the report; with ``strict`` it stops the run after the last full batch.
        """
        report = SyncReport(source=source.name, dry_run=options.dry_run)
        started = time.perf_counter()
        if options.dry_run:
            self._plan(source, options, report, progress).preview()
        else:
            # The lock comes first: what is known must still be true when it is acted on.
            with self._store.write(timeout=options.write_timeout_s) as writer:
                self._plan(source, options, report, progress).execute(writer)
        report.seconds["total"] = time.perf_counter() - started
        return report

    def _plan(
        self, source: Source, options: SyncOptions, report: SyncReport, progress: Callable[[Progress], None]
    ) -> _Run:
        """What is known, then the whole listing, then what must be refused."""
        began = time.perf_counter()
        with self._store.read() as snapshot:
            states = snapshot.states(self._scope)
            bound = snapshot.binding(self._scope)
        known = {id_: state for id_, state in states.items() if state.source == source.name}
        entries = list(source.entries())
        safety.refuse_collisions(entries, states, source.name)
        gone = gone_from(known, {entry.id for entry in entries})
        safety.refuse_mass_deletion(gone, len(known), options)
        report.seconds["list"] = time.perf_counter() - began
        return _Run(self, source, options, report, progress, Plan(entries, known, gone, bound, within(known)))

    def binding(self, bound: Binding | None) -> Binding:
        """What the kb is bound to from now on; the canaries of the same space are kept, else embedded."""
        if bound is not None and bound.space_fingerprint == self._space:
            return replace(
                bound,
                chunker_fingerprint=self._chunker.fingerprint,
                analyzer_fingerprint=self._analyzer.fingerprint,
            )
        return Binding(
            space=self._embedder.space,
            space_fingerprint=self._space,
            chunker_fingerprint=self._chunker.fingerprint,
            analyzer_fingerprint=self._analyzer.fingerprint,
            canaries=canary.record(self._embedder),
        )

    def read_and_chunk(self, entry: SourceEntry, data: bytes) -> list[tuple[Document, Chunked]]:
        """Parse and chunk one entry's bytes, and the files inside it; no chunks where a status is not indexable."""
        if isinstance(self._reader, AttachmentReader):
            documents = self._reader.read_all(entry, data)
        else:
            documents = [self._reader.read(entry, data)]
        return [
            (document, self._chunker.chunk(document) if document.status in INDEXABLE else Chunked(children=()))
            for document in documents
        ]

    def generation(self) -> int:
        """The number of the last commit."""
        with self._store.read() as snapshot:
            return snapshot.statistics(self._scope).generation

    def readable_by(self, document_id: DocumentId) -> frozenset[str] | None:
        """The access list that a stored document has now."""
        with self._store.read() as snapshot:
            return snapshot.document(self._scope, document_id).readable_by


class _Run:
    """The state of one sync: which entries changed, and the batch that is being gathered."""

    def __init__(
        self,
        indexer: Indexer,
        source: Source,
        options: SyncOptions,
        report: SyncReport,
        progress: Callable[[Progress], None],
        plan: Plan,
    ) -> None:
        self._indexer, self._source, self._options, self._report = indexer, source, options, report
        self._progress, self._recipe, self._plan = progress, indexer.recipe(), plan
        self._done = 0
        self._uncommitted = False

    def preview(self) -> None:
        """Fill the report with what a sync would do; reads bytes only where the revision changed."""
        for entry in self._plan.entries:
            state = self._plan.known.get(entry.id)
            if state is not None and (self._unchanged(entry, state) or self._same_bytes(entry, state)):
                if state.status is IngestStatus.FAILED:
                    self._fail(entry.id, state.reason or "failed before", retryable=state.retryable)
                else:
                    self._report.skipped.append(entry.id)
            else:
                (self._report.replaced if indexed(state) else self._report.added).append(entry.id)
        self._report.removed.extend(self._plan.gone)

    def execute(self, writer: Writer) -> None:
        """Store what changed, batch by batch, then remove what vanished; commit nothing when nothing changed."""
        work = []
        for entry in self._plan.entries:
            state = self._plan.known.get(entry.id)
            if state is not None and self._unchanged(entry, state):
                self._keep(writer, entry, state)
            else:
                work.append(Work(entry, state))
        if work:
            writer.bind(self._indexer.binding(self._plan.bound))
            self._uncommitted = True
        for batch in self._batches(writer, work):
            self._store_batch(writer, batch)
        self._remove(writer)
        self._report.generation = writer.commit() if self._uncommitted else self._indexer.generation()

    def _unchanged(self, entry: SourceEntry, state: IngestState | None) -> bool:
        """A cheap answer from the listing alone; a failure that may pass is always tried again."""
        return (
            state is not None
            and state.revision == entry.revision
            and state.recipe == self._recipe
            and state.version == entry.version
            and not (state.status is IngestStatus.FAILED and state.retryable)
        )

    def _same_bytes(self, entry: SourceEntry, state: IngestState) -> bool:
        return state.recipe == self._recipe and state.content_sha256 == sha256_bytes(self._source.read(entry))

    def _keep(self, writer: Writer, entry: SourceEntry, state: IngestState) -> None:
        if state.status is IngestStatus.FAILED:
            self._fail(entry.id, state.reason or "failed before", retryable=False)
            return
        self._report.skipped.append(entry.id)
        self._share(writer, entry)
        for id_ in self._plan.within.get(entry.id, ()):
            held = self._plan.known[id_]
            if held.status is IngestStatus.FAILED:
                self._report.failed.append(
                    Failure(document_id=id_, reason=held.reason or "failed before", retryable=False)
                )
        self._step(IngestStatus.SKIPPED, entry.id)

    def _share(self, writer: Writer, entry: SourceEntry) -> None:
        wanted = self._options.readable_by if self._options.readable_by is not None else entry.readable_by
        if wanted is None:
            return
        for id_ in (entry.id, *self._plan.within.get(entry.id, ())):
            if indexed(self._plan.known.get(id_)) and self._indexer.readable_by(id_) != wanted:
                writer.set_access(id_, wanted)
                self._uncommitted = True
                self._report.access_changed += 1

    def _batches(self, writer: Writer, work: Sequence[Work]) -> Iterator[list[Ready]]:
        batch: list[Ready] = []
        chunks = characters = 0
        for item in work:
            prepared = self._prepare(writer, item)
            batch.extend(prepared)
            chunks += sum(len(ready.chunks) for ready in prepared)
            characters += sum(len(ready.document.text) for ready in prepared)
            if len(batch) >= self._options.commit_batch or chunks >= BATCH_CHUNKS or characters >= BATCH_CHARS:
                yield batch
                batch, chunks, characters = [], 0, 0
        if batch:
            yield batch

    def _prepare(self, writer: Writer, item: Work) -> list[Ready]:
        """Read, parse and chunk one entry, with the files inside it; none when it turned out unchanged or failed."""
        entry, known = item.entry, item.known
        began = time.perf_counter()
        self._step(IngestStatus.PARSING, entry.id, advance=False)
        state = IngestState(
            document_id=entry.id,
            source=self._source.name,
            status=IngestStatus.COMMITTED,
            revision=entry.revision,
            recipe=self._recipe,
            version=entry.version,
        )
        try:
            data = self._source.read(entry)
            state = replace(state, content_sha256=sha256_bytes(data))
            safety.refuse_version_conflict(state, known)
            if same_content(state, known) and not entry.metadata:
                writer.record([state])
                self._uncommitted = True
                self._keep(writer, entry, state)
                return []
            read = self._indexer.read_and_chunk(entry, data)
        except SeamlineError as error:
            if self._options.strict:
                raise
            self._refuse(writer, state, known, error.message, retryable=error.retryable)
            return []
        finally:
            self._report.seconds["parse"] = self._report.seconds.get("parse", 0.0) + time.perf_counter() - began
        return self._sorted_out(writer, item, state, read)

    def _sorted_out(
        self, writer: Writer, item: Work, state: IngestState, read: Sequence[tuple[Document, Chunked]]
    ) -> list[Ready]:
        """What of an entry and the files inside it goes into the index; the rest is refused, what vanished removed."""
        ready: list[Ready] = []
        self._drop_inside(writer, item.entry.id, keep={document.id for document, _ in read})
        readable_by = self._readable_by(item.entry, item.known)
        for document, chunked in read:
            inside = document.id != item.entry.id
            own = replace(state, document_id=document.id, content_sha256=document.provenance.content_sha256)
            known = self._plan.known.get(document.id)
            if document.status not in INDEXABLE:
                reason = f"{document.status.value}: {document.status_reason or 'no reason given'}"
                # A picture in a message is no failure of the message.
                if not (inside and document.status is ParseStatus.UNSUPPORTED):
                    self._refuse(writer, own, known, reason)
                continue
            self._report.truncated += document.status is ParseStatus.TRUNCATED
            self._report.clamped += chunked.clamped
            ready.append(Ready(replace(document, readable_by=readable_by), chunked.children, own, not indexed(known)))
        return ready

    def _drop_inside(self, writer: Writer, id_: DocumentId, keep: set[DocumentId]) -> None:
        """Remove documents that were inside an entry and are not any more."""
        stale = [known for known in self._plan.within.get(id_, ()) if known not in keep]
        if stale:
            writer.remove([known for known in stale if indexed(self._plan.known[known])])
            writer.record([replace(self._plan.known[known], status=IngestStatus.REMOVED) for known in stale])
            self._uncommitted = True
            self._report.removed.extend(stale)

    def _readable_by(self, entry: SourceEntry, known: IngestState | None) -> frozenset[str] | None:
        """A replaced document keeps its access list unless a new one is given, also past a failure between."""
        readable_by = self._options.readable_by if self._options.readable_by is not None else entry.readable_by
        return readable_by if readable_by is not None else self._access(entry.id, known)

    def _access(self, document_id: DocumentId, known: IngestState | None) -> frozenset[str] | None:
        if indexed(known):
            return self._indexer.readable_by(document_id)
        return known.readable_by if known is not None else None

    def _store_batch(self, writer: Writer, batch: Sequence[Ready]) -> None:
        self._step(IngestStatus.EMBEDDING, batch[0].document.id, advance=False)
        derived = self._indexer.derivation.derive(batch, self._report)
        began = time.perf_counter()
        stored = []
        for ready, chunks in zip(batch, derived, strict=True):
            if isinstance(chunks, DeadLetters):
                reason = f"{chunks.chunks} of {chunks.of} chunks could not be embedded: {chunks.reason}"
                self._refuse(writer, ready.state, self._plan.known.get(ready.document.id), reason, retryable=True)
                continue
            writer.put(ready.document, chunks)
            stored.append(ready)
        writer.record([ready.state for ready in stored])
        self._report.generation = writer.commit()
        self._report.seconds["store"] = self._report.seconds.get("store", 0.0) + time.perf_counter() - began
        for ready in stored:
            (self._report.added if ready.is_new else self._report.replaced).append(ready.document.id)
            self._report.chunks += len(ready.chunks)
            for chunk in ready.chunks:
                language = chunk.language or "und"
                self._report.languages[language] = self._report.languages.get(language, 0) + 1
                self._report.uncovered_chunks += not self._indexer.space.covers(chunk.language)
            self._step(IngestStatus.COMMITTED, ready.document.id)

    def _remove(self, writer: Writer) -> None:
        gone, known = self._plan.gone, self._plan.known
        if not gone:
            return
        writer.remove([id_ for id_ in gone if indexed(known[id_])])
        writer.record([replace(known[id_], status=IngestStatus.REMOVED) for id_ in gone])
        self._uncommitted = True
        self._report.removed.extend(gone)

    def _refuse(
        self, writer: Writer, state: IngestState, known: IngestState | None, reason: str, *, retryable: bool = False
    ) -> None:
        """Record a failure. An older text of a document that can no longer be read must not go on answering.

        A fault that may pass (a file being written) keeps the last good text: the next sync decides.
        """
        if indexed(known) and retryable:
            self._fail(state.document_id, reason, retryable=True)
            return
        readable_by = self._access(state.document_id, known)
        if indexed(known):
            writer.remove([state.document_id])
        self._drop_inside(writer, state.document_id, keep=set())
        failed = replace(state, status=IngestStatus.FAILED, reason=reason, retryable=retryable, readable_by=readable_by)
        writer.record([failed])
        self._uncommitted = True
        self._fail(state.document_id, reason, retryable=retryable)

    def _fail(self, document_id: DocumentId, reason: str, *, retryable: bool) -> None:
        self._report.failed.append(Failure(document_id=document_id, reason=reason, retryable=retryable))
        self._step(IngestStatus.FAILED, document_id)

    def _step(self, status: IngestStatus, document_id: DocumentId, *, advance: bool = True) -> None:
        self._done += advance
        self._progress(
            Progress(
                done=self._done,
                total=len(self._plan.entries),
                status=status,
                document_id=document_id,
                chunks=self._report.chunks,
            )
        )
