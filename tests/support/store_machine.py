"""Drives a store with random changes and reads, beside a model that is nothing but a dictionary."""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from seamline.conformance.store_case import (
    OWNER,
    TOLERANCE,
    binding,
    bm25_scores,
    cosine,
    document,
    indexed,
    query,
    reader,
    scope,
    state,
    vector_of,
)
from seamline.folding import holds_phrases
from seamline.ports import IndexedChunk, Snapshot, Store, Writer
from seamline.store.digest import digest
from seamline.types import Chunk, ChunkId, Document, DocumentId, Hit, IngestState, IngestStatus, KeywordQuery, Scope

if TYPE_CHECKING:
    from seamline.ports import Vector

WORDS = ("red", "green", "blue", "stone", "absent")
IDS = st.sampled_from(["a", "b", "c", "d", "é/'%_"])
LINES = st.lists(
    st.sampled_from(
        ["red", "green", "red green", "green red", "red red blue", "stone", "blue stone red green", "green blue blue"]
    ),
    min_size=1,
    max_size=4,
)
READERS = st.sampled_from([None, frozenset[str](), frozenset({"ana"}), frozenset({"staff", "ana"})])
METADATA = st.fixed_dictionaries({}, optional={"year": st.integers(1, 3), "draft": st.booleans()})
DEPTHS = st.one_of(st.none(), st.integers(1, 6))
SCOPES = st.builds(
    scope,
    st.sampled_from([OWNER, OWNER, reader("ana"), reader("bob", "staff"), reader("eve")]),
    documents=st.one_of(st.none(), st.none(), st.lists(IDS, max_size=3)),
    metadata=st.fixed_dictionaries(
        {}, optional={"year": st.frozensets(st.integers(1, 3), min_size=1), "draft": st.just(frozenset({True}))}
    ),
)
QUERIES = st.builds(
    query,
    st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join),
    phrases=st.sampled_from([(), (), (), ("red green",), ("stone",)]),
    excluded=st.sampled_from([(), (), (), ("blue",)]),
)
VECTORS = st.sampled_from(["asked", "child:red", "child:red green"]).map(vector_of)
AFTER_COMMIT = (
    (scope(), query("red green"), 2),
    (scope(reader("ana")), query("blue stone"), 1),
    (scope(metadata={"year": frozenset({1, 2})}), query("red green", phrases=("red green",)), 1),
)
"""What is searched for after every commit, whatever else is."""


@dataclass
class Model:
    """What a kb holds, by document id."""

    filed: dict[DocumentId, tuple[Document, list[IndexedChunk]]] = field(default_factory=dict)
    states: dict[DocumentId, IngestState] = field(default_factory=dict)

    def copy(self) -> Model:
        return Model(dict(self.filed), dict(self.states))

    def admitted(self, of: Scope) -> dict[DocumentId, tuple[Document, list[IndexedChunk]]]:
        return {
            key: (made, chunks)
            for key, (made, chunks) in sorted(self.filed.items())
            if of.admits(key, made.readable_by, made.metadata)
        }

    def chunks(self, of: Scope) -> dict[ChunkId, IndexedChunk]:
        found = {item.chunk.id: item for _, chunks in self.admitted(of).values() for item in chunks}
        return dict(sorted(found.items()))

    def digest(self, of: Scope) -> str:
        rows = (
            (item.chunk, {term: item.terms.count(term) for term in item.terms}, item.vectors)
            for item in self.chunks(of).values()
        )
        return digest((made for made, _ in self.admitted(of).values()), rows)


