"""Generations: an index that was built step by step equals one that was loaded whole, and both are exact."""

from __future__ import annotations

import random
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from seamline.conformance.store_case import binding, filed, put, query, scope, seen, vector_of
from seamline.errors import StoreCorruptError
from seamline.ports import Store
from seamline.store.embedded import segment_tables, segments, vectors
from seamline.types import ChunkId, DocumentId, Finding
from support.embedded import WORDS, made_up, open_store
from support.stores import make_memory

ASKED = "red river paper glass"


def pools(store: Store) -> dict[str, object]:
    ids = [ChunkId(f"d{number:02}#{place}") for number in range(30) for place in range(4)]
    with store.read() as snapshot:
        return {
            **seen(snapshot, scope(), ids, ASKED),
            "cut": [snapshot.keyword_pool(scope(), query(ASKED), depth) for depth in (1, 3, 10)],
            "near": [snapshot.dense_pool(scope(), vector_of(ASKED), depth) for depth in (1, 3, 10)],
        }


@pytest.mark.parametrize("seed", range(3))
def test_rule_17_every_generation_equals_a_rebuild(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(segment_tables, "FAN", 3)
    monkeypatch.setattr(segment_tables, "MAX_CHUNKS", 40)
    monkeypatch.setattr(segments, "MAX_POSTINGS", 12)  # several segments a commit
    monkeypatch.setattr(vectors, "MIN_CACHED", 10)
    chance = random.Random(seed)
    store, memory = open_store(tmp_path / "kb"), make_memory()
    merged = 0
    for step in range(40):
        with store.write() as writer, memory.write() as reference:
            for target in (writer, reference):
                target.bind(binding())
            for _ in range(chance.randint(1, 3)):
                name = DocumentId(f"d{chance.randrange(30):02}")
                if chance.random() < 0.35:
                    assert writer.remove([name]) == reference.remove([name])
                else:
                    document, chunks = made_up(name, chance.randrange(10**6))
                    writer.put(document, chunks)
                    reference.put(document, chunks)
            assert writer.commit() == reference.commit()
        if step % 4 == 3:
            stepwise, fresh = pools(store), open_store(tmp_path / "kb")
            assert stepwise == pools(fresh)
            assert stepwise == pools(memory)
            assert store.check() == []
            fresh.close()
        connection = sqlite3.connect(tmp_path / "kb" / "kb.sqlite")
        ((count, largest),) = connection.execute("SELECT count(*), max(chunks) FROM segments").fetchall()
        connection.close()
        assert largest is None or largest <= 40
        merged += count < step
    assert merged > 20
    store.close()


def test_readers_see_both_legs_of_one_generation(tmp_path: Path) -> None:
    """A writer replaces documents while threads read: each snapshot is one state, in both legs and the text."""
    store = open_store(tmp_path)
    put(store, *(filed(f"d{number}", "version0 red") for number in range(5)))
    stop = threading.Event()
    wrong: list[object] = []
    looked: list[str] = []

    def look() -> None:
        other = open_store(tmp_path)
        try:
            while not stop.is_set():
                with (other if len(looked) % 2 else store).read() as snapshot:
                    texts = {document.text for document in snapshot.documents(scope())}
                    (text,) = texts
                    version = text.split()[0]
                    keyword = snapshot.keyword_pool(scope(), query(version), None)
                    same = snapshot.dense_pool(scope(), vector_of(f"child:{text}"), None)
                    if len(keyword) != 5 or {round(hit.score, 5) for hit in same} != {1.0}:
                        wrong.append((texts, keyword, same))
                    looked.append(version)
        except Exception as error:  # a thread's error must fail the test
            wrong.append(error)
            raise
        finally:
            other.close()

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    version = 0
    while len(set(looked)) < 8 and not wrong:
        version += 1
        with store.write() as writer:
            for number in range(5):
                writer.put(*filed(f"d{number}", f"version{version} red"))
            writer.commit()
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    store.close()


def test_rule_32_both_legs_may_be_read_at_once(tmp_path: Path) -> None:
    store = open_store(tmp_path, postings_cache_bytes=1)
    put(store, *(made_up(f"d{number:02}", number) for number in range(20)))
    with store.read() as snapshot:
        expected = (
            snapshot.keyword_pool(scope(), query(ASKED), 10),
            snapshot.dense_pool(scope(), vector_of("x"), 10),
        )
        found: list[object] = []

        def both() -> None:
            for _ in range(50):
                keyword = snapshot.keyword_pool(scope(), query(ASKED), 10)
                found.append((keyword, snapshot.dense_pool(scope(), vector_of("x"), 10)))

        threads = [threading.Thread(target=both) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 150
    assert all(item == expected for item in found)
    store.close()


def test_an_open_snapshot_outlives_its_store(tmp_path: Path) -> None:
    store = open_store(tmp_path, scan_threads=2)
    put(store, *(made_up(f"d{number:02}", number) for number in range(20)))
    with store.read() as snapshot:
        expected = snapshot.dense_pool(scope(), vector_of("x"), 10)
        store.close()
        assert snapshot.dense_pool(scope(), vector_of("x"), 10) == expected
        assert snapshot.keyword_pool(scope(), query(ASKED), 3)


def test_the_postings_cache_stays_within_its_bound(tmp_path: Path) -> None:
    store = open_store(tmp_path, postings_cache_bytes=3000)
    put(store, *(made_up(f"d{number:02}", number) for number in range(20)))
    cache = store._engine.cache
    with store.read() as snapshot:
        unbounded = 0
        for word in WORDS * 2:
            first = snapshot.keyword_pool(scope(), query(word), None)
            assert first == snapshot.keyword_pool(scope(), query(word), None)
            assert cache.size <= 3000
            unbounded += 256 + 8 * len(first)
    assert unbounded > 3000
    assert cache.size > 0
    put(store, filed("new", "red"))
    with store.read():
        assert cache.size == 0, "what an older generation left is dropped"
    store.close()


def test_rule_09_a_filter_scores_as_if_it_were_not_there(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    put(store, *(made_up(f"d{number:02}", number) for number in range(20)))
    with store.read() as snapshot:
        for names in (["d01"], ["d01", "d07", "d11"], [f"d{number:02}" for number in range(19)]):
            narrow = scope(documents=names)
            for depth in (1, 4, None):
                whole = snapshot.keyword_pool(scope(), query(ASKED), None)
                kept = [hit for hit in whole if hit.chunk_id.split("#")[0] in names]
                assert snapshot.keyword_pool(narrow, query(ASKED), depth) == kept[:depth]
    store.close()


DAMAGE = {
    "document_payload": "DELETE FROM document_payloads WHERE number = 1",
    "chunk_payload": "DELETE FROM chunk_payloads WHERE ordinal = 1",
    "chunk_payload_orphan": "DELETE FROM chunks WHERE ordinal = 1",
    "statistics": "DELETE FROM chunks WHERE ordinal = 1",
    "chunk_document": "DELETE FROM documents WHERE number = 1",
    "vector_orphan": "UPDATE vectors SET ordinal = 999999 WHERE ordinal = 1",
    "vectors": "UPDATE vectors SET data = x'00' WHERE ordinal = 1",
    "postings": "DELETE FROM segments WHERE id = (SELECT min(id) FROM segments)",
    "postings_orphan": "DELETE FROM segments WHERE id = (SELECT min(id) FROM segments)",
    "segments": "DELETE FROM posting_blocks WHERE segment = (SELECT min(segment) FROM posting_blocks)",
    "lengths": "UPDATE segments SET lengths = zeroblob(length(lengths))",
    "columns": "UPDATE chunks SET language = 'xx' WHERE ordinal = 1",
    "binding": "DELETE FROM bindings",
    "commit": "DELETE FROM commits",
    "ordinal": "UPDATE counters SET value = 1 WHERE name = 'next_ordinal'",
}


@pytest.mark.parametrize("check", DAMAGE)
def test_check_finds_planted_damage(tmp_path: Path, check: str) -> None:
    store = open_store(tmp_path)
    put(store, *(made_up(f"d{number}", number) for number in range(6)))
    assert store.check() == []
    with sqlite3.connect(tmp_path / "kb.sqlite") as connection:
        connection.execute(DAMAGE[check])
    connection.close()
    found = {finding.check: finding for finding in store.check()}
    assert check in found
    assert found[check].severity == "error"
    assert found[check].remedy
    store.close()


def test_check_finds_a_chunk_that_differs_from_its_span(tmp_path: Path) -> None:
    document, chunks = made_up("d", 1, lines=3)
    moved = [replace(chunks[0], chunk=replace(chunks[0].chunk, char_start=1)), *chunks[1:]]
    store = open_store(tmp_path)
    put(store, (document, moved))
    assert [(finding.check, finding.samples) for finding in store.check()] == [("span", ("d#0",))]
    store.close()


def test_check_finds_a_text_that_differs_from_its_hash(tmp_path: Path) -> None:
    document, _ = made_up("d", 1)
    store = open_store(tmp_path)
    put(store, (replace(document, text_sha256="0" * 64), []))
    assert [(finding.check, finding.samples) for finding in store.check()] == [("text_hash", ("d",))]
    store.close()


def test_check_warns_of_chunks_without_vectors(tmp_path: Path) -> None:
    document, chunks = made_up("d", 1, lines=3)
    store = open_store(tmp_path)
    put(store, (document, [replace(chunks[0], vectors={}), *chunks[1:]]))
    (finding,) = store.check()
    assert isinstance(finding, Finding)
    assert (finding.severity, finding.check, finding.samples) == ("warning", "vectors", ("d#0",))
    store.close()


def test_check_finds_damaged_pages(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    put(store, *(made_up(f"d{number}", number, lines=20) for number in range(30)))
    store.close()
    path = tmp_path / "kb.sqlite"
    data = bytearray(path.read_bytes())
    random_bytes = np.random.default_rng(1)
    for start in range(8192 * 3, len(data), 8192 * 2):
        data[start : start + 64] = random_bytes.bytes(64)
    path.write_bytes(data)
    store = open_store(tmp_path)
    assert [finding.severity for finding in store.check()] == ["error"]
    store.close()


@pytest.mark.parametrize("check", ["postings", "chunk_document"])
def test_a_damaged_index_is_refused_not_searched(tmp_path: Path, check: str) -> None:
    store = open_store(tmp_path)
    put(store, *(made_up(f"d{number}", number) for number in range(6)))
    with sqlite3.connect(tmp_path / "kb.sqlite") as connection:
        connection.execute(DAMAGE[check])
    connection.close()
    store.close()
    store = open_store(tmp_path)
    with pytest.raises(StoreCorruptError) as refusal, store.read():
        pass
    assert refusal.value.hint
    store.close()
