from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from seamline.errors import InvalidRunError
from seamline.evaluation.audit import audit
from seamline.evaluation.gate import baseline_of, decide, detectable, read_baseline, write_baseline
from seamline.evaluation.golden import GoldenQuery, golden_set
from seamline.evaluation.report import Report
from seamline.evaluation.run import evaluate
from seamline.evaluation.variants import Variant, modes, read_variants, select
from seamline.types import RerankOutcome, RetrievalResult
from support.evaluation import ScriptedRetriever, result

GOLDEN = golden_set("g", [GoldenQuery(id=f"q{n}", query=f"find {n}", relevance={f"d{n}": 1}) for n in range(60)])
ALL = ["dense-only", "keyword-only", "fused-weighted", "fused-weighted+rerank"]


def ranked(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
    """Each leg finds half of the documents first; fusion finds them all, and the reranker spoils nothing."""
    number, mode = int(query.split()[1]), str(overrides.get("mode", "hybrid"))
    found = mode == "hybrid" or (mode == "dense") == (number % 2 == 0)
    off = mode != "hybrid" or overrides.get("rerank_provider") == "off"
    outcome = RerankOutcome(status="off") if off else RerankOutcome(status="applied", provider="lexical")
    documents = [f"d{number}", "x"] if found else ["x", f"d{number}"]
    return result(query, documents, mode_requested=mode, mode_used=mode, rerank=outcome)


def run(script: object = ranked, names: list[str] = ALL, about: Mapping[str, object] | None = None) -> Report:
    given = {"rerank_provider": "lexical"} if about is None else about
    return evaluate(ScriptedRetriever(script, given), GOLDEN, select(names), k=8, seed=1)  # type: ignore[arg-type]


def test_fusion_earns_its_keep_and_an_idle_reranker_does_not() -> None:
    report = run()
    verdicts = {verdict.stage: verdict for verdict in report.verdicts}
    assert verdicts["fused-weighted"].earns
    assert "earns its keep: yes" in verdicts["fused-weighted"].sentence
    assert not verdicts["fused-weighted+rerank"].earns
    assert "a gain is not shown" in verdicts["fused-weighted+rerank"].sentence
    assert "Median latency" in report.told(verdicts["fused-weighted+rerank"])
    assert report.to_json(timings=False) == run().to_json(timings=False)


def test_over_few_queries_no_stage_is_shown_to_earn_its_keep() -> None:
    few = golden_set("g", GOLDEN.queries[:10])
    report = evaluate(ScriptedRetriever(ranked, {"rerank_provider": "lexical"}), few, select(ALL), k=8, seed=1)
    fused = next(verdict for verdict in report.verdicts if verdict.stage == "fused-weighted")
    assert fused.difference.low > 0
    assert not fused.earns
    assert "earns its keep: no" in fused.sentence
    assert "not shown: fewer than 50 queries" in fused.sentence


def test_a_reranker_that_never_answers_skips_the_variant_and_one_that_fails_once_invalidates_the_run() -> None:
    late = RerankOutcome(status="skipped", provider="lexical", reason="timeout")

    def silent(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
        found = ranked(query, overrides)
        return replace(found, rerank=late) if found.rerank.status == "applied" else found

    report = run(silent)
    assert report.invalid == ()
    assert (report.variants[3].status, report.variants[3].measures) == ("skipped", {})
    assert report.variants[3].reasons == ("the reranker did not answer (timeout)",)

    def once(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
        return silent(query, overrides) if query == "find 31" else ranked(query, overrides)

    assert any("reranking was skipped (timeout) for 1 of 60" in reason for reason in run(once).invalid)


def test_a_variant_that_names_its_reranker_runs_without_a_configured_one() -> None:
    variant = Variant(name="own", overrides={"rerank_provider": "lexical"}, reranked=True)
    report = evaluate(ScriptedRetriever(ranked, {}), GOLDEN, [variant], k=8, seed=1)
    assert report.variants[0].status == "ok"


def test_the_document_that_is_the_query_can_be_left_out() -> None:
    def itself(query: str, _: Mapping[str, object]) -> RetrievalResult:
        return result(query, [f"q{query.split()[1]}", f"d{query.split()[1]}"])

    retriever = ScriptedRetriever(itself)
    kept = evaluate(retriever, GOLDEN, select(["fused-rrf"]), k=8, seed=1)
    dropped = evaluate(retriever, GOLDEN, select(["fused-rrf"]), k=8, seed=1, drop_query_document=True)
    assert kept.variants[0].measures["success@1"].mean == 0.0
    assert dropped.variants[0].measures["success@1"].mean == 1.0
    assert dropped.to_dict()["settings"]["drop_query_document"] is True  # type: ignore[index]


def test_gate_fails_beyond_its_margin_only_and_names_flips(tmp_path: Path) -> None:
    report = run(names=["fused-weighted"])
    write_baseline(tmp_path / "b.json", baseline_of(report, report.variants[0]))
    baseline = read_baseline(tmp_path / "b.json")

    def gate(lost: set[int], margin: float = 0.005) -> tuple[bool, tuple[str, ...]]:
        def worse(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
            found = ranked(query, overrides)
            return result(query, ["x"]) if int(query.split()[1]) in lost else found

        now = run(worse, ["fused-weighted"])
        found = decide(now, now.variants[0], baseline, margin=margin, min_ndcg=0, seed=1)
        return found.passed, found.lost

    assert gate(set()) == (True, ())
    assert gate({3, 5}) == (False, ("q3", "q5"))
    assert gate({3, 5}, margin=0.2)[0]


def test_the_smallest_detectable_loss_follows_the_usual_formula() -> None:
    assert detectable([0.1, -0.1] * 50) == pytest.approx((1.6449 + 0.8416) * 0.100504 / 10, rel=1e-3)


def test_a_gate_refuses_runs_that_must_not_be_believed(tmp_path: Path) -> None:
    def down(query: str, _: Mapping[str, object]) -> RetrievalResult:
        raise ConnectionError(query)

    broken = run(down, ["fused-weighted"])
    with pytest.raises(InvalidRunError, match="must not be believed"):
        decide(broken, broken.variants[0], None, margin=0.005, min_ndcg=0, seed=1)
    with pytest.raises(InvalidRunError, match="no usable baseline"):
        read_baseline(tmp_path / "absent.json")


def test_modes_and_own_variants(tmp_path: Path) -> None:
    assert [variant.name for variant in modes(["economy", "dense", "hybrid", "power"])] == ["economy", "power"]
    path = tmp_path / "variants.toml"
    path.write_text('[a]\nfusion = "rrf"\nreranked = true\n', encoding="utf-8")
    assert read_variants(path) == (Variant(name="a", overrides={"fusion": "rrf"}, reranked=True),)


def test_an_audit_sees_copied_questions_unique_words_and_unlabelled_twins() -> None:
    text = "the harbour master keeps every lantern filled with clean whale oil through the winter months of each year"
    texts = {"a": text, "twin": text + " indeed", "other": "zeppelin hangars stand beside orchards and quarries"}
    golden = golden_set(
        "g",
        [
            GoldenQuery(id="copied", query="harbour master keeps every lantern filled", relevance={"a": 1}),
            GoldenQuery(id="trivial", query="where are zeppelin sheds found nowadays", relevance={"other": 1}),
            GoldenQuery(id="again", query="Where are zeppelin sheds found nowadays?", relevance={"other": 1}),
        ],
    )
    found = audit(golden, texts)
    assert found.copied == ("copied",)
    assert found.trivial == ("trivial", "again")
    assert found.twins == (("copied", "a", "twin"),)
    assert found.repeated == (("trivial", "again"),)
    assert found.labels == {1: 3}
    assert len(found.warnings) == 5
    assert len(audit(golden, texts, {"a": 0.9, "b": 0.85}).warnings) == 5
    assert "from 60% to 90%, by variant" in audit(golden, texts, {"a": 0.9, "b": 0.6}).warnings[5]
