from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from seamline.errors import EmbeddingError, ModeUnavailableError, StoreError
from seamline.retrieve.modes import Mode, Retrieved, RetrieveOptions, retrieve
from seamline.settings import Settings
from seamline.types import ChunkId, Hit, KeywordQuery, Principal, Scope, VectorName
from support.retrieve import OPTIONS, SCOPE, DictIndex, WordEmbedder, chunk, question

if TYPE_CHECKING:
    from seamline.ports import Vector

TEXTS = {
    "a": "the tidal gate opens at dawn",
    "b": "the harbour gate closes at dusk",
    "c": "error ERR_CONN-42 means the pump lost its link",
    "d": "crane tariffs for the summer season",
    "e": "gate gate gate inspection list",
}


def texts_index() -> DictIndex:
    return DictIndex([chunk(one, text) for one, text in TEXTS.items()])


def ask(
    index: DictIndex, text: str, *, language: str | None = None, scope: Scope = SCOPE, **changed: object
) -> Retrieved:
    options = replace(OPTIONS, **changed)  # type: ignore[arg-type]
    return retrieve(
        index, scope, question(text, language), embedder=index.embedder, analyzer=index.analyzer, options=options
    )


def ids(found: Retrieved) -> list[str]:
    return [str(c.chunk_id) for c in found.candidates]


def test_both_scores_are_completed_and_ranks_belong_to_pools() -> None:
    index = texts_index()
    found = ask(index, "gate opens", candidate_k=2)
    assert found.pool_sizes == {"dense": 2, "keyword": 2}
    assert {c.stages.retrieval_method for c in found.candidates} <= {"dense", "keyword", "both"}
    for c in found.candidates:
        (keyword,) = index.keyword_scores(SCOPE, found.keyword_query, [c.chunk_id])
        (cosine,) = index.cosines(SCOPE, index.embedder.embed_query("gate opens"), [c.chunk_id])
        assert (c.stages.keyword_score, c.stages.cosine) == (keyword, cosine)
        words = set(TEXTS[c.chunk_id].split())
        assert c.stages.matched_terms == tuple(sorted(words & {"gate", "opens"}))
        assert c.stages.dense_rank in (None, 1, 2)
        assert c.stages.keyword_rank in (None, 1, 2)


def test_rule_19_a_hit_of_one_leg_has_no_rank_in_the_other() -> None:
    found = ask(texts_index(), "gate", candidate_k=1)
    by_method = {c.stages.retrieval_method: c.stages for c in found.candidates}
    for method, stages in by_method.items():
        assert (stages.dense_rank is None) == (method == "keyword")
        assert (stages.keyword_rank is None) == (method == "dense")
        assert stages.cosine is not None
        assert stages.keyword_score is not None


@pytest.mark.parametrize("mode", ["economy", "hybrid"])
def test_economy_and_hybrid_are_one_pipeline(mode: Mode) -> None:
    found = ask(texts_index(), "harbour gate", mode=mode)
    assert found.candidates == ask(texts_index(), "harbour gate").candidates
    assert [c.stages.fused_rank for c in found.candidates] == list(range(1, len(found.candidates) + 1))


@pytest.mark.parametrize(
    ("mode", "rank", "other"), [("dense", "dense_rank", "keyword_rank"), ("keyword", "keyword_rank", "dense_rank")]
)
def test_a_single_leg_orders_by_itself_and_is_not_fused(mode: Mode, rank: str, other: str) -> None:
    found = ask(texts_index(), "harbour gate", mode=mode)
    stages = [c.stages for c in found.candidates]
    assert stages
    assert list(found.pool_sizes) == [mode]
    assert [getattr(s, rank) for s in stages] == list(range(1, len(stages) + 1))
    assert {getattr(s, other) for s in stages} == {None}
    assert {(s.fused_rank, s.fused_score) for s in stages} == {(None, None)}
    assert all(s.cosine is not None and s.keyword_score is not None for s in stages)


