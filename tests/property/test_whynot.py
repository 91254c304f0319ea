"""Why-not agrees with the pipeline on every chunk of random corpora, and its suggestions work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seamline.errors import NotFoundError
from seamline.rerank.lexical import LexicalReranker
from seamline.rerank.selection import Fate, SelectOptions
from seamline.retrieve.explanation import WhyNot
from seamline.retrieve.modes import RetrieveOptions
from seamline.retrieve.question import Question
from seamline.retrieve.whynot import explain
from seamline.types import Candidate, ChunkId, Scope
from support.retrieve import (
    DictIndex,
    corpora,
    questions,
    retrieve_options,
    run_pipeline,
    scopes,
    select_from,
    select_options,
)

RERANKER = LexicalReranker()
Policy = tuple[RetrieveOptions, SelectOptions]


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    options = draw(retrieve_options())
    return options, draw(select_options(options))


def why(index: DictIndex, asked: Question, scope: Scope, policy: Policy, **target: Any) -> WhyNot:  # noqa: ANN401
    options, selection = policy

    def select(candidates: Sequence[Candidate], overrides: Mapping[str, float]) -> Mapping[ChunkId, Fate]:
        return select_from(
            index, candidates, asked, scope=scope, selection=selection, reranker=RERANKER, overrides=overrides
        ).fates

    return explain(
        index, scope, asked, embedder=index.embedder, analyzer=index.analyzer, options=options, select=select, **target
    )


def admitted(index: DictIndex, asked: Question, scope: Scope, policy: Policy) -> dict[ChunkId, int]:
    options, selection = policy
    _, selected = run_pipeline(index, asked, scope=scope, options=options, selection=selection, reranker=RERANKER)
    return {passage.chunk.id: passage.rank for passage in selected.passages}


@settings(max_examples=150)
@given(index=corpora(), asked=questions(), scope=scopes(), policy=policies())
def test_admitted_by_the_pipeline_exactly_when_why_not_says_so(
    index: DictIndex, asked: Question, scope: Scope, policy: Policy
) -> None:
    passages = admitted(index, asked, scope, policy)
    for chunk_id, entry in index.entries.items():
        if not scope.principal.may_read(entry.readable_by):
            with pytest.raises(NotFoundError):
                why(index, asked, scope, policy, chunk_id=chunk_id)
            assert chunk_id not in passages
            continue
        report = why(index, asked, scope, policy, chunk_id=chunk_id)
        assert report.admitted == (chunk_id in passages)
        assert report.admitted == (report.lost_at is None)
        assert [stage.passed for stage in report.stages if stage.name == report.lost_at] == [False] * (
            not report.admitted
        )
        if report.admitted:
            assert report.stages[-1].rank == passages[chunk_id]


@settings(max_examples=150)
@given(index=corpora(), asked=questions(), scope=scopes(), policy=policies())
def test_a_suggestion_admits_and_is_the_only_change(
    index: DictIndex, asked: Question, scope: Scope, policy: Policy
) -> None:
    for chunk_id, entry in index.entries.items():
        if not scope.principal.may_read(entry.readable_by):
            continue
        suggestion = why(index, asked, scope, policy, chunk_id=chunk_id).suggestion
        if suggestion is None:
            continue
        options, selection = policy
        if suggestion.setting == "candidate_k":
            options = replace(options, candidate_k=int(suggestion.value))
            smaller = replace(options, candidate_k=int(suggestion.value) - 1), selection
        else:
            selection = replace(selection, **{suggestion.setting: suggestion.value})  # type: ignore[arg-type]
            smaller = None
        assert chunk_id in admitted(index, asked, scope, (options, selection))
        assert selection.limit <= options.candidate_k
        if smaller is not None and smaller[0].candidate_k >= max(1, selection.limit):
            assert chunk_id not in admitted(index, asked, scope, smaller)


@given(index=corpora(), asked=questions(), scope=scopes(), policy=policies())
def test_a_document_is_admitted_when_one_of_its_chunks_is(
    index: DictIndex, asked: Question, scope: Scope, policy: Policy
) -> None:
    passages = admitted(index, asked, scope, policy)
    readable = Counter(
        entry.chunk.document_id for entry in index.entries.values() if scope.principal.may_read(entry.readable_by)
    )
    for document_id in readable:
        report = why(index, asked, scope, policy, document_id=document_id)
        of_document = {chunk_id for chunk_id, entry in index.entries.items() if entry.chunk.document_id == document_id}
        assert report.document_id == document_id
        assert report.admitted == bool(of_document & set(passages))
        if report.admitted:
            assert report.chunk_id in passages
