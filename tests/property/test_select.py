"""Retrieval and selection together, on random corpora, scopes, questions and policies."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from seamline.folding import fold
from seamline.rerank.lexical import LexicalReranker
from seamline.rerank.selection import Selection, SelectOptions
from seamline.retrieve.modes import RetrieveOptions, retrieve
from seamline.retrieve.question import Question
from seamline.types import Candidate, Scope
from support.retrieve import (
    SCOPE,
    DictIndex,
    corpora,
    question,
    questions,
    retrieve_options,
    run_pipeline,
    scopes,
    select_from,
    select_options,
)

RERANKER = LexicalReranker()


@st.composite
def policies(draw: st.DrawFn) -> tuple[RetrieveOptions, SelectOptions]:
    options = draw(retrieve_options())
    return options, draw(select_options(options))


def found(index: DictIndex, asked: Question, scope: Scope, options: RetrieveOptions) -> tuple[Candidate, ...]:
    return retrieve(index, scope, asked, embedder=index.embedder, analyzer=index.analyzer, options=options).candidates


@given(index=corpora(), asked=questions(), scope=scopes(), policy=policies())
def test_rule_18_results_at_k_are_a_prefix_of_results_at_2k(
    index: DictIndex, asked: Question, scope: Scope, policy: tuple[RetrieveOptions, SelectOptions]
) -> None:
    options, selection = policy
    candidates = found(index, asked, scope, options)

    def at(limit: int) -> list[tuple[object, ...]]:
        changed = replace(selection, limit=limit)
        passages = select_from(index, candidates, asked, scope=scope, selection=changed, reranker=RERANKER).passages
        return [(p.rank, p.score, p.score_kind, p.chunk, p.confident, replace(p.stages, absorbed=())) for p in passages]

    short, long = at(selection.limit), at(2 * selection.limit)
    assert short == long[: selection.limit]


@given(index=corpora(), asked=questions(), scope=scopes(), policy=policies())
def test_rule_09_whatever_comes_out_is_in_scope_ordered_and_accounted_for(
    index: DictIndex, asked: Question, scope: Scope, policy: tuple[RetrieveOptions, SelectOptions]
) -> None:
    options, selection = policy
    retrieved, selected = run_pipeline(
        index, asked, scope=scope, options=options, selection=selection, reranker=RERANKER
    )
    for candidate in retrieved.candidates:
        entry = index.entries[candidate.chunk_id]
        assert scope.admits(entry.chunk.document_id, entry.readable_by, entry.metadata)
        assert not set(retrieved.keyword_query.excluded) & set(entry.terms)
    assert set(selected.fates) == {candidate.chunk_id for candidate in retrieved.candidates}
    assert len(selected.passages) <= selection.limit
    scores = [passage.score for passage in selected.passages]
    assert scores == sorted(scores, reverse=True)
    admitted = {chunk_id for chunk_id, fate in selected.fates.items() if fate.stage == "admitted"}
    assert admitted == {passage.chunk.id for passage in selected.passages}
    check_gates(selected, selection)


def check_gates(selected: Selection, selection: SelectOptions) -> None:
    applied = selected.outcome.status == "applied"
    gate = selection.rerank_min_score if applied else selection.min_cosine
    for passage in selected.passages:
        score = passage.stages.rerank_score if applied else passage.stages.cosine
        if gate is None:
            assert passage.stages.admitted_by == "ungated"
        else:
            assert passage.stages.admitted_by == ("rerank" if applied else "cosine")
            assert score is not None
            assert score >= gate
    for refused in selected.passages.rejected:
        score = refused.stages.rerank_score if applied else refused.stages.cosine
        assert gate is not None
        assert score is None or score < gate


@given(index=corpora(), asked=questions(), policy=policies())
def test_rule_33_no_two_passages_say_the_same_or_cover_the_same_span(
    index: DictIndex, asked: Question, policy: tuple[RetrieveOptions, SelectOptions]
) -> None:
    options, selection = policy
    _, selected = run_pipeline(index, asked, options=options, selection=selection, reranker=RERANKER)
    for one, other in combinations((p.chunk for p in selected.passages), 2):
        assert fold(one.text) != fold(other.text)
        shared = min(one.char_end, other.char_end) - max(one.char_start, other.char_start)
        shorter = min(len(one.text), len(other.text))
        assert one.document_id != other.document_id or shared * 2 <= shorter
    absorbed = [chunk_id for p in selected.passages for chunk_id in p.stages.absorbed]
    losers = {chunk_id for chunk_id, fate in selected.fates.items() if fate.stage == "near_duplicate"}
    assert len(absorbed) == len(set(absorbed))
    assert set(absorbed) == losers


@given(index=corpora(), asked=questions(), scope=scopes(), policy=policies())
def test_rule_13_a_scope_sees_what_a_corpus_of_its_own_documents_holds(
    index: DictIndex, asked: Question, scope: Scope, policy: tuple[RetrieveOptions, SelectOptions]
) -> None:
    """Pools inside a scope are those of the full ranking with all else taken out, at any depth."""
    options, _ = policy
    whole = found(index, asked, SCOPE, replace(options, candidate_k=1000))
    inside = found(index, asked, scope, replace(options, candidate_k=1000))
    admitted = {
        chunk_id
        for chunk_id, entry in index.entries.items()
        if scope.admits(entry.chunk.document_id, entry.readable_by, entry.metadata)
    }
    for rank in ("dense_rank", "keyword_rank"):
        ranked = [
            sorted((getattr(c.stages, rank), c.chunk_id) for c in candidates if getattr(c.stages, rank) is not None)
            for candidates in (whole, inside)
        ]
        assert [one for _, one in ranked[0] if one in admitted] == [one for _, one in ranked[1]]


@given(index=corpora(), words=st.lists(st.sampled_from(["gate", "tide", "crane"]), min_size=1), policy=policies())
def test_rule_34_case_whitespace_and_sentence_ends_change_nothing(
    index: DictIndex, words: list[str], policy: tuple[RetrieveOptions, SelectOptions]
) -> None:
    options, _ = policy
    plain = found(index, question(" ".join(words)), SCOPE, options)
    for variant in ("  ".join(words).upper() + "?", " " + " ".join(words) + " ...", " ".join(words).title() + "!?"):
        assert found(index, question(variant), SCOPE, options) == plain
