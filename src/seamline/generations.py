"""Index generations of a knowledge base: build another one, compare it, make it live, go back, forget the old."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from seamline import knowledge_base, spaces
from seamline.analyze.text import create as create_analyzer
from seamline.errors import NotFoundError, UnavailableError
from seamline.indexing import chunker_for
from seamline.ingest.reader import EntryReader
from seamline.ingest.sandbox import ParseLimits
from seamline.reindexing import Reindexer
from seamline.store.generations import GenerationalStore

if TYPE_CHECKING:
    from seamline.knowledge_base import KnowledgeBase
    from seamline.ports import Embedder
    from seamline.types import Binding


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One index generation. ``role`` is ``live``, ``next`` or ``previous``."""

    number: int
    role: str
    documents: int
    chunks: int
    space: str | None
    chunker: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A question whose passages differ between two generations, as document ids with their spans, in order."""

    query: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    overlap: float


def listed(kb: KnowledgeBase) -> list[Generation]:
    """Every generation of the kb, by number."""
    store = _of(kb)
    pointer = store.pointer()
    found = []
    for number in sorted({pointer.live, *pointer.others()}):
        with store.generation(number).read() as snapshot:
            statistics, bound = snapshot.statistics(kb.scope), snapshot.binding(kb.scope)
        role = "live" if number == pointer.live else "next" if number == pointer.next else "previous"
        found.append(
            Generation(
                number=number,
                role=role,
                documents=statistics.documents,
                chunks=statistics.chunks,
                space=f"{bound.space.provider} {bound.space.model} {bound.space.precision}" if bound else None,
                chunker=bound.chunker_fingerprint if bound else None,
            )
        )
    return found


def build(kb: KnowledgeBase, progress: Callable[[int, int], None] = lambda _done, _total: None) -> int:
    """Derive the kb's documents again with the settings as they are, beside the live generation; its number.

    Resumable: called again with the same settings it goes on. Searches and writes go on meanwhile.
    """
    with _reindexer(kb, None) as reindexer:
        return reindexer.build(progress)


def swap(kb: KnowledgeBase, number: int | None = None) -> int:
    """Make a generation live: the one that was built, unless a number is given. Raises ``NotFoundError``."""
    chosen = number if number is not None else _of(kb).pointer().next
    if chosen is None:
        raise NotFoundError("no index generation is waiting to be swapped in", hint="`seamline reindex` builds one")
    with _of(kb).generation(chosen).read() as snapshot:
        bound = snapshot.binding(kb.scope)
    with _reindexer(kb, bound) as reindexer:
        reindexer.swap(chosen)
    return chosen


def revert(kb: KnowledgeBase) -> int:
    """Make the generation live that was before. What was written since is derived into it first."""
    previous = _of(kb).pointer().previous
    if not previous:
        raise NotFoundError("no former index generation is kept", hint="`seamline generations list` shows all")
    return swap(kb, previous[-1])


def prune(kb: KnowledgeBase) -> list[int]:
    """Forget former generations; their numbers. There is no going back after that."""
    return _of(kb).prune()


def diff(kb: KnowledgeBase, before: int, after: int, queries: Sequence[str], limit: int | None) -> list[Changed]:
    """The questions whose passages are not the same in two generations."""
    changed = []
    with _pinned(kb, before) as one, _pinned(kb, after) as other:
        for query in queries:
            left, right = _places(one, query, limit), _places(other, query, limit)
            if left != right:
                union = len({*left, *right})
                overlap = len({*left} & {*right}) / union
                changed.append(Changed(query=query, before=left, after=right, overlap=overlap))
    return changed


def _places(kb: KnowledgeBase, query: str, limit: int | None) -> tuple[str, ...]:
    chunks = [passage.chunk for passage in kb.retrieve(query, limit=limit).passages]
    return tuple(f"{chunk.document_id}:{chunk.char_start}-{chunk.char_end}" for chunk in chunks)


def _pinned(kb: KnowledgeBase, number: int) -> KnowledgeBase:
    return knowledge_base.KnowledgeBase(
        kb.name,
        home=kb.home,
        workspace=kb.workspace,
        principal=replace(kb.principal),
        settings=kb.settings.override({"embedding_provider": "auto"}),
        generation=number,
    )


@contextmanager
def _reindexer(kb: KnowledgeBase, bound: Binding | None) -> Iterator[Reindexer]:
    values = kb.settings.values

    def embedder() -> Embedder:
        # For a generation that is there, its own; for a new one, the one configured, or else the kb's.
        if bound is not None:
            return spaces.embedder_for(values.model_copy(update={"embedding_provider": "auto"}), bound, kb.home)
        if values.embedding_provider == "auto":
            return kb.embedder()
        return spaces.embedder_for(values, None, kb.home)

    with EntryReader(ParseLimits.of(values.mapping())) as reader:
        yield Reindexer(
            _of(kb),
            kb.scope,
            embedder=embedder,
            analyzer=create_analyzer(values.mapping()),
            chunker=chunker_for(values.mapping()),
            reader=reader,
            write_timeout_s=values.write_timeout_s,
        )


def _of(kb: KnowledgeBase) -> GenerationalStore:
    store = kb.store()
    if not isinstance(store, GenerationalStore):
        raise UnavailableError(
            "this kb's store has no index generations", hint="copy the kb with `seamline kb copy`, or index anew"
        )
    return store