class StoreMachine(RuleBasedStateMachine):
    """Subclasses say how a store is made and reopened."""

    def make(self, folder: Path) -> Store:
        raise NotImplementedError

    def reopened(self, store: Store, folder: Path) -> Store:
        """The store itself, where nothing outlives it."""
        del folder
        return store

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = self.make(Path(self.folder.name))
        self.committed, self.draft = Model(), Model()
        self.writing: ExitStack | None = None
        self.kept: tuple[AbstractContextManager[Snapshot], Snapshot, Model] | None = None

    def teardown(self) -> None:
        self._end_writing()
        self._let_go()
        self.store.close()
        self.folder.cleanup()

    @initialize(texts=st.lists(LINES, max_size=5), readers=READERS)
    def start(self, texts: list[list[str]], readers: frozenset[str] | None) -> None:
        self._writer().bind(binding())
        # The last ids first, so that the order of putting is not that of the ids.
        for key, lines in zip(("d", "c", "é/'%_", "b", "a"), texts, strict=False):
            self.put(key, lines, readers if key in "bd" else None, {"year": len(lines)}, "en")
        self.commit()
        self.keep_a_snapshot()

    # --- changes --------------------------------------------------------------------------------------

    @rule(key=IDS, lines=LINES, readers=READERS, metadata=METADATA, language=st.sampled_from(["en", "fr", None]))
    def put(
        self,
        key: str,
        lines: list[str],
        readers: frozenset[str] | None,
        metadata: dict[str, int | bool],
        language: str | None,
    ) -> None:
        made = document(key, "\n".join(lines), readable_by=readers, metadata=metadata, language=language)
        self._writer().put(made, indexed(made))
        self.draft.filed[made.id] = (made, indexed(made))

    @rule(key=IDS)
    def put_without_chunks(self, key: str) -> None:
        made = document(key, "")
        self._writer().put(made, [])
        self.draft.filed[made.id] = (made, [])

    @rule(keys=st.lists(IDS, max_size=3, unique=True))
    def remove(self, keys: list[str]) -> None:
        ids = [DocumentId(key) for key in keys]
        removed = self._writer().remove(ids)
        assert removed == sum(self.draft.filed.pop(key, None) is not None for key in ids)

    @precondition(lambda self: self.draft.filed)
    @rule(data=st.data(), readers=READERS)
    def set_access(self, data: st.DataObject, readers: frozenset[str] | None) -> None:
        key = data.draw(st.sampled_from(sorted(self.draft.filed)))
        self._writer().set_access(key, readers)
        made, chunks = self.draft.filed[key]
        self.draft.filed[key] = (replace(made, readable_by=readers), chunks)

    @rule(key=IDS, status=st.sampled_from([IngestStatus.COMMITTED, IngestStatus.FAILED, IngestStatus.REMOVED]))
    def record(self, key: str, status: IngestStatus) -> None:
        entry = replace(state(key), status=status)
        self._writer().record([entry])
        self.draft.states.pop(entry.document_id, None)
        if status is not IngestStatus.REMOVED:
            self.draft.states[entry.document_id] = entry

    @rule()
    def commit(self) -> None:
        with self.store.read() as snapshot:
            before = snapshot.statistics(scope()).generation
        assert self._writer().commit() > before
        self.committed = self.draft.copy()
        with self.store.read() as snapshot:
            for of, asked, depth in AFTER_COMMIT:
                check_legs(snapshot, self.committed, of, asked, vector_of("child:red"), depth)
        if self.kept is not None:
            check_reads(self.kept[1], self.kept[2], scope())

    @rule()
    def end_writing(self) -> None:
        """What was not committed is rolled back."""
        self._end_writing()

    @rule()
    def reopen(self) -> None:
        self._end_writing()
        self._let_go()
        self.store = self.reopened(self.store, Path(self.folder.name))

    # --- reads ----------------------------------------------------------------------------------------

    @rule()
    def keep_a_snapshot(self) -> None:
        self._let_go()
        context = self.store.read()
        self.kept = (context, context.__enter__(), self.committed.copy())

    @precondition(lambda self: self.kept)
    @rule(of=SCOPES, asked=QUERIES, vector=VECTORS, depth=DEPTHS)
    def search_the_kept_snapshot(self, of: Scope, asked: KeywordQuery, vector: Vector, depth: int | None) -> None:
        assert self.kept is not None
        _, snapshot, model = self.kept
        check_reads(snapshot, model, of)
        check_legs(snapshot, model, of, asked, vector, depth)

    @rule(of=SCOPES, asked=QUERIES, vector=VECTORS, depth=DEPTHS)
    def search(self, of: Scope, asked: KeywordQuery, vector: Vector, depth: int | None) -> None:
        with self.store.read() as snapshot:
            check_reads(snapshot, self.committed, of)
            check_legs(snapshot, self.committed, of, asked, vector, depth)

    @invariant()
    def the_last_commit_is_what_is_read(self) -> None:
        with self.store.read() as snapshot:
            assert snapshot.digest(scope()) == self.committed.digest(scope())
            assert snapshot.states(scope(), "s1") == self.committed.states

    @rule()
    def check(self) -> None:
        assert [finding for finding in self.store.check() if finding.severity == "error"] == []

    # --------------------------------------------------------------------------------------------------

    def _writer(self) -> Writer:
        if self.writing is None:
            self.writing = ExitStack()
            self.current = self.writing.enter_context(self.store.write(timeout=5))
        return self.current

    def _end_writing(self) -> None:
        if self.writing is not None:
            self.writing.close()
            self.writing = None
        self.draft = self.committed.copy()

    def _let_go(self) -> None:
        if self.kept is not None:
            self.kept[0].__exit__(None, None, None)
            self.kept = None


