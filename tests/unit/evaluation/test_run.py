import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from seamline.errors import ModeUnavailableError, StoreError, UsageError
from seamline.evaluation.attempts import Progress
from seamline.evaluation.golden import Coverage, GoldenQuery, GoldenSet, golden_set
from seamline.evaluation.report import Report
from seamline.evaluation.run import evaluate
from seamline.evaluation.runs import run_lines, write_qrels, write_runs
from seamline.evaluation.variants import BUILT_IN, Variant, select
from seamline.types import RerankOutcome, RetrievalResult
from support.evaluation import Script, ScriptedRetriever, result

APPLIED = RerankOutcome(status="applied", provider="lexical")
GOLDEN = golden_set(
    "hand-made",
    [
        GoldenQuery(id="a", query="find a", relevance={"doc a": 1}, language="en", tags=("first", "both")),
        GoldenQuery(id="b", query="find b", relevance={"b": 1}, language="fr", tags=("both",)),
        GoldenQuery(id="c", query="find c", relevance={"c": 1}),
        GoldenQuery(id="none", query="nobody wrote this", unanswerable=True),
    ],
)
LEGS = select(["keyword-only", "dense-only"])


def perfect(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
    mode = str(overrides.get("mode", "hybrid"))
    target = {"find a": "doc a", "find b": "b", "find c": "c"}[query]
    return result(query, [target, target, "other", target], mode_requested=mode, mode_used=mode)


def dense_is_worse(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
    if overrides["mode"] == "dense" and query == "find b":
        return result(query, ["x", "x", "b"], mode_requested="dense", mode_used="dense")
    return perfect(query, overrides)


def run(
    script: Script,
    variants: tuple[Variant, ...] = LEGS,
    *,
    golden: GoldenSet = GOLDEN,
    about: Mapping[str, object] | None = None,
    passages: int = 50,
    baseline: str | None = None,
    coverage: Coverage | None = None,
    sample_corpus: bool = False,
    progress: Progress | None = None,
) -> Report:
    return evaluate(
        ScriptedRetriever(script, about or {}),
        golden,
        variants,
        k=8,
        seed=1,
        passages=passages,
        baseline=baseline,
        coverage=coverage,
        sample_corpus=sample_corpus,
        progress=progress,
    )


def test_chunks_become_documents_by_best_rank() -> None:
    report = run(dense_is_worse)
    keyword, dense = report.variants
    assert keyword.queries[0].documents == ("doc a", "other")
    assert dense.queries[1].measures["mrr@10"] == 0.5
    assert keyword.measures["mrr@10"].mean == 1.0
    assert dense.measures["mrr@10"].mean == pytest.approx(2.5 / 3)


def test_unanswerable_queries_are_counted_apart_and_not_run() -> None:
    retriever = ScriptedRetriever(perfect)
    report = evaluate(retriever, GOLDEN, LEGS, k=8, seed=1)
    assert (report.judged, report.unanswerable) == (3, 1)
    assert all(query != "nobody wrote this" for query, _, _ in retriever.calls)


def test_passages_and_overrides_reach_the_retriever_after_one_warm_up() -> None:
    retriever = ScriptedRetriever(perfect)
    evaluate(retriever, GOLDEN, select(["fused-rrf"]), k=8, seed=1, passages=40)
    assert [query for query, _, _ in retriever.calls] == ["find a", "find a", "find b", "find c"]
    assert {top_k for _, top_k, _ in retriever.calls} == {40}
    assert all(overrides == {"mode": "hybrid", "fusion": "rrf"} for _, _, overrides in retriever.calls)


def test_rule_28_a_failed_query_counts_zero_and_is_shown() -> None:
    def failing(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
        if query == "find b":
            raise StoreError("the store is gone")
        return perfect(query, overrides)

    (variant, _) = run(failing).variants
    assert variant.status == "ok"
    assert variant.failures == 1
    assert variant.queries[1].error == "StoreError: the store is gone"
    assert set(variant.queries[1].measures.values()) == {0.0}
    assert variant.measures["success@1"].mean == pytest.approx(2 / 3)


def test_rule_02_of_00_an_outage_is_an_invalid_run_and_not_a_row_of_zeros() -> None:
    def down(query: str, _: Mapping[str, object]) -> RetrievalResult:
        raise ConnectionError(f"refused: {query}")

    report = run(down, about={"rerank_provider": "off"})
    assert all(variant.status == "invalid" for variant in report.variants)
    assert "ConnectionError: refused: find a" in report.invalid[0]
    assert report.comparisons == ()
    assert report.variants[0].latency(50) is None


def test_rule_20_a_degraded_stage_makes_the_variant_invalid() -> None:
    def degraded(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
        if query == "find c":
            return result(query, ["c"], mode_requested="keyword", mode_used="dense")
        return perfect(query, overrides)

    variant = run(degraded).variants[0]
    assert variant.status == "invalid"
    assert "keyword ran as dense for 1 of 3 answered queries" in variant.reasons
    assert any(reason.startswith("mode differed between queries") for reason in variant.reasons)


def test_rule_20_a_skipped_rerank_makes_the_variant_invalid() -> None:
    def skipping(query: str, _: Mapping[str, object]) -> RetrievalResult:
        late = RerankOutcome(status="skipped", provider="lexical", reason="deadline")
        return result(query, ["b"], rerank=late if query == "find b" else APPLIED)

    report = run(skipping, select(["fused-rrf+rerank"]), about={"rerank_provider": "lexical"})
    assert any("reranking was skipped (deadline) for 1 of 3" in reason for reason in report.invalid)
    assert any("no reranker ordered 1 queries" in reason for reason in report.invalid)


def test_a_variant_without_reranking_that_was_reranked_is_invalid() -> None:
    report = run(lambda query, _: result(query, ["b"], rerank=APPLIED), select(["fused-rrf"]))
    assert "a reranker ordered 3 queries" in report.invalid[0]


def test_a_configured_reranker_is_switched_off_where_the_variant_has_none() -> None:
    retriever = ScriptedRetriever(
        lambda query, overrides: result(
            query, ["b"], rerank=RerankOutcome(status="off") if overrides.get("rerank_provider") == "off" else APPLIED
        ),
        {"rerank_provider": "lexical"},
    )
    report = evaluate(retriever, GOLDEN, select(["fused-rrf", "fused-rrf+rerank"]), k=8, seed=1)
    assert [variant.status for variant in report.variants] == ["ok", "ok"]
    assert report.variants[1].stages["rerank"] == "applied (lexical)"


def test_a_variant_that_cannot_run_is_skipped_with_its_reason() -> None:
    def no_vectors(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
        if overrides["mode"] == "dense":
            raise ModeUnavailableError("the kb has no vectors")
        return perfect(query, overrides)

    report = run(no_vectors, BUILT_IN)
    found = {variant.name: (variant.status, variant.reasons) for variant in report.variants}
    assert found["dense-only"] == ("skipped", ("the kb has no vectors",))
    assert found["fused-rrf+rerank"] == ("skipped", ("no reranker",))
    assert found["fused-weighted"] == ("ok", ())
    assert report.baseline == "keyword-only"
    assert report.rows()[0]["measures"] == {}


def test_a_corpus_that_changes_between_variants_is_an_invalid_run() -> None:
    def moving(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
        mode = str(overrides["mode"])
        return result(query, ["b"], mode_requested=mode, mode_used=mode, corpus=f"corpus:{mode}")

    assert run(moving).invalid == ("the corpus changed while the variants ran",)


def test_comparison_counts_wins_ties_losses_and_names_the_most_hurt() -> None:
    (comparison,) = run(dense_is_worse).comparisons
    assert (comparison.variant, comparison.baseline) == ("dense-only", "keyword-only")
    assert (comparison.wins, comparison.ties, comparison.losses) == (0, 2, 1)
    assert [query for query, _ in comparison.worst] == ["b"]
    assert comparison.difference.mean < 0
    assert comparison.p_adjusted == comparison.p_value == 1.0
    (turned,) = run(dense_is_worse, baseline="dense-only").comparisons
    assert (turned.wins, turned.worst) == (1, ())


def test_p_values_are_corrected_for_the_number_of_variants() -> None:
    golden = golden_set("g", [GoldenQuery(id=str(n), query=f"q{n}", relevance={"d": 1}) for n in range(6)])

    def only_keyword_finds(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
        mode = str(overrides["mode"])
        return result(query, ["d"] if mode == "keyword" else ["x"], mode_requested=mode, mode_used=mode)

    variants = select(["keyword-only", "dense-only", "fused-rrf", "fused-weighted"])
    comparisons = run(only_keyword_finds, variants, golden=golden).comparisons
    assert [comparison.p_value for comparison in comparisons] == pytest.approx([2 / 64] * 3, abs=0.006)
    assert [comparison.p_adjusted / comparison.p_value for comparison in comparisons] == pytest.approx([3.0] * 3)


def test_a_baseline_that_did_not_run_is_said() -> None:
    report = run(perfect, select(["keyword-only", "fused-rrf+rerank"]), baseline="fused-rrf+rerank")
    assert report.baseline is None
    assert report.notices[-1] == "Nothing was compared: the baseline fused-rrf+rerank is skipped."


def test_rule_28_the_report_is_the_same_apart_from_timings() -> None:
    first, second = run(dense_is_worse), run(dense_is_worse)
    assert first.to_json(timings=False) == second.to_json(timings=False)
    body = json.loads(first.to_json())
    assert set(body.pop("timings")) == {"keyword-only", "dense-only"}
    made = body.pop("made")
    assert made["at"].endswith("+00:00")
    assert "processors" in made["machine"]
    assert body == json.loads(first.to_json(timings=False))
    assert body["variants"][1]["queries"][1] == {
        "id": "b",
        "documents": ["x", "b"],
        "measures": dict(first.variants[1].queries[1].measures),
        "error": None,
        "hits": [["x", *[None] * 8], ["b", *[None] * 8]],
    }


def test_rows_carry_intervals_latency_and_splits() -> None:
    report = run(dense_is_worse, coverage=Coverage(documents=3))
    row = report.rows()[1]
    assert (row["variant"], row["group"], row["queries"], row["failures"]) == ("dense-only", None, 3, 0)
    interval = report.variants[1].measures["ndcg@10"]
    assert interval.low <= interval.mean <= interval.high
    groups = [(row["variant"], row["group"], row["queries"]) for row in report.rows("tag")]
    assert groups[:3] == [("keyword-only", "(none)", 1), ("keyword-only", "both", 2), ("keyword-only", "first", 1)]
    assert [row["group"] for row in report.rows("language")] == ["(none)", "en", "fr"] * 2


def test_rule_07_of_00_stand_ins_of_info_and_results_are_told() -> None:
    def standing_in(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
        mode = str(overrides["mode"])
        return result(query, ["b"], mode_requested=mode, mode_used=mode, stand_ins=("hash",))

    told = run(standing_in, about={"stand_ins": frozenset({"lexical"})}, sample_corpus=True).notices
    assert any("sample corpus" in notice for notice in told)
    assert any("hash, lexical" in notice for notice in told)
    assert any("only 3 queries" in notice for notice in told)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variants": ()}, "unique names"),
        ({"variants": LEGS * 2}, "unique names"),
        ({"baseline": "nobody"}, "not among the variants"),
        ({"passages": 5}, "recall@8 out of 5"),
        ({"passages": 9}, "recall@8 out of 9"),
        ({"golden": golden_set("g", [GoldenQuery(id="n", query="n", unanswerable=True)])}, "nothing to rank"),
        ({"about": {"stand_ins": "hash"}}, "a list of names"),
        ({"about": {"model": object()}}, "JSON values only"),
        ({"about": {"dimension": float("nan")}}, "JSON values only"),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(perfect, **options)


def test_progress_counts_the_queries_that_every_variant_has_answered() -> None:
    seen: list[tuple[int, int]] = []
    run(perfect, progress=lambda done, of: seen.append((done, of)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_variants_take_turns_so_that_a_busy_machine_slows_all_of_them_alike() -> None:
    retriever = ScriptedRetriever(perfect)
    evaluate(retriever, GOLDEN, LEGS, k=8, seed=1)
    calls = [(query, overrides["mode"]) for query, _, overrides in retriever.calls]
    assert calls[:2] == [("find a", "keyword"), ("find a", "dense")]  # unmeasured
    assert calls[2:] == [
        ("find a", "keyword"), ("find a", "dense"), ("find b", "dense"), ("find b", "keyword"), ("find c", "keyword"),
        ("find c", "dense"),
    ]  # fmt: skip


def test_unknown_and_repeated_variants_are_refused() -> None:
    with pytest.raises(UsageError, match="did you mean dense-only"):
        select(["dense-onyl"])
    with pytest.raises(UsageError, match="known variants: dense-only"):
        select(["???"])
    with pytest.raises(UsageError, match="asked for twice"):
        select(["fused-rrf", "fused-rrf"])


def test_spelling_of_ids_in_run_files_keeps_them_apart() -> None:
    lines = list(run_lines("q", ["a b", "a%20b", "a\u00a0b"], "v"))
    assert [line.split(" ")[2] for line in lines] == ["a%20b", "a%2520b", "a%C2%A0b"]
    assert [line.split(" ")[4] for line in lines] == ["3", "2", "1"]


def test_run_and_qrels_files_are_readable_whatever_the_ids(tmp_path: Path) -> None:
    report = run(dense_is_worse, select(["keyword-only", "dense-only", "fused-rrf+rerank"]))
    written = write_runs(report, tmp_path / "runs")
    assert [path.name for path in written] == ["keyword-only.run", "dense-only.run"]
    first = written[1].read_text(encoding="utf-8").splitlines()[0]
    assert first == "a Q0 doc%20a 1 2 dense-only"
    write_qrels(GOLDEN, tmp_path / "qrels")
    assert (tmp_path / "qrels").read_text(encoding="utf-8") == "a 0 doc%20a 1\nb 0 b 1\nc 0 c 1\n"
