from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from seamline.errors import IntegrityError, NotFoundError, UsageError
from seamline.ports import Reranker
from seamline.rerank.selection import Fate, SelectOptions
from seamline.retrieve.explanation import Suggestion, WhyNot
from seamline.retrieve.modes import RetrieveOptions
from seamline.retrieve.whynot import explain
from seamline.types import Candidate, ChunkId, DocumentId, Principal, Scope
from support.retrieve import OPTIONS, SCOPE, SELECT, DictIndex, ScriptedReranker, chunk, question, select_from

INDEX = DictIndex(
    [
        chunk("best", "harbour gate opens"),
        chunk("twin", "Harbour  gate opens", document="twins"),
        chunk("good", "harbour gate closes early"),
        chunk("late", "gate inspection at noon"),
        chunk("other", "crane tariffs"),
        chunk("far", "opens rarely, pump pump pump link lost"),
    ]
)


def why(
    text: str,
    target: str,
    *,
    index: DictIndex = INDEX,
    scope: Scope = SCOPE,
    options: RetrieveOptions = OPTIONS,
    selection: SelectOptions = SELECT,
    reranker: Reranker | None = None,
) -> WhyNot:
    asked = question(text)

    def select(candidates: Sequence[Candidate], overrides: Mapping[str, float]) -> Mapping[ChunkId, Fate]:
        return select_from(
            index, candidates, asked, scope=scope, selection=selection, reranker=reranker, overrides=overrides
        ).fates

    return explain(
        index,
        scope,
        asked,
        chunk_id=ChunkId(target),
        embedder=index.embedder,
        analyzer=index.analyzer,
        options=options,
        select=select,
    )


def test_an_admitted_chunk_passes_every_stage() -> None:
    report = why("harbour gate opens", "best")
    assert (report.admitted, report.lost_at, report.margin, report.suggestion) == (True, None, None, None)
    assert report.missing_words == ()
    assert [(s.name, s.passed, s.rank) for s in report.stages] == [
        ("scope", True, None),
        ("keyword", True, 1),
        ("dense", True, 1),
        ("pool", True, None),
        ("fusion", True, 1),
        ("selection", True, 1),
    ]


def test_lost_to_the_pool_size_with_the_rank_that_was_needed() -> None:
    report = why(
        "harbour gate opens", "late", options=replace(OPTIONS, candidate_k=2), selection=replace(SELECT, limit=2)
    )
    stages = {stage.name: stage for stage in report.stages}
    assert report.lost_at == "pool"
    assert (stages["keyword"].rank, stages["keyword"].needed_rank, stages["keyword"].passed) == (5, 2, False)
    ranks = [rank for name in ("keyword", "dense") if (rank := stages[name].rank) is not None]
    assert report.margin == min(ranks) - 2
    assert report.missing_words == ("harbour", "opens")
    assert report.suggestion is None, "a larger pool alone does not make room in the limit"


def test_a_larger_pool_is_suggested_where_it_helps() -> None:
    options = replace(OPTIONS, candidate_k=4, mode="keyword")
    report = why("harbour gate opens", "late", options=options, selection=replace(SELECT, limit=4, score_kind="bm25"))
    assert (report.lost_at, report.margin, report.suggestion) == ("pool", 1, Suggestion(setting="candidate_k", value=5))


def test_no_leg_gives_a_score() -> None:
    report = why(
        "harbour", "other", options=replace(OPTIONS, mode="keyword"), selection=replace(SELECT, score_kind="bm25")
    )
    assert (report.lost_at, report.margin, report.suggestion) == ("pool", None, None)
    assert report.stages[1].detail == "it holds none of the terms"
    assert report.missing_words == ("harbour",)


def test_a_missing_phrase_is_named() -> None:
    report = why(
        '"harbour gate"', "late", options=replace(OPTIONS, mode="keyword"), selection=replace(SELECT, score_kind="bm25")
    )
    assert report.stages[1].detail == "it lacks a quoted phrase"


def test_a_question_without_terms_is_named() -> None:
    report = why("the", "best")
    assert report.stages[1].detail == "the question has no terms"


def test_lost_to_an_excluded_term() -> None:
    report = why("gate -inspection", "late")
    assert (report.lost_at, report.stages[-1].detail) == ("exclusion", "holds a term that the question excludes")


def test_lost_to_the_gate_by_how_much() -> None:
    cosine = next(s.score for s in why("harbour gate opens", "good").stages if s.name == "dense")
    assert cosine is not None
    report = why("harbour gate opens", "good", selection=replace(SELECT, min_cosine=cosine + 0.1))
    assert report.lost_at == "gate"
    assert report.margin == pytest.approx(0.1)
    assert report.suggestion == Suggestion(setting="min_cosine", value=cosine)
    assert report.stages[-1].detail == "0.1000 below min_cosine"