def check_reads(snapshot: Snapshot, model: Model, of: Scope) -> None:
    """Documents, chunks and counts are those of the model."""
    admitted, rows = model.admitted(of), model.chunks(of)
    every: list[ChunkId] = sorted({item.chunk.id for _, chunks in model.filed.values() for item in chunks})
    assert list(snapshot.documents(of)) == [made for made, _ in admitted.values()]
    assert snapshot.chunks(of, every) == [rows[key].chunk for key in every if key in rows]
    assert snapshot.digest(of) == model.digest(of)
    for key, (_, chunks) in admitted.items():
        expected: list[Chunk] = [item.chunk for item in chunks]
        assert snapshot.chunks_of(of, key) == expected
    found = snapshot.statistics(of)
    assert (found.documents, found.chunks, found.vectors) == (len(admitted), len(rows), len(rows))
    mean = sum(len(item.terms) for item in rows.values()) / len(rows) if rows else 0.0
    assert abs(found.average_length - mean) < 1e-9


def check_legs(
    snapshot: Snapshot, model: Model, of: Scope, asked: KeywordQuery, vector: Vector, depth: int | None
) -> None:
    """Both pools and their completions are those of the formulas, over what the scope admits."""
    rows = model.chunks(of)
    everything = [item for _, chunks in model.filed.values() for item in chunks]
    dense = {key: cosine(vector, item.vectors["child"]) for key, item in rows.items()}
    scores = (
        bm25_scores(everything, [term for term, count in asked.counted() for _ in range(count)]) if everything else {}
    )
    keyword = {
        key: scores[key]
        for key, item in rows.items()
        if key in scores
        and not any(term in item.terms for term in asked.excluded)
        and holds_phrases(item.chunk, asked.phrases)
    }
    check_pool(snapshot.dense_pool(of, vector, None), snapshot.dense_pool(of, vector, depth), dense, depth)
    check_pool(snapshot.keyword_pool(of, asked, None), snapshot.keyword_pool(of, asked, depth), keyword, depth)
    ids = sorted({item.chunk.id for item in everything})
    check_scores(snapshot.cosines(of, vector, ids), [dense.get(key) for key in ids])
    expected = [scores.get(key, 0.0) if key in rows else None for key in ids]
    check_scores(snapshot.keyword_scores(of, asked, ids), expected)


def check_pool(full: list[Hit], cut: list[Hit], expected: dict[ChunkId, float], depth: int | None) -> None:
    """The full pool has exactly the expected chunks and scores, in order; the cut one is its prefix."""
    assert {hit.chunk_id for hit in full} == expected.keys()
    assert len(full) == len(expected)
    assert full == sorted(full, key=lambda hit: (-hit.score, hit.chunk_id))
    assert all(abs(hit.score - expected[hit.chunk_id]) <= TOLERANCE for hit in full)
    assert cut == full[:depth]


def check_scores(found: list[float | None], expected: list[float | None]) -> None:
    """Numbers agree to the tolerance, and are absent where they must be."""
    assert [score is None for score in found] == [score is None for score in expected]
    pairs = [pair for pair in zip(found, expected, strict=True) if None not in pair]
    assert all(abs(left - right) <= TOLERANCE for left, right in pairs if left is not None and right is not None)