def test_keyword_mode_needs_no_embedder_and_states_no_cosine() -> None:
    index = texts_index()
    options = replace(OPTIONS, mode="keyword")
    found = retrieve(index, SCOPE, question("gate"), embedder=None, analyzer=index.analyzer, options=options)
    assert ids(found) == [hit.chunk_id for hit in index.keyword_pool(SCOPE, found.keyword_query, None)]
    assert set(ids(found)) == {"a", "b", "e"}
    assert {c.stages.cosine for c in found.candidates} == {None}


@pytest.mark.parametrize("mode", ["economy", "hybrid", "dense"])
def test_a_mode_with_a_dense_leg_does_not_pretend_without_an_embedder(mode: Mode) -> None:
    index = texts_index()
    options = replace(OPTIONS, mode=mode)
    with pytest.raises(ModeUnavailableError, match="needs an embedder"):
        retrieve(index, SCOPE, question("gate"), embedder=None, analyzer=index.analyzer, options=options)


@pytest.mark.parametrize("text", ["???", "the", "the ..."])
def test_rule_14_a_question_without_terms_runs_the_dense_leg_and_says_so(text: str) -> None:
    index = texts_index()
    found = ask(index, text + " ")
    assert found.notes == ("keyword: no terms",)
    assert found.pool_sizes["keyword"] == 0
    assert {(c.stages.keyword_score, c.stages.matched_terms) for c in found.candidates} <= {(None, None)}
    assert ids(found) == [hit.chunk_id for hit in index.dense_pool(SCOPE, index.embedder.embed_query(text), 100)]
    assert ids(ask(index, text, mode="keyword")) == []


def test_rule_34_case_whitespace_and_sentence_ends_change_no_ranking() -> None:
    for variant in ("Harbour GATE", " harbour  gate ", "harbour gate?", "HARBOUR gate!!"):
        assert ask(texts_index(), variant).candidates == ask(texts_index(), "harbour gate").candidates


def test_an_excluded_term_drops_hits_of_the_dense_leg_too() -> None:
    index = texts_index()
    with_all = ask(index, "gate")
    assert with_all.pool_sizes["dense"] == 5
    assert sorted(ids(ask(index, "gate -harbour"))) == sorted(set(ids(with_all)) - {"b"})
    assert "b" not in ids(ask(index, "gate -harbour", mode="dense"))


def test_exclusions_do_not_shrink_the_dense_pool() -> None:
    """They apply before the cut: the leg is asked for deeper until its pool is full."""
    chunks = [chunk(f"x{i:02}", "gate gate noise") for i in range(40)] + [chunk("keep", "gate among other words")]
    found = ask(DictIndex(chunks), "gate -noise", candidate_k=3, mode="dense")
    assert [(c.chunk_id, c.stages.dense_rank) for c in found.candidates] == [("keep", 1)]


def test_phrases_are_a_matter_of_the_keyword_leg() -> None:
    found = ask(texts_index(), '"harbour gate"')
    assert [c.chunk_id for c in found.candidates if c.stages.keyword_rank] == ["b"]


def test_rule_13_scope_reaches_every_step() -> None:
    index = texts_index()
    for one in index.entries.values():
        one.readable_by = frozenset({"me"})
    index.add(chunk("secret", "gate gate gate opens"), readable_by=frozenset({"someone"}))
    scope = Scope(principal=Principal(id="me"), kb="k")
    assert "secret" not in ids(ask(index, "gate opens", scope=scope))
    assert "secret" in ids(ask(index, "gate opens"))


