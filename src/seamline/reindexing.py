"""COMPOSITION ROOT, offline: stored text -> chunk -> analyze and embed -> a second index generation.

``Reindexer.build`` makes a generation equal to the live one's documents, batch by batch, each one commit: killed at
any point, the next call goes on from there. ``swap`` does the rest with the kb's write lock held and makes the
generation live. Going back to a former one is the same swap, so that no write is lost and no deleted document returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from seamline.embed import canary
from seamline.errors import SettingsError, StoreError
from seamline.fingerprint import fingerprint, sha256_text, space_fingerprint
from seamline.ports import Analyzer, Chunker, Embedder, EntryReader, IndexedChunk, Snapshot, Store, Writer
from seamline.store.embedded.writer import EmbeddedWriter
from seamline.store.generations import GenerationalStore
from seamline.types import Binding, Document, DocumentId, Fingerprint, IngestStatus, Scope

BATCH_DOCUMENTS = 16
MAX_ROUNDS = 5
FEW = 50
"""Documents that a swap may derive with the write lock held; more are derived before, while others write."""


@dataclass(slots=True)
class Plan:
    """What a generation lacks: documents to derive, access lists to set, documents to remove."""

    derive: list[DocumentId] = field(default_factory=list)
    access: dict[DocumentId, frozenset[str] | None] = field(default_factory=dict)
    remove: list[DocumentId] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.derive) + len(self.access) + len(self.remove)


class Reindexer:
    """Re-derives a kb from its stored text; everything it uses is handed in."""

    def __init__(
        self,
        store: GenerationalStore,
        scope: Scope,
        *,
        embedder: Callable[[], Embedder],
        analyzer: Analyzer,
        chunker: Chunker,
        reader: EntryReader,
        write_timeout_s: float,
    ) -> None:
        """``embedder`` is called when there is something to derive."""
        self._store = store
        self._scope = scope
        self._embedder = embedder
        self._analyzer = analyzer
        self._chunker = chunker
        self._parsers = dict(reader.recipe)
        self._timeout = write_timeout_s

    def build(self, progress: Callable[[int, int], None] = lambda _done, _total: None) -> int:
        """Build the next generation, or go on with it; its number. ``progress`` is told documents done and in all.

        Searches and writes go on meanwhile. Raises ``StoreError`` when writes are faster than it for too long.
        """
        number = self._begun()
        target = self._store.generation(number)
        for _ in range(MAX_ROUNDS):
            plan = self._plan(target)
            if not plan:
                return number
            self._follow(target, plan, progress)
        if len(self._plan(target)) > FEW:
            raise StoreError(
                "the knowledge base changes faster than it can be derived again",
                hint="what was derived is kept; stop the writers and run the same command again",
            )
        return number

    def swap(self, number: int) -> None:
        """Make a generation live, equal in documents to the one that is.

        Raises:
            SettingsError: documents changed, and the settings are not those that the generation was derived with.
            NotFoundError: there is no such generation.
            StoreBusyError: another writer held the lock for too long.
        """
        target = self._store.generation(number)
        with self._store.holding_live(self._timeout) as (live, _):
            pointer = self._store.pointer()
            if number == pointer.live:
                return
            plan = self._plan(target, live)
            if plan.derive:
                self._require_recipe(target)
            self._follow(target, plan, lambda _done, _total: None, live)
            self._copy_states(live, target)
            previous = tuple(known for known in (*pointer.previous, pointer.live) if known != number)
            self._store.point(
                replace(
                    pointer,
                    live=number,
                    previous=previous,
                    next=None if pointer.next == number else pointer.next,
                )
            )

    # --- what there is to do ---

    def _begun(self) -> int:
        wanted = self._binding()
        pointer = self._store.pointer()
        if pointer.next is not None:
            with self._store.generation(pointer.next).read() as snapshot:
                bound = snapshot.binding(self._scope)
            if bound is not None and _recipe_of(bound) == _recipe_of(wanted):
                return pointer.next
        number = self._store.begin()
        with self._store.generation(number).write(timeout=self._timeout) as writer:
            writer.bind(wanted)
            writer.commit()
        return number

    def _binding(self) -> Binding:
        embedder = self._embedder()
        return Binding(
            space=embedder.space,
            space_fingerprint=space_fingerprint(embedder.space),
            chunker_fingerprint=self._chunker.fingerprint,
            analyzer_fingerprint=self._analyzer.fingerprint,
            canaries=canary.record(embedder),
        )

    def _plan(self, target: Store, live: Store | None = None) -> Plan:
        """Both generations' documents side by side, in order of id; only ids are kept."""
        plan = Plan()
        with (live or self._store).read() as source, target.read() as built:
            for wanted, found in _paired(source.documents(self._scope), built.documents(self._scope)):
                if wanted is None and found is not None:
                    plan.remove.append(found.id)
                elif wanted is not None and (found is None or replace(found, readable_by=wanted.readable_by) != wanted):
                    plan.derive.append(wanted.id)
                elif wanted is not None and found is not None and found.readable_by != wanted.readable_by:
                    plan.access[wanted.id] = wanted.readable_by
        return plan

    def _follow(
        self, target: Store, plan: Plan, progress: Callable[[int, int], None], live: Store | None = None
    ) -> None:
        if plan.remove or plan.access:
            with target.write(timeout=self._timeout) as writer:
                writer.remove(plan.remove)
                for document_id, readable_by in plan.access.items():
                    writer.set_access(document_id, readable_by)
                writer.commit()
        for start in range(0, len(plan.derive), BATCH_DOCUMENTS):
            ids = plan.derive[start : start + BATCH_DOCUMENTS]
            # The lock first: a deletion that comes now waits for the batch, and then finds its documents here too.
            with target.write(timeout=self._timeout) as writer, (live or self._store).read() as source:
                self._derive(writer, source, ids)
                writer.commit()
            progress(min(start + BATCH_DOCUMENTS, len(plan.derive)), len(plan.derive))

    # --- deriving ---

    def _derive(self, writer: Writer, source: Snapshot, ids: Sequence[DocumentId]) -> None:
        scope = replace(self._scope, document_filter=frozenset(ids))
        embedder = self._embedder()
        template = embedder.space.template
        for document in source.documents(scope):
            chunks = self._chunker.chunk(document).children
            texts = [chunk.rendered(template) for chunk in chunks]
            vectors = embedder.embed_passages(texts) if texts else ()
            derived = [
                IndexedChunk(
                    chunk=chunk,
                    text_sha256=sha256_text(text),
                    terms=self._analyzer.terms(text, chunk.language),
                    vectors={"child": vector},
                )
                for chunk, text, vector in zip(chunks, texts, vectors, strict=True)
            ]
            writer.put(document, derived)

    def _require_recipe(self, target: Store) -> None:
        with target.read() as snapshot:
            bound = snapshot.binding(self._scope)
        if bound is None or _recipe_of(bound) != _recipe_of(self._binding()):
            raise SettingsError(
                "documents changed since this index generation was live, and the settings are not those it was "
                "derived with",
                hint="give the embedder and chunk settings of then, or run `seamline reindex` with those you want",
            )

    def _copy_states(self, live: Store, target: Store) -> None:
        """Ingest states, so that the next sync skips what is unchanged; the last commit is numbered beyond the live."""
        with live.read() as source:
            states = source.states(self._scope)
            before = source.binding(self._scope)
            generation = source.statistics(self._scope).generation
        with target.read() as snapshot:
            bound = snapshot.binding(self._scope)
            gone = [state for key, state in snapshot.states(self._scope).items() if key not in states]
        renamed: dict[Fingerprint | None, Fingerprint] = {}
        if before is not None and bound is not None:
            renamed[self._recipe(before)] = self._recipe(bound)
        with target.write(timeout=self._timeout) as writer:
            writer.record([replace(state, status=IngestStatus.REMOVED) for state in gone])
            writer.record([replace(state, recipe=renamed.get(state.recipe, state.recipe)) for state in states.values()])
            if isinstance(writer, EmbeddedWriter):
                writer.commit(at_least=generation + 1)
            else:
                writer.commit()

    def _recipe(self, bound: Binding) -> Fingerprint:
        """As :meth:`seamline.indexing.Indexer.recipe`, of what a kb is bound to."""
        parts = {
            "parsers": self._parsers,
            "chunker": bound.chunker_fingerprint,
            "analyzer": bound.analyzer_fingerprint,
            "space": bound.space_fingerprint,
        }
        return fingerprint("recipe", parts)


def _recipe_of(bound: Binding) -> tuple[Fingerprint, ...]:
    return (bound.space_fingerprint, bound.chunker_fingerprint, bound.analyzer_fingerprint)


def _paired(left: Iterator[Document], right: Iterator[Document]) -> Iterator[tuple[Document | None, Document | None]]:
    """Two ordered streams of documents, those of one id together."""
    one, other = next(left, None), next(right, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one.id < other.id):
            yield one, None
            one = next(left, None)
        elif one is None or other.id < one.id:
            yield None, other
            other = next(right, None)
        else:
            yield one, other
            one, other = next(left, None), next(right, None)
