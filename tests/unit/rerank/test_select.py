from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from seamline.errors import IntegrityError, RerankError
from seamline.ports import Reranker
from seamline.rerank.select import select
from seamline.rerank.selection import Selection, SelectOptions
from seamline.settings import Settings
from seamline.types import Candidate, Chunk, ChunkId, RerankOutcome
from support.retrieve import SELECT, ScriptedReranker, candidate, chunk, with_stages

NAMES = ("one", "two", "three", "four", "five", "six", "seven")
CHUNKS = {name: chunk(name, f"text number {name} about {name} things") for name in NAMES}


def fused(*names: str, cosines: Sequence[float | None] = ()) -> list[Candidate]:
    """Candidates in fused order, with falling scores."""
    given = [*cosines, *[0.5] * len(names)]
    return [
        candidate(name, fused_rank=rank, fused_score=1 / rank, cosine=given[rank - 1], keyword_score=9.0 - rank)
        for rank, name in enumerate(names, 1)
    ]


class Fetch:
    """Chunks by id; remembers what was asked for."""

    def __init__(self, *chunks: Chunk) -> None:
        self.chunks = {one.id: one for one in chunks} or {one.id: one for one in CHUNKS.values()}
        self.asked: list[list[ChunkId]] = []

    def __call__(self, ids: Sequence[ChunkId]) -> list[Chunk]:
        self.asked.append(list(ids))
        return [self.chunks[one] for one in ids if one in self.chunks]


def run(
    candidates: Sequence[Candidate],
    reranker: Reranker | None = None,
    fetch: Fetch | None = None,
    **changed: Any,  # noqa: ANN401
) -> Selection:
    options = replace(SELECT, **changed)
    return select("the question", candidates, fetch=fetch or Fetch(), reranker=reranker, options=options)


def ids(selection: Selection) -> list[str]:
    return [str(passage.chunk.id) for passage in selection.passages]


def by_length(texts: Sequence[str]) -> list[float]:
    return [float(len(text)) for text in texts]


def test_without_a_reranker_the_fused_order_stands() -> None:
    selection = run(fused(*NAMES), limit=3)
    assert ids(selection) == ["one", "two", "three"]
    assert selection.outcome == RerankOutcome(status="off")
    assert selection.cut_by is None
    for passage, rank in zip(selection.passages, (1, 2, 3), strict=True):
        assert (passage.rank, passage.score, passage.score_kind) == (rank, 1 / rank, "fused")
        assert (passage.stages.admitted_by, passage.confident) == ("ungated", None)
        assert (passage.stages.rerank_rank, passage.stages.rerank_score) == (None, None)
        assert passage.shown_text == passage.chunk.text
        assert passage.shown_start == passage.chunk.char_start
    assert [selection.fates[ChunkId(name)].stage for name in NAMES] == ["admitted"] * 3 + ["limit"] * 4


def test_a_limit_beyond_the_candidates_returns_what_there_is() -> None:
    assert ids(run(fused("one", "two"), limit=50)) == ["one", "two"]
    assert ids(run([], limit=5)) == []
    assert ids(run([], ScriptedReranker(by_length), rerank="auto")) == []


def test_texts_are_read_only_as_far_as_the_limit_needs() -> None:
    fetch = Fetch()
    run(fused(*NAMES), fetch=fetch, limit=2)
    assert fetch.asked == [["one", "two"]]


def test_texts_are_read_further_where_duplicates_leave_room() -> None:
    twin = replace(CHUNKS["two"], text=CHUNKS["one"].text)
    fetch = Fetch(*(CHUNKS | {"two": twin}).values())
    selection = run(fused(*NAMES), fetch=fetch, limit=2)
    assert ids(selection) == ["one", "three"]
    assert fetch.asked == [["one", "two"], ["three"]]
    assert selection.passages[0].stages.absorbed == ("two",)


