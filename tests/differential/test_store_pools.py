"""Same corpus, same vectors, same questions: every store gives the pools of the reference, or says what differs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from seamline import knowledge_base, sample
from seamline.knowledge_base import KnowledgeBase
from seamline.types import Hit
from support.postgres import needs_postgres, new_database

DEPTH = 50
DECLARED: dict[str, float] = {"memory": 0.0, "embedded": 1e-6, "postgres": 0.0}
"""Largest difference of a score from the reference's. The embedded store adds up in float32 over a matrix."""
QUESTIONS = [
    json.loads(line)["query"] for line in (sample.folder() / "golden" / "queries.jsonl").read_text("utf-8").splitlines()
]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with ExitStack() as stack:
        yield stack.enter_context(indexed("memory", tmp_path_factory.mktemp("home")))


def indexed(store: str, home: Path) -> KnowledgeBase:
    settings: dict[str, object] = {"store": store, "embedding_provider": "hash"}
    if store == "postgres":
        settings["postgres_dsn"] = new_database()
    kb = knowledge_base.open(home=home, settings=settings)
    kb.index(sample.folder() / "corpus", source_name="sample")
    return kb


def pools(kb: KnowledgeBase, question: str) -> dict[str, list[Hit]]:
    vector = kb.embedder().embed_query(question)
    asked = kb._analyzer.query(question, ["en"])
    with kb.read() as snapshot:
        return {
            "dense": snapshot.dense_pool(kb.scope, vector, DEPTH),
            "keyword": snapshot.keyword_pool(kb.scope, asked, DEPTH),
        }


@pytest.mark.parametrize("store", ["embedded", pytest.param("postgres", marks=needs_postgres)])
def test_pools_are_those_of_the_reference(store: str, reference: KnowledgeBase, tmp_path: Path) -> None:
    largest = {"dense": 0.0, "keyword": 0.0}
    with indexed(store, tmp_path) as kb:
        with kb.read() as snapshot, reference.read() as expected:
            assert snapshot.digest(kb.scope) == expected.digest(reference.scope)
        for question in QUESTIONS:
            ours = pools(kb, question)
            for leg, wanted in pools(reference, question).items():
                assert wanted or leg == "keyword"
                scores = {hit.chunk_id: hit.score for hit in wanted}
                difference = max((abs(hit.score - scores.get(hit.chunk_id, 9)) for hit in ours[leg]), default=0.0)
                largest[leg] = max(largest[leg], difference)
                assert difference <= DECLARED[store], (question, leg)
                assert {hit.chunk_id for hit in ours[leg]} == set(scores), (question, leg)
        print(f"{store}: {dict(kb.store().capabilities())}; largest difference of a score: {largest}")