@pytest.mark.parametrize(
    ("language", "weights", "named"),
    [
        ("en", {"en": 0.6, "ru": 0.2}, None),
        ("fr", {"en": 0.2, "ru": 0.2}, "fr"),
        (None, {"en": 0.6, "ru": 0.2}, None),
    ],
)
def test_an_uncovered_language_weighs_the_dense_leg_less_and_says_so(
    language: str | None, weights: dict[str, float], named: str | None
) -> None:
    index = DictIndex(embedder=WordEmbedder(frozenset({"en"})))
    for number, text in enumerate(["gate dawn", "dawn", "dawn dawn gate tide", "gate"]):
        for tag in ("en", "ru"):
            index.add(chunk(f"{tag}{number}", text, language=tag))
    found = ask(index, "dawn tide", language=language)
    assert found.notes == ((f"dense: language not covered ({named})",) if named else ())
    stages = [c.stages for c in found.candidates]
    top_cosine = max(s.cosine or 0 for s in stages)
    top_bm25 = max(s.keyword_score or 0 for s in stages)
    for c in found.candidates:
        alpha = weights[c.language or ""]
        cosine, bm25 = max(c.stages.cosine or 0, 0) / top_cosine, (c.stages.keyword_score or 0) / top_bm25
        assert c.stages.fused_score == pytest.approx(alpha * cosine + (1 - alpha) * bm25)


def test_a_note_names_the_language_of_most_candidates() -> None:
    index = DictIndex(embedder=WordEmbedder(frozenset({"en"})))
    for number, tag in enumerate(["ru", "ru", "en"]):
        index.add(chunk(f"{tag}{number}", "gate dawn", language=tag))
    assert ask(index, "dawn", language=None).notes == ("dense: language not covered (ru)",)


def test_no_note_where_every_language_is_covered_or_unknown() -> None:
    index = DictIndex(
        [chunk("a", "gate", language="en-GB"), chunk("b", "gate")], embedder=WordEmbedder(frozenset({"en"}))
    )
    assert ask(index, "gate").notes == ()


def test_rrf_is_one_setting_away() -> None:
    found = ask(texts_index(), "gate opens", fusion="rrf")
    first = found.candidates[0].stages
    assert first.fused_score == pytest.approx(1 / (60 + (first.dense_rank or 0)) + 1 / (60 + (first.keyword_rank or 0)))


def test_an_empty_index_finds_nothing() -> None:
    found = ask(DictIndex(), "gate")
    assert (found.candidates, found.pool_sizes) == ((), {"dense": 0, "keyword": 0})


def test_steps_are_timed() -> None:
    timings = ask(texts_index(), "gate").timings_ms
    assert set(timings) == {"analyze", "embed", "keyword", "dense", "completion", "fusion"}
    assert all(value >= 0 for value in timings.values())


def test_options_come_from_the_settings() -> None:
    options = RetrieveOptions.of(Settings.model_validate({"fusion": "rrf", "candidate_k": 7}).mapping())
    assert options == replace(OPTIONS, fusion="rrf", candidate_k=7)


class Broken(DictIndex):
    """A store with one planted fault."""

    def __init__(self, fault: str) -> None:
        super().__init__([chunk(one, text) for one, text in TEXTS.items()])
        self.fault = fault

    def dense_pool(self, scope: Scope, vector: Vector, depth: int | None, name: VectorName = "child") -> list[Hit]:
        hits = super().dense_pool(scope, vector, depth, name)
        if self.fault == "dense down":
            raise StoreError("dense down")
        if self.fault == "unordered":
            hits.reverse()
        if self.fault == "not finite":
            hits[0] = Hit(hits[0].chunk_id, float("nan"))
        if self.fault == "too many":
            hits = super().dense_pool(scope, vector, None, name)
        return hits

    def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
        hits = super().keyword_pool(scope, query, depth)
        if self.fault == "keyword down":
            raise StoreError("keyword down")
        return [hits[0], Hit(hits[0].chunk_id, hits[0].score / 2)] if self.fault == "twice" else hits

    def keyword_scores(self, scope: Scope, query: KeywordQuery, ids: Sequence[ChunkId]) -> list[float | None]:
        scores = super().keyword_scores(scope, query, ids)
        return [*scores, 1.0] if self.fault == "long" and len(ids) < len(self.entries) else scores


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("dense down", "dense down"),
        ("keyword down", "keyword down"),
        ("unordered", "not in the order"),
        ("not finite", "not finite"),
        ("too many", "5 hits where 3"),
        ("twice", "one chunk twice"),
        ("long", "values for"),
    ],
)
def test_a_failing_leg_is_an_error_and_never_an_empty_result(fault: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        ask(Broken(fault), "gate pump", candidate_k=3)


class BadEmbedder(WordEmbedder):
    def __init__(self, vector: Vector | None) -> None:
        super().__init__()
        self.vector = vector

    def embed_query(self, text: str) -> Vector:
        if self.vector is None:
            raise EmbeddingError(f"model down, asked {len(text)} characters")
        return self.vector


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (None, "model down"),
        (np.zeros(3, dtype=np.float32), "shape"),
        (np.full(24, np.nan, dtype=np.float32), "not finite"),
    ],
)
def test_a_failing_embedder_is_an_error_in_every_mode(vector: Vector | None, message: str) -> None:
    index = texts_index()
    index.embedder = BadEmbedder(vector)
    modes: tuple[Mode, ...] = ("economy", "dense", "keyword")
    for mode in modes:
        with pytest.raises(EmbeddingError, match=message):
            ask(index, "gate", mode=mode)