@pytest.mark.parametrize(("kind", "field"), [("cosine", "cosine"), ("bm25", "keyword_score")])
def test_a_single_leg_shows_its_own_score(kind: str, field: str) -> None:
    candidates = [with_stages(candidate("one"), **{field: 0.9}), with_stages(candidate("two"), **{field: 0.4})]
    selection = run(candidates, score_kind=kind)
    assert [(p.score, p.score_kind) for p in selection.passages] == [(0.9, kind), (0.4, kind)]


def test_an_applied_reranker_orders_and_gates() -> None:
    reranker = ScriptedReranker(lambda texts: [0.1, 0.9, -2.0][: len(texts)])
    selection = run(
        fused("one", "two", "three"),
        reranker,
        rerank="auto",
        rerank_min_score=0.0,
        rerank_confident_score=0.5,
        min_cosine=0.99,
    )
    assert ids(selection) == ["two", "one"]
    assert selection.outcome == RerankOutcome(status="applied", provider="scripted")
    assert [(p.score, p.score_kind, p.confident) for p in selection.passages] == [
        (0.9, "rerank", True),
        (0.1, "rerank", False),
    ]
    assert [(p.stages.rerank_rank, p.stages.fused_rank) for p in selection.passages] == [(1, 2), (2, 1)]
    assert {p.stages.admitted_by for p in selection.passages} == {"rerank"}
    fate = selection.fates[ChunkId("three")]
    assert (fate.stage, fate.setting, fate.needed, fate.margin) == ("gate", "rerank_min_score", -2.0, 2.0)
    assert reranker.calls == [("the question", tuple(CHUNKS[n].text for n in ("one", "two", "three")))]


def test_the_reranker_sees_title_and_headings() -> None:
    reranker = ScriptedReranker(by_length)
    titled = replace(CHUNKS["one"], title="Handbook", heading_path=("Gates",))
    run(fused("one"), reranker, Fetch(titled), rerank="auto")
    assert reranker.calls[0][1] == (f"Handbook > Gates\n{titled.text}",)


def test_equal_rerank_scores_keep_the_fused_order() -> None:
    selection = run(fused("three", "one", "two"), ScriptedReranker(lambda texts: [1.0] * len(texts)), rerank="auto")
    assert ids(selection) == ["three", "one", "two"]


def test_only_the_head_is_reranked_and_the_rest_is_cut() -> None:
    selection = run(fused(*NAMES), ScriptedReranker(by_length), rerank="auto", rerank_candidates=3, limit=5)
    assert len(selection.passages) == 3
    assert selection.cut_by == "rerank_candidates"
    fate = selection.fates[ChunkId("five")]
    assert (fate.stage, fate.setting, fate.needed, fate.margin) == ("rerank_candidates", "rerank_candidates", 5, 2)
    assert run(fused(*NAMES), ScriptedReranker(by_length), rerank="auto", rerank_candidates=3, limit=3).cut_by is None


@pytest.mark.parametrize("policy", ["off", "auto"])
def test_rule_10_a_cosine_gate_of_zero_is_a_gate(policy: str) -> None:
    """A keyword-only hit needs the cosine too, and an unknown cosine passes no gate that is set."""
    candidates = fused("one", "two", "three", "four", cosines=[-0.1, 0.0, None, 0.7])
    selection = run(candidates, rerank=policy, min_cosine=0.0, confident_cosine=0.5)
    assert ids(selection) == ["two", "four"]
    assert [(p.stages.admitted_by, p.confident) for p in selection.passages] == [("cosine", False), ("cosine", True)]
    assert [s.chunk.id for s in selection.passages.rejected] == ["one", "three"]
    low, unknown = selection.fates[ChunkId("one")], selection.fates[ChunkId("three")]
    assert (low.stage, low.setting, low.needed, low.margin) == ("gate", "min_cosine", -0.1, 0.1)
    assert (unknown.stage, unknown.needed, unknown.margin) == ("gate", None, None)


def test_rule_10_an_unset_gate_admits_everything_and_vouches_for_nothing() -> None:
    selection = run(fused("one", "two", cosines=[-1.0, None]))
    assert [(p.stages.admitted_by, p.confident) for p in selection.passages] == [("ungated", None)] * 2