def test_lost_to_the_rerankers_gate() -> None:
    reranker = ScriptedReranker(lambda texts: [0.0 if "early" in text else 0.9 for text in texts])
    selection = replace(SELECT, rerank="auto", rerank_min_score=0.5, limit=10)
    report = why("harbour gate opens", "good", selection=selection, reranker=reranker)
    assert (report.lost_at, report.margin) == ("gate", 0.5)
    assert report.suggestion == Suggestion(setting="rerank_min_score", value=0.0)


def test_lost_to_what_the_reranker_is_shown() -> None:
    reranker = ScriptedReranker(lambda texts: [1.0] * len(texts))
    selection = replace(SELECT, rerank="auto", rerank_candidates=2)
    report = why("harbour gate opens", "good", selection=selection, reranker=reranker)
    assert (report.lost_at, report.margin) == ("rerank_candidates", 1)
    assert report.suggestion == Suggestion(setting="rerank_candidates", value=3)


def test_lost_as_a_near_duplicate_of_which() -> None:
    report = why("harbour gate opens", "twin")
    assert (report.lost_at, report.suggestion) == ("near_duplicate", None)
    assert report.stages[-1].detail == "a near-duplicate of best, which is placed better"


def test_a_near_duplicate_behind_the_limit_is_lost_as_a_duplicate_first() -> None:
    assert why("harbour gate opens", "twin", selection=replace(SELECT, limit=1)).lost_at == "near_duplicate"


def test_a_looser_near_duplicate_setting_is_suggested_where_it_helps() -> None:
    words = " ".join(f"gate{i}" for i in range(40))
    index = DictIndex([chunk("a", words), chunk("b", words + " more")])
    report = why("gate1", "b", index=index)
    assert report.lost_at == "near_duplicate"
    assert report.suggestion is not None
    assert report.suggestion.setting == "near_duplicate_jaccard"
    assert 36 / 37 < report.suggestion.value < 36 / 37 + 1e-9


def test_lost_to_the_limit_by_how_many_places() -> None:
    report = why("harbour gate opens", "late", selection=replace(SELECT, limit=1))
    assert report.lost_at == "limit"
    place = report.stages[-1].rank
    assert place is not None
    assert (report.margin, report.suggestion) == (place - 1, Suggestion(setting="limit", value=place))


def test_rule_13_what_may_not_be_read_is_not_found() -> None:
    index = DictIndex([chunk("a", "gate")])
    index.add(chunk("secret", "gate"), readable_by=frozenset({"someone"}))
    scope = Scope(principal=Principal(id="me"), kb="k")
    for target in ("secret", "absent"):
        with pytest.raises(NotFoundError, match=f"no chunk '{target}'"):
            why("gate", target, index=index, scope=scope)


def test_readable_and_left_out_by_a_filter() -> None:
    report = why("gate", "best", scope=replace(SCOPE, document_filter=frozenset({DocumentId("doc-good")})))
    assert (report.lost_at, report.admitted, report.chunk_id) == ("filter", False, "best")
    with pytest.raises(NotFoundError):
        why("gate", "absent", scope=replace(SCOPE, document_filter=frozenset({DocumentId("doc-good")})))


@pytest.mark.parametrize("target", [{}, {"document_id": "doc-best", "chunk_id": "best"}])
def test_one_target_at_a_time(target: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="one target"):
        explain(
            INDEX,
            SCOPE,
            question("gate"),
            embedder=INDEX.embedder,
            analyzer=INDEX.analyzer,
            options=OPTIONS,
            select=lambda _candidates, _overrides: {},
            **target,
        )


def test_a_selection_without_an_account_is_an_error() -> None:
    with pytest.raises(IntegrityError, match="no account of candidate best"):
        explain(
            INDEX,
            SCOPE,
            question("gate"),
            chunk_id=ChunkId("best"),
            embedder=INDEX.embedder,
            analyzer=INDEX.analyzer,
            options=OPTIONS,
            select=lambda _candidates, _overrides: {},
        )


def test_a_document_without_chunks_says_so() -> None:
    class Blank(DictIndex):
        def chunks_of(self, scope: Scope, document_id: DocumentId) -> list[Any]:
            assert (scope, document_id) == (SCOPE, "blank")
            return []

    index = Blank()
    report = explain(
        index,
        SCOPE,
        question("gate"),
        document_id=DocumentId("blank"),
        embedder=index.embedder,
        analyzer=index.analyzer,
        options=OPTIONS,
        select=lambda _candidates, _overrides: {},
    )
    assert (report.lost_at, report.chunk_id, report.admitted) == ("chunks", None, False)
