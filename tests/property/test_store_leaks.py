"""Rule 13: random access lists, principals, filters and reads; nothing that may not be read is ever returned."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from seamline.conformance.store_case import document, indexed, put, query, reader, scope, vector_of
from seamline.errors import NotFoundError
from seamline.ports import Snapshot, Store
from seamline.store import embedded, postgres, qdrant
from seamline.store.memory_snapshot import MemorySnapshot
from seamline.types import ChunkId, Document, DocumentId, Scope
from support.postgres import needs_postgres, new_database, postgres_settings
from support.stores import folder_of, make_memory, store_settings

NAMES = ("ana", "bob", "eve", "staff", "board", "", "%", "ana,bob")
WORDS = ("red", "green", "blue", "stone")
DOCUMENTS = 24
CHANGE_EVERY = 200
"""Reads between two changes of access lists."""


def make_postgres(_: Path) -> Store:
    return postgres.create(postgres_settings(new_database()), folder=None, workspace="w", kb="k")


def make_embedded(folder: Path) -> Store:
    return embedded.create(store_settings(), folder=folder_of(folder, "k"), workspace="w", kb="k")


def make_qdrant(folder: Path) -> Store:
    return qdrant.create(store_settings(), folder=folder_of(folder, "k"), workspace="w", kb="k")


STORES = [
    pytest.param(lambda _: make_memory(), id="memory"),
    pytest.param(make_embedded, id="embedded"),
    pytest.param(make_qdrant, id="qdrant"),
    pytest.param(make_postgres, id="postgres", marks=needs_postgres),
]


def ids_returned(snapshot: Snapshot, of: Scope, chance: random.Random, every: Sequence[ChunkId]) -> list[str]:
    """The document ids that one random read shows."""
    words = query(" ".join(chance.sample(WORDS, chance.randint(1, 3))))
    vector, depth = vector_of(chance.choice(WORDS)), chance.choice([None, 1, 5])
    some = chance.sample(every, 10)
    one = DocumentId(some[0].partition("#")[0])
    scored: list[float | None]
    match chance.randrange(8):
        case 0:
            return [hit.chunk_id.partition("#")[0] for hit in snapshot.dense_pool(of, vector, depth)]
        case 1:
            return [hit.chunk_id.partition("#")[0] for hit in snapshot.keyword_pool(of, words, depth)]
        case 2:
            return [chunk.document_id for chunk in snapshot.chunks(of, some)]
        case 3:
            scored = snapshot.cosines(of, vector, some)
        case 4:
            scored = snapshot.keyword_scores(of, words, some)
        case 5:
            scored = [None if not terms else 1.0 for terms in snapshot.matched_terms(of, words, some)]
        case 6:
            return [item.id for item in snapshot.documents(of)]
        case _:
            try:
                return [snapshot.document(of, one).id, *(c.document_id for c in snapshot.chunks_of(of, one))]
            except NotFoundError:
                return []
    return [key.partition("#")[0] for key, score in zip(some, scored, strict=True) if score is not None]


@pytest.mark.parametrize("make", STORES)
@pytest.mark.parametrize(
    "reads", [1_000, pytest.param(100_000, marks=[pytest.mark.nightly, pytest.mark.timeout(3600)])]
)
def test_rule_13_random_reads_leak_nothing(tmp_path: Path, make: Callable[[Path], Store], reads: int) -> None:
    chance = random.Random(reads)
    lists: dict[str, frozenset[str] | None] = {}
    years = {f"d{number}": number % 3 for number in range(DOCUMENTS)}

    def access() -> frozenset[str] | None:
        return None if chance.random() < 0.2 else frozenset(chance.sample(NAMES, chance.randint(0, 3)))

    shown = 0
    with closing(make(tmp_path)) as store:
        filed = []
        for key, year in years.items():
            lists[key] = access()
            text = "\n".join(" ".join(chance.choices(WORDS, k=4)) for _ in range(2))
            made = document(key, text, readable_by=lists[key], metadata={"year": year})
            filed.append((made, indexed(made)))
        put(store, *filed)
        every = [item.chunk.id for _, items in filed for item in items]
        for start in range(0, reads, CHANGE_EVERY):
            with store.write() as writer:
                for key in chance.sample(list(lists), 3):
                    lists[key] = access()
                    writer.set_access(DocumentId(key), lists[key])
                writer.commit()
            with store.read() as snapshot:
                for _ in range(min(CHANGE_EVERY, reads - start)):
                    asker = reader(chance.choice(NAMES), *chance.sample(NAMES, chance.randint(0, 2)))
                    asked_year = chance.choice([None, 0, 1])
                    of = scope(asker, metadata={} if asked_year is None else {"year": frozenset({asked_year})})
                    found = ids_returned(snapshot, of, chance, every)
                    shown += len(found)
                    leaked = [key for key in found if not of.admits(DocumentId(key), lists[key], {"year": years[key]})]
                    assert leaked == [], (of, leaked)
    assert shown > reads  # or it would prove nothing


def test_the_test_sees_a_leak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a snapshot that shows one document to everybody."""
    documents = MemorySnapshot._documents

    def leaky(self: MemorySnapshot, of: Scope) -> dict[DocumentId, Document]:
        planted = DocumentId("d7")
        return {**documents(self, of), planted: self._state.documents[planted]}

    monkeypatch.setattr(MemorySnapshot, "_documents", leaky)
    with pytest.raises(AssertionError, match="d7"):
        test_rule_13_random_reads_leak_nothing(tmp_path, lambda _: make_memory(), 1_000)