def test_an_unknown_cosine_is_not_confident() -> None:
    selection = run(fused("one", cosines=[None]), confident_cosine=-1.0)
    assert selection.passages[0].confident is False


def test_rule_11_the_nearest_rejected_are_kept_apart_and_bounded() -> None:
    selection = run(fused(*NAMES), min_cosine=0.9, limit=2)
    assert ids(selection) == []
    assert [s.chunk.id for s in selection.passages.rejected] == ["one", "two"]


def test_rule_20_a_failing_reranker_is_skipped_and_cosine_gates() -> None:
    def down(texts: Sequence[str]) -> list[float]:
        raise ConnectionError(texts[0])

    selection = run(fused("one", "two", cosines=[0.2, 0.8]), ScriptedReranker(down), rerank="auto", min_cosine=0.5)
    assert selection.outcome == RerankOutcome(status="skipped", provider="scripted", reason="error")
    assert ids(selection) == ["two"]
    assert selection.passages[0].stages.admitted_by == "cosine"
    assert selection.passages[0].score_kind == "fused"


def test_rule_20_a_skipped_reranker_cuts_nothing() -> None:
    selection = run(fused(*NAMES), ScriptedReranker(lambda _: []), rerank="auto", rerank_candidates=1, limit=6)
    assert ids(selection) == list(NAMES[:6])
    assert selection.cut_by is None


def test_rule_20_a_missing_reranker_is_skipped_as_unconfigured() -> None:
    assert run(fused("one"), rerank="auto").outcome == RerankOutcome(status="skipped", reason="unconfigured")


@pytest.mark.parametrize(
    ("reranker", "message"),
    [
        (None, "no reranker is configured"),
        (ScriptedReranker(lambda _: []), "wrong_score_count"),
        (ScriptedReranker(lambda texts: [float("inf")] * len(texts)), "not_finite"),
    ],
)
def test_a_required_reranker_turns_the_same_faults_into_an_error(reranker: Reranker | None, message: str) -> None:
    with pytest.raises(RerankError, match=message) as raised:
        run(fused("one"), reranker, rerank="required")
    assert raised.value.hint


def test_rerank_off_does_not_call_the_reranker() -> None:
    reranker = ScriptedReranker(by_length)
    assert run(fused("one"), reranker, rerank="off").outcome.status == "off"
    assert reranker.calls == []


@pytest.mark.parametrize("policy", ["off", "auto"])
def test_rule_09_a_candidate_outside_the_scope_is_an_error(policy: str) -> None:
    fetch = Fetch(*(one for name, one in CHUNKS.items() if name != "two"))
    with pytest.raises(IntegrityError, match="scope does not admit"):
        run(fused("one", "two"), ScriptedReranker(by_length), fetch, rerank=policy)


def test_rule_09_the_assertion_holds_for_rejected_candidates_too() -> None:
    fetch = Fetch(CHUNKS["one"])
    with pytest.raises(IntegrityError, match="scope does not admit"):
        run(fused("one", "two", cosines=[0.9, 0.1]), fetch=fetch, min_cosine=0.5)


def test_a_candidate_without_the_score_that_ordered_it_is_an_error() -> None:
    with pytest.raises(IntegrityError, match="ordered by its fused score"):
        run([candidate("one", cosine=0.5)])


def test_every_candidate_has_a_fate_and_steps_are_timed() -> None:
    selection = run(fused(*NAMES), limit=2, min_cosine=0.1)
    assert set(selection.fates) == set(NAMES)
    assert set(selection.timings_ms) == {"rerank", "select"}


def test_options_come_from_settings_and_request() -> None:
    settings = Settings.model_validate({"min_cosine": 0.0, "near_duplicate_jaccard": 0.8}).mapping()
    options = SelectOptions.of(settings, limit=7, rerank="required", score_kind="bm25")
    assert options == replace(
        SELECT, limit=7, rerank="required", score_kind="bm25", min_cosine=0.0, near_duplicate_jaccard=0.8
    )
