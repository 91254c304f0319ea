"""Sweep, gate and compare through the command line: what an evaluation decides."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli
from support.collection import collection


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path / "home", capsys)


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    return collection(tmp_path / "made")


def test_compare_finds_what_differs_and_refuses_other_corpora(cli: Cli, golden: Path, tmp_path: Path) -> None:
    for name, alpha in (("a", "0.1"), ("b", "0.9")):
        options = ("--variants", "economy", "-o", tmp_path / name, "--set", f"fusion_alpha={alpha}")
        assert cli("eval", "--golden", golden, *options).code == 0
    reports = (tmp_path / "a" / "report.json", tmp_path / "b" / "report.json")
    found = cli("compare", *reports, "--json").json()
    assert found["settings"]["settings.fusion_alpha"] == [0.1, 0.9]
    assert found["changes"][0]["variant"] == "economy"
    shown = cli("compare", *reports).out
    assert "B - A" in shown
    assert "A: n = 60 queries; seamline " in shown
    assert "fusion_alpha=0.9" in shown.split("B: n = 60 queries")[1]
    body = json.loads(reports[1].read_text("utf-8"))
    body["retriever"]["corpus_digest"] = "another"
    reports[1].write_text(json.dumps(body), encoding="utf-8")
    assert cli("compare", *reports).code == 2
    assert cli("compare", *reports, "--force").code == 0


def test_sweep_writes_a_calibration_that_searches_use_and_other_spaces_refuse(
    cli: Cli, golden: Path, tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in (golden / "corpus.jsonl").read_text("utf-8").splitlines()]
    rows: list[dict[str, Any]] = [
        {"id": f"of {row['_id']}", "query": row["text"].split(".")[0], "relevantDocumentIds": [row["_id"]]}
        for row in lines
    ]
    rows += [{"id": f"no{n}", "query": f"zinc{n} tungsten{n} vanadium{n}", "unanswerable": True} for n in range(24)]
    questions = tmp_path / "queries.jsonl"
    questions.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert cli("eval", "--golden", golden, "--kb", "default", "--variants", "keyword-only").code == 0
    ran = cli(
        "sweep", "--golden", questions, "--over", "rerank", "--rerankers", "lexical", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    swept = ran.json()
    assert swept["choice"]["in_fold"] >= swept["choice"]["current"] - 1e-12
    assert swept["optimism"] == pytest.approx(swept["choice"]["in_fold"] - swept["choice"]["held_out"]["mean"])
    assert set(swept["thresholds"]) == {"min_cosine", "rerank_min_score of lexical"}
    file = Path(swept["written"])
    result = cli("search", "who opens the harbours", "--json").json()
    assert result["calibrated"]
    plain = ("--json", "--set", "rerank_provider=off")
    answered = [bool(cli("search", row["query"], *plain).json()["passages"]) for row in rows[-24:]]
    assert sum(answered) / 24 == swept["thresholds"]["min_cosine"]["in_fold"]["error"] < 1
    uncalibrated = cli("search", rows[-1]["query"], *plain, "--set", "calibration=off").json()
    assert (bool(uncalibrated["passages"]), uncalibrated["calibrated"]) == (True, False)
    text = file.read_text("utf-8")
    file.write_text(text.replace('space = "space:', 'space = "space:0'), encoding="utf-8")
    refused = cli("search", "who opens the harbours")
    assert refused.code == 1
    assert "was made for space:0" in refused.err
    file.write_text(text.replace('fingerprint = "', 'fingerprint = "0'), encoding="utf-8")
    other = cli("search", "who opens the harbours", "--set", "rerank_provider=lexical")
    assert (other.code, "was calibrated as 0" in other.err) == (1, True)
    assert cli("search", "who opens the harbours", "--set", "rerank_provider=off").code == 0


def test_a_threshold_that_does_not_tell_the_questions_apart_is_reported_and_not_written(
    cli: Cli, golden: Path, tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in (golden / "queries.jsonl").read_text("utf-8").splitlines()]
    questions = [{"id": row["_id"], "query": row["text"], "relevantDocumentIds": ["d00"]} for row in rows]
    questions += [{"id": f"no {row['_id']}", "query": row["text"], "unanswerable": True} for row in rows]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    assert cli("eval", "--golden", golden, "--kb", "default", "--variants", "keyword-only").code == 0
    ran = cli("sweep", "--golden", tmp_path / "queries.jsonl", "--over", "candidate_k")
    assert ran.code == 0, ran.err
    shown = " ".join(ran.out.split())
    assert "AUROC 0.500; does not tell them apart, so not written" in shown
    assert not cli("search", "who opens the harbours", "--json").json()["calibrated"]


def test_sweep_over_chunk_sizes_indexes_scratch_copies(cli: Cli, golden: Path) -> None:
    ran = cli("sweep", "--golden", golden, "--over", "chunk_chars", "--chunk-chars", "60,600", "--dry-run", "--json",
              "--kb", "default", "--set", "min_chunk_chars=10")  # fmt: skip
    assert ran.code == 0, ran.err
    assert set(ran.json()["means"]) == {"as set", "chunk_chars=60 | as set"}
    assert ran.json()["written"] is None
    assert cli("status", "--json").json()["chunks"] == 40


GATE = """\
import sys
import tomllib
from seamline.cli.main import main
import words
main(sys.argv[1:])
"""
BROKEN = """\
from seamline.analyze import languages
languages.STEMMERS.pop("en")  # someone meant to keep English words whole
"""


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=maker", "-c", "user.email=maker@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, timeout=60)


def test_rule_28_gate_in_a_repository_fails_on_a_broken_stemmer_and_names_the_queries(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    collection(repository / "evals" / "made")
    (repository / "release.py").write_text(GATE, encoding="utf-8")
    (repository / "words.py").write_text("", encoding="utf-8")
    (repository / "seamline.toml").write_text('embedding_provider = "hash"\nmode = "keyword"\n', encoding="utf-8")
    git(repository, "init", "-q", "-b", "main")

    def gate(home: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "release.py", "gate", "--golden", "evals/made", "--home", str(tmp_path / home)]
        return subprocess.run(
            [*command, *arguments], cwd=repository, capture_output=True, text=True, check=False, timeout=120
        )

    assert gate("none").returncode == 3  # no baseline: nothing can be decided
    assert gate("good", "--write-baseline").returncode == 0
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "baseline")
    passed = gate("good")
    assert passed.returncode == 0, passed.stderr
    assert "pass" in passed.stdout
    assert "min_ndcg is 0: it gates nothing" in passed.stdout
    (repository / "words.py").write_text(BROKEN, encoding="utf-8")
    git(repository, "commit", "-qam", "keep words whole")
    failed = gate("broken", "--json")
    assert failed.returncode == 1, failed.stderr
    decision = json.loads(failed.stdout)
    assert decision["difference"]["mean"] < -0.1
    assert decision["lost"]
    assert set(decision["lost"]) <= {f"q{n}{p}" for n in range(10) for p in range(6)}
    assert decision["detectable"] > 0.005
    shown = gate("broken")
    assert "lost from the first ten: q" in shown.stdout
    assert "smallest loss that it could have detected" in shown.stdout
    git(repository, "revert", "--no-edit", "HEAD")
    assert gate("mended").returncode == 0
    golden = repository / "evals" / "made" / "qrels" / "test.tsv"
    golden.write_text(golden.read_text("utf-8").replace("q00\td00\t2", "q00\td00\t1"), encoding="utf-8")
    other = gate("mended")
    assert other.returncode == 3
    assert "another golden set" in other.stderr


def test_gate_below_min_ndcg_fails_and_apply_writes_the_switches(cli: Cli, golden: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    arguments = ("gate", "--golden", golden, "--baseline", baseline)
    assert cli(*arguments, "--write-baseline").code == 0
    assert cli(*arguments, "--set", "min_ndcg=1.0").code == 1
    ran = cli(*arguments, "--apply", "--json", "--set", "rerank_provider=lexical", "--set", "gate_margin=1.0")
    assert ran.code == 0, ran.err
    text = Path(ran.json()["applied"]).read_text("utf-8")
    assert "mode = " in text
    assert "rerank_provider = " in text


def test_what_apply_writes_decides_the_next_search_until_it_is_overruled(
    cli: Cli, golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hash embedder's leg is noise beside these words; a reranker that reverses them must lose."""
    from seamline.rerank.lexical import LexicalReranker

    def reversing(self: LexicalReranker, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:  # noqa: ARG001
        return [float(place) for place, _ in enumerate(texts)]

    monkeypatch.setattr(LexicalReranker, "rerank", reversing)
    reranker = ("--set", "rerank_provider=lexical", "--set", "rerank_cache_entries=0")
    arguments = ("gate", "--golden", golden, "--kb", "default", "--baseline", tmp_path / "b.json", "--apply", *reranker)
    before = cli("eval", "--golden", golden, "--kb", "default", "--variants", "keyword-only,economy", "--json").json()
    ran = cli(*arguments, "--write-baseline", "--json")
    assert ran.code == 0, ran.err
    earned = {verdict.split()[0]: "yes" in verdict for verdict in ran.json()["verdicts"]}
    assert earned["fused-weighted+rerank"] is False
    applied = tomllib.loads(Path(ran.json()["applied"]).read_text("utf-8"))["settings"]
    assert applied["rerank_provider"] == "off"
    assert applied["mode"] == ("economy" if earned["fused-weighted"] else "keyword")
    shown = cli(*arguments).out
    assert f"mode = {applied['mode']}, rerank_provider = off" in shown
    assert "rerank_provider is stated (flag), which stands above the calibration" in " ".join(shown.split())
    found = cli("search", "harbours", "--json").json()
    assert found["mode_used"] == applied["mode"]
    assert found["rerank"]["status"] == "off"
    stated = cli("search", "harbours", "--json", "--mode", "dense", *reranker).json()
    assert (stated["mode_used"], stated["rerank"]["status"]) == ("dense", "applied")
    after = cli("eval", "--golden", golden, "--kb", "default", "--variants", "keyword-only,economy", "--json").json()
    assert [variant["measures"] for variant in after["variants"]] == [v["measures"] for v in before["variants"]]


def test_a_few_queries_switch_nothing(cli: Cli, golden: Path, tmp_path: Path) -> None:
    rows = (golden / "queries.jsonl").read_text("utf-8").splitlines()[:5]
    (golden / "queries.jsonl").write_text("\n".join(rows), encoding="utf-8")
    labels = (golden / "qrels" / "test.tsv").read_text("utf-8").splitlines()[:11]
    (golden / "qrels" / "test.tsv").write_text("\n".join(labels), encoding="utf-8")
    ran = cli("gate", "--golden", golden, "--baseline", tmp_path / "b.json", "--write-baseline", "--apply", "--json")
    assert (ran.code, ran.json()["applied"]) == (0, None), ran.err
    assert (
        "nothing was applied: 5 queries are too few"
        in cli("gate", "--golden", golden, "--baseline", tmp_path / "b.json", "--apply").out
    )