def test_the_keyword_leg_works_while_the_question_is_embedded() -> None:
    """Each waits for the other to have begun: run one after the other, they would never meet."""
    begun, embedding = threading.Event(), threading.Event()

    class Meeting(DictIndex):
        def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
            begun.set()
            assert embedding.wait(20)
            return super().keyword_pool(scope, query, depth)

    class Waiting(WordEmbedder):
        def embed_query(self, text: str) -> Vector:
            assert begun.wait(20)
            embedding.set()
            return super().embed_query(text)

    index = Meeting([chunk("a", "gate")], embedder=Waiting())
    assert ids(ask(index, "gate")) == ["a"]


def test_a_failing_embedder_waits_for_the_keyword_leg_to_leave_the_snapshot() -> None:
    begun, release, left = threading.Event(), threading.Event(), threading.Event()

    class Slow(DictIndex):
        def keyword_pool(self, scope: Scope, query: KeywordQuery, depth: int | None) -> list[Hit]:
            begun.set()
            assert release.wait(20)
            left.set()
            return super().keyword_pool(scope, query, depth)

    class Failing(WordEmbedder):
        def embed_query(self, text: str) -> Vector:
            assert begun.wait(20)
            threading.Timer(0.05, release.set).start()
            raise EmbeddingError(f"model down, asked {len(text)} characters")

    with pytest.raises(EmbeddingError):
        ask(Slow([chunk("a", "gate")], embedder=Failing()), "gate")
    assert left.is_set()


def test_more_requests_than_threads_all_finish() -> None:
    """A keyword leg that no thread has begun is run by its own request."""
    index = texts_index()
    results: list[list[str]] = []

    def work() -> None:
        results.append(ids(ask(index, "harbour gate")))

    threads = [threading.Thread(target=work) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == [ids(ask(index, "harbour gate"))] * 24


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
def test_a_forked_child_has_a_keyword_leg_of_its_own() -> None:
    """Threads do not survive a fork; a child that waited for the parent's would hang."""
    script = """
import os, threading
from support.retrieve import OPTIONS, SCOPE, DictIndex, WordEmbedder, chunk, question
from seamline.retrieve.modes import retrieve

class Begins(DictIndex):
    def keyword_pool(self, scope, query, depth):
        begun.set()
        return super().keyword_pool(scope, query, depth)

class Waits(WordEmbedder):
    def embed_query(self, text):
        assert begun.wait(20), "the keyword leg has no thread"
        return super().embed_query(text)

def ask():
    asked = question("gate")
    found = retrieve(index, SCOPE, asked, embedder=index.embedder, analyzer=index.analyzer, options=OPTIONS)
    assert [c.stages.keyword_rank for c in found.candidates] == [1]

begun = threading.Event()
index = Begins([chunk("a", "gate")], embedder=Waits())
ask()
child = os.fork()
if child == 0:
    begun.clear()
    try:
        ask()
    except BaseException:
        os._exit(3)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0, "the child failed"
"""
    tests = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, "PYTHONPATH": str(tests)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
