"""Fusion as a pure function: order, ties, missing scores, silent legs."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamline.errors import IntegrityError
from seamline.retrieve.fusion import Normaliser, dbsf, rrf, weighted
from seamline.types import Candidate, Stages
from support.retrieve import candidate, with_stages

Fuse = Callable[[list[Candidate]], list[Candidate]]
NORMALISERS: tuple[Normaliser, ...] = ("theoretical", "shifted", "min_max", "z_score")


def by_language(language: str | None) -> float:
    return 0.2 if language == "ru" else 0.6


def weighted_by(normaliser: Normaliser) -> Fuse:
    return lambda candidates: weighted(candidates, alpha=by_language, normaliser=normaliser)


FUSIONS = [
    *(pytest.param(weighted_by(n), id=n) for n in NORMALISERS),
    pytest.param(lambda c: rrf(c, k=60), id="rrf"),
    pytest.param(dbsf, id="dbsf"),
]


def scored(fused: list[Candidate]) -> list[tuple[object, object]]:
    return [(c.chunk_id, c.stages.fused_score) for c in fused]


def ranked(candidates: list[Candidate], depth: int = 1000) -> list[Candidate]:
    """The candidates with the ranks that legs of a depth would give them: a keyword pool holds positive scores."""
    found = {c.chunk_id: with_stages(c, dense_rank=None, keyword_rank=None) for c in candidates}
    for field, rank_field in (("cosine", "dense_rank"), ("keyword_score", "keyword_rank")):
        pool = [(-score, c.chunk_id) for c in candidates if (score := getattr(c.stages, field)) is not None]
        if field == "keyword_score":
            pool = [entry for entry in pool if entry[0] < 0]
        for rank, (_, chunk_id) in enumerate(sorted(pool)[:depth], 1):
            found[chunk_id] = with_stages(found[chunk_id], **{rank_field: rank})
    return list(found.values())


def scores(low: float, high: float) -> st.SearchStrategy[float | None]:
    few = st.sampled_from([low, 0.0, 0.25, 0.5, high])
    return st.none() | few | st.floats(low, high, allow_nan=False)


@st.composite
def pools(draw: st.DrawFn, languages: tuple[str | None, ...] = (None, "en", "ru")) -> list[Candidate]:
    ids = draw(st.lists(st.text("abcé", min_size=1, max_size=3), unique=True, max_size=12))
    made = [
        candidate(
            one,
            language=draw(st.sampled_from(languages)),
            cosine=draw(scores(-1.0, 1.0)),
            keyword_score=draw(scores(0.0, 60.0)),
        )
        for one in ids
    ]
    return ranked(made, draw(st.integers(1, 12)))


@pytest.mark.parametrize("fuse", FUSIONS)
@given(candidates=pools(), data=st.data())
def test_rule_18_any_permutation_fuses_to_the_same_total_order(
    fuse: Fuse, candidates: list[Candidate], data: st.DataObject
) -> None:
    fused = fuse(candidates)
    assert fuse(data.draw(st.permutations(candidates))) == fused
    assert [c.stages.fused_rank for c in fused] == list(range(1, len(candidates) + 1))
    keys = [(-(c.stages.fused_score or 0.0), c.chunk_id) for c in fused]
    assert keys == sorted(keys)
    assert {c.chunk_id for c in fused} == {c.chunk_id for c in candidates}


@pytest.mark.parametrize("fuse", FUSIONS)
@given(candidates=pools())
def test_fused_scores_are_finite_and_stages_are_kept(fuse: Fuse, candidates: list[Candidate]) -> None:
    before = {c.chunk_id: c for c in candidates}
    for c in fuse(candidates):
        assert c.stages.fused_score is not None
        assert math.isfinite(c.stages.fused_score)
        assert with_stages(c, fused_rank=None, fused_score=None) == before[c.chunk_id]


@pytest.mark.parametrize(
    "fuse", [pytest.param(weighted_by("theoretical"), id="theoretical"), pytest.param(weighted_by("min_max"), id="min")]
)
@given(candidates=pools(), data=st.data())
def test_a_better_score_never_costs_a_place(fuse: Fuse, candidates: list[Candidate], data: st.DataObject) -> None:
    candidates = ranked(candidates)
    raisable = [c for c in candidates if c.stages.cosine is not None or c.stages.keyword_score is not None]
    if not raisable:
        return
    chosen = data.draw(st.sampled_from(raisable))
    field = data.draw(
        st.sampled_from([f for f in ("cosine", "keyword_score") if getattr(chosen.stages, f) is not None])
    )
    top = 1.0 if field == "cosine" else 60.0
    better = data.draw(st.floats(getattr(chosen.stages, field), top))
    raised = with_stages(chosen, **{field: better})
    after = fuse(ranked([raised if c is chosen else c for c in candidates]))
    scores_before = {c.chunk_id: c.stages.fused_score or 0.0 for c in fuse(candidates)}
    scores_after = {c.chunk_id: c.stages.fused_score or 0.0 for c in after}
    for other in scores_before:
        if scores_before[chosen.chunk_id] > scores_before[other] + 1e-9:
            assert scores_after[chosen.chunk_id] >= scores_after[other] - 1e-9


@given(candidates=pools(languages=(None,)), normaliser=st.sampled_from(NORMALISERS), alpha=st.floats(0, 1))
def test_what_is_best_in_both_legs_is_never_placed_behind(
    candidates: list[Candidate], normaliser: Normaliser, alpha: float
) -> None:
    fused = weighted(ranked(candidates), alpha=alpha, normaliser=normaliser)
    for place, c in enumerate(fused):
        for ahead in fused[:place]:
            stages, other = c.stages, ahead.stages
            if None in (stages.cosine, stages.keyword_score, other.cosine, other.keyword_score):
                continue
            dominates = stages.cosine >= other.cosine and stages.keyword_score >= other.keyword_score  # type: ignore[operator]
            if dominates:
                assert stages.fused_score == pytest.approx(other.fused_score, abs=1e-9)


@pytest.mark.parametrize("fuse", FUSIONS)
@pytest.mark.parametrize("field", ["cosine", "keyword_score"])
@given(values=st.lists(st.floats(0.001, 1.0), unique=True, max_size=10), data=st.data())
def test_rule_14_one_leg_alone_keeps_its_own_order(
    fuse: Fuse, field: str, values: list[float], data: st.DataObject
) -> None:
    """Also where languages weigh the legs differently: a leg without terms contributes nothing at all."""
    languages = data.draw(st.lists(st.sampled_from(["en", "ru"]), min_size=len(values), max_size=len(values)))
    rank_field = "dense_rank" if field == "cosine" else "keyword_rank"
    candidates = [
        candidate(f"c{rank:02}", language=language, **{field: value, rank_field: rank})
        for rank, (value, language) in enumerate(zip(sorted(values, reverse=True), languages, strict=True), 1)
    ]
    fused = fuse(candidates)
    ranks = [getattr(c.stages, rank_field) for c in fused]
    gaps = [a - b for a, b in zip(sorted(values, reverse=True), sorted(values, reverse=True)[1:], strict=False)]
    if all(gap > 1e-6 for gap in gaps):
        assert ranks == list(range(1, len(values) + 1))
    assert sorted(ranks) == list(range(1, len(values) + 1))


@pytest.mark.parametrize("fuse", FUSIONS)
def test_nothing_fuses_to_nothing(fuse: Fuse) -> None:
    assert fuse([]) == []


@pytest.mark.parametrize("fuse", FUSIONS)
def test_ties_are_ordered_by_chunk_id(fuse: Fuse) -> None:
    tied = [
        candidate(one, cosine=0.5, dense_rank=1, keyword_score=3.0, keyword_rank=1) for one in ("b", "a", "Z", "é", "c")
    ]
    assert [c.chunk_id for c in fuse(tied)] == ["Z", "a", "b", "c", "é"]


@pytest.mark.parametrize("fuse", FUSIONS)
def test_rule_19_one_leg_may_not_vote_twice(fuse: Fuse) -> None:
    twice = [candidate("a", cosine=0.5, dense_rank=1), candidate("a", cosine=0.4, dense_rank=2)]
    with pytest.raises(IntegrityError, match="vote twice"):
        fuse(twice)


def test_rule_19_rrf_counts_ranks_of_pools_only() -> None:
    """A completed score outside the pool has no rank, so it adds nothing."""
    fused = rrf(
        [
            candidate("both", dense_rank=2, cosine=0.4, keyword_rank=1, keyword_score=9.0),
            candidate("dense", dense_rank=1, cosine=0.9, keyword_score=8.9),
        ],
        k=60,
    )
    assert scored(fused) == [
        ("both", pytest.approx(1 / 62 + 1 / 61)),
        ("dense", pytest.approx(1 / 61)),
    ]


def test_rrf_weights_are_by_leg() -> None:
    fused = rrf(
        [candidate("d", dense_rank=1), candidate("k", keyword_rank=1)], k=9, dense_weight=0.5, keyword_weight=2.0
    )
    assert scored(fused) == [("k", pytest.approx(0.2)), ("d", 0.05)]


def test_weighted_theoretical_by_hand() -> None:
    fused = weighted(
        [
            candidate("a", cosine=0.8, dense_rank=1, keyword_score=5.0, keyword_rank=2),
            candidate("b", cosine=0.4, dense_rank=2, keyword_score=10.0, keyword_rank=1),
            candidate("c", cosine=-0.3, dense_rank=3, keyword_score=None),
        ],
        alpha=0.6,
        normaliser="theoretical",
    )
    assert scored(fused) == [
        ("a", pytest.approx(0.6 * 1 + 0.4 * 0.5)),
        ("b", pytest.approx(0.6 * 0.5 + 0.4 * 1)),
        ("c", 0.0),
    ]


def test_weighted_z_score_by_hand() -> None:
    fused = weighted(
        [
            candidate("a", cosine=1.0, dense_rank=1, keyword_score=2.0, keyword_rank=1),
            candidate("b", cosine=0.0, dense_rank=2, keyword_score=None),
            candidate("c", cosine=0.5, dense_rank=3, keyword_score=0.0),
        ],
        alpha=0.5,
        normaliser="z_score",
    )
    deviation = math.sqrt(1 / 6)
    assert dict(scored(fused)) == {
        "a": pytest.approx(0.5 * 0.5 / deviation + 0.5),
        "b": pytest.approx(-0.5 * 0.5 / deviation - 0.5),
        "c": pytest.approx(-0.5),
    }


def test_weighted_shifted_by_hand() -> None:
    fused = weighted(
        [
            candidate("a", cosine=0.6, dense_rank=1, keyword_score=0.0),
            candidate("b", cosine=-1.0, dense_rank=2, keyword_score=4.0, keyword_rank=1),
        ],
        alpha=0.8,
        normaliser="shifted",
    )
    assert dict(scored(fused)) == {"a": pytest.approx(0.8), "b": pytest.approx(0.2)}


def test_dbsf_by_hand() -> None:
    """Dense pool 1.0, 0.0: mean 0.5, deviation 0.5, so -1 is 0 and 2 is 1. The keyword pool has no spread."""
    fused = dbsf(
        [
            candidate("a", cosine=1.0, dense_rank=1, keyword_score=2.0, keyword_rank=1),
            candidate("b", cosine=0.0, dense_rank=2, keyword_score=0.0),
            candidate("c", cosine=-0.7, keyword_score=2.0, keyword_rank=2),
            candidate("d", cosine=None, keyword_score=2.0, keyword_rank=3),
        ]
    )
    assert scored(fused) == [
        ("a", pytest.approx(2 / 3 + 0.5)),
        ("b", pytest.approx(1 / 3 + 0.5)),
        ("c", pytest.approx(0.1 + 0.5)),
        ("d", pytest.approx(0.1 + 0.5)),
    ]


def test_a_completed_score_above_its_pool_earns_no_more_than_the_pools_best() -> None:
    """A chunk without the quoted phrase is outside the pool, however high it would have scored."""
    fused = weighted(
        [
            candidate("phrase", cosine=0.5, dense_rank=2, keyword_score=2.0, keyword_rank=1),
            candidate("words", cosine=0.6, dense_rank=1, keyword_score=8.0),
        ],
        alpha=0.6,
        normaliser="theoretical",
    )
    assert dict(scored(fused)) == {
        "words": pytest.approx(1.0),
        "phrase": pytest.approx(0.6 * 0.5 / 0.6 + 0.4),
    }


def test_the_language_decides_the_weight() -> None:
    same = Stages(cosine=1.0, dense_rank=1, keyword_score=0.0)
    fused = weighted(
        [
            Candidate(chunk_id=candidate("en").chunk_id, stages=same, language="en"),
            Candidate(chunk_id=candidate("ru").chunk_id, stages=same, language="ru"),
            candidate("k", language="en", cosine=0.0, keyword_score=1.0, keyword_rank=1),
        ],
        alpha=by_language,
        normaliser="theoretical",
    )
    assert scored(fused) == [
        ("en", pytest.approx(0.6)),
        ("k", pytest.approx(0.4)),
        ("ru", pytest.approx(0.2)),
    ]
