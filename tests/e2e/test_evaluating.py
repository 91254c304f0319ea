"""Evaluation through the command line: from a collection on disk to a decision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest
import pytrec_eval

from seamline.evaluation.trec import read_qrels, read_run
from support.cli import Cli
from support.collection import collection

WORDS_ONLY = """\
import json
from pathlib import Path
from seamline.types import RankedHit

class Words:
    def __init__(self):
        lines = Path("made/corpus.jsonl").read_text("utf-8").splitlines()
        self.documents = {row["_id"]: set(row["text"].split()) for row in map(json.loads, lines)}

    def retrieve(self, query, *, top_k):
        asked = set(query.rstrip("?").split())
        ranked = sorted(self.documents, key=lambda id_: (-len(asked & self.documents[id_]), id_))
        return [RankedHit(document_id=id_) for id_ in ranked[:top_k]]

    def info(self):
        return {"documents": len(self.documents)}
"""


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path / "home", capsys)


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    return collection(tmp_path / "made")


def test_one_command_from_nothing_and_an_independent_evaluation_agrees(cli: Cli, golden: Path, tmp_path: Path) -> None:
    ran = cli("eval", "--golden", golden, "--output", tmp_path / "out", "--json")
    assert ran.code == 0, ran.err
    report = ran.json()
    assert report["golden"]["judged"] == 60
    statuses = {variant["name"]: variant["status"] for variant in report["variants"]}
    assert statuses["fused-rrf+rerank"] == "skipped"
    assert statuses["economy"] == statuses["fused-weighted"] == "ok"
    qrels = read_qrels(tmp_path / "out" / "golden.qrels")
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map", "success.1"})
    for variant in report["variants"]:
        if variant["status"] == "ok":
            ranked = read_run(tmp_path / "out" / f"{variant['name']}.run")
            scores = {q: {d: float(-r) for r, d in enumerate(documents)} for q, documents in ranked.items()}
            theirs = evaluator.evaluate(scores)
            for ours, name in (("ndcg@10", "ndcg_cut_10"), ("map", "map"), ("success@1", "success_1")):
                mean = sum(values[name] for values in theirs.values()) / 60
                assert variant["measures"][ours]["mean"] == pytest.approx(mean, abs=1e-9)
    assert any("stand-ins took part" in notice for notice in report["notices"])
    assert not any("fewer than 50" in notice or "sample corpus" in notice for notice in report["notices"])
    again = cli("eval", "--golden", golden)
    assert "earns its keep" in again.out
    assert "keyword-only" in again.out


def test_rule_20_one_skipped_rerank_makes_the_run_invalid_with_exit_code_3(
    cli: Cli, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from seamline.rerank.lexical import LexicalReranker

    honest = LexicalReranker.rerank

    def failing(self: LexicalReranker, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        if query == "bridges":
            raise ConnectionError("refused")
        return honest(self, query, texts, deadline_s=deadline_s)

    arguments = ("eval", "--golden", golden, "--variants", "fused-weighted+rerank", "--set", "rerank_provider=lexical")
    with monkeypatch.context() as patched:  # first: scores that were once computed are kept
        patched.setattr(LexicalReranker, "rerank", failing)
        ran = cli(*arguments, "--json")
    assert ran.code == 3
    assert any("reranking was skipped (error) for 1 of 60" in reason for reason in ran.json()["invalid"])
    assert cli(*arguments).code == 0


def test_a_run_of_another_system_stands_beside_our_variants(cli: Cli, golden: Path, tmp_path: Path) -> None:
    ours = ("eval", "--golden", golden, "--variants", "keyword-only")
    assert cli(*ours, "-o", tmp_path / "out").code == 0
    run = tmp_path / "out" / "keyword-only.run"
    ran = cli(*ours, "--run", f"copy={run}", "--json").json()
    first, second = ran["variants"]
    assert (second["name"], second["measures"]) == ("copy", first["measures"])
    assert ran["timings"]["copy"]["p50_ms"] is None
    assert ran["comparisons"][0]["ties"] == 60
    assert cli(*ours, "--run", f"keyword-only={run}").code == 2
    run.write_text("elsewhere Q0 d00 1 1 t\n", encoding="utf-8")
    assert cli(*ours, "--run", f"stranger={run}", "-o", tmp_path / "page").code == 3


def test_another_system_alone_needs_no_knowledge_base(
    cli: Cli, golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "words_only.py").write_text(WORDS_ONLY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    ran = cli("eval", "--golden", golden, "--variants", "", "--system", "words=words_only:Words", "--json")
    assert ran.code == 0, ran.err
    (words,) = ran.json()["variants"]
    assert words["measures"]["ndcg@10"]["mean"] > 0.3
    assert ran.json()["settings"]["systems"] == {"words": {"documents": 40}}
    assert cli("kb", "list", "--json").json() == []
    beside = cli(
        "eval", "--golden", golden, "--variants", "keyword-only", "--system", "words=words_only:Words", "--json"
    )
    assert [variant["name"] for variant in beside.json()["variants"]] == ["keyword-only", "words"]
    assert beside.json()["variants"][1]["measures"] == words["measures"]
    assert cli("eval", "--golden", golden, "--variants", "").code == 2


class Page(HTMLParser):
    """Counts elements, and collects what a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "link", "br", "img", "input"):
            self.open.append(tag)
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href", "action")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_one_well_formed_file_that_fetches_nothing(cli: Cli, golden: Path, tmp_path: Path) -> None:
    lines = (golden / "queries.jsonl").read_text("utf-8").splitlines()
    first = json.loads(lines[0]) | {"text": "who opens the harbours </script><img src=http://example.org/x onerror=y>"}
    (golden / "queries.jsonl").write_text("\n".join([json.dumps(first), *lines[1:]]), encoding="utf-8")
    assert cli("eval", "--golden", golden, "--output", tmp_path / "out").code == 0
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert page.fetched == []
    assert page.seen.count("script") == 2
    assert page.seen.count("svg") >= 8
    assert "@import" not in text
    assert "url(" not in text
    data = json.loads(text.split('id="data">', 1)[1].split("</script>", 1)[0])
    assert len(data["questions"]) == 60
    assert "prefers-color-scheme: dark" in text
    hits = data["variants"][0]["queries"]["q00"]["hits"]
    assert dict(zip(data["hit_columns"], hits[0], strict=True))["cosine"] is not None


def test_variants_of_ones_own(cli: Cli, golden: Path, tmp_path: Path) -> None:
    (tmp_path / "variants.toml").write_text("[mostly-words]\nfusion_alpha = 0.1\n", encoding="utf-8")
    ran = cli(
        "eval", "--golden", golden, "--variants-file", tmp_path / "variants.toml", "--variants",
        "keyword-only,mostly-words", "--json",
    )  # fmt: skip
    assert [variant["overrides"] for variant in ran.json()["variants"]][1] == {"fusion_alpha": 0.1}
    (tmp_path / "variants.toml").write_text("[typo]\nfusion_alfa = 0.1\n", encoding="utf-8")
    refused = cli("eval", "--golden", golden, "--variants-file", tmp_path / "variants.toml")
    assert (refused.code, "fusion_alpha" in refused.err) == (2, True)


def test_a_corpus_never_replaces_documents_from_elsewhere(cli: Cli, golden: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "note.md").write_text("# Note\n\nThe harbour is mine.\n", encoding="utf-8")
    assert cli("index", tmp_path / "mine").code == 0
    refused = cli("eval", "--golden", golden, "--kb", "default")
    assert refused.code == 2
    assert "unknown document 'd00'" in refused.err
    assert cli("status", "--json").json()["documents"] == 1


def test_a_corpus_that_comes_with_its_questions_has_a_kb_of_its_own_that_is_kept(
    cli: Cli, golden: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "note.md").write_text("# Note\n\nThe harbour is mine.\n", encoding="utf-8")
    assert cli("index", tmp_path / "mine").code == 0
    only = ("eval", "--golden", golden, "--variants", "keyword-only")
    first, second = cli(*only), cli(*only)
    assert (first.code, second.code) == (0, 0)
    assert cli("status", "--json").json()["documents"] == 1
    names = [kb["kb"] for kb in cli("kb", "list", "--json").json()]
    assert len(names) == 2
    own = next(name for name in names if name.startswith("golden-made-"))
    assert own in first.err
    assert cli("status", "--kb", own, "--json").json()["documents"] == 40
    assert cli(*only, "--set", "embedding_precision=float32").code == 0
    assert len(cli("kb", "list", "--json").json()) == 3


def test_every_report_says_what_made_it_without_secrets(cli: Cli, golden: Path, tmp_path: Path) -> None:
    secret = ("--set", "rerank_api_key=hush-hush", "--set", "SEAMLINE_RERANK_BASE_URL=http://me:hush-hush@127.0.0.1:9/")
    ran = cli("eval", "--golden", golden, "--variants", "keyword-only", "-o", tmp_path / "out", *secret)
    assert ran.code == 0, ran.err
    made = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))["made"]
    assert made["command"].startswith(f"seamline eval --golden {golden} --variants keyword-only")
    assert "'rerank_api_key=***'" in made["command"]
    assert "***@127.0.0.1:9" in made["command"]
    shown = [ran.out, *(path.read_text("utf-8") for path in (tmp_path / "out").iterdir())]
    assert not any("hush-hush" in text for text in shown)
    assert all(part in ran.out for part in ("n = 60 queries; seamline ", made["at"], "seamline eval --golden"))
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert made["at"] in page


def test_rule_08_labels_whose_quotes_are_gone_are_reported_apart(cli: Cli, tmp_path: Path) -> None:
    document = tmp_path / "docs" / "parts.md"
    document.parent.mkdir()
    document.write_text("# Parts\n\nA seal is kept for seven years.\n", encoding="utf-8")
    row = {"id": "q1", "query": "How long is a seal kept?", "relevantDocumentIds": ["parts.md"],
           "evidence": [{"document": "parts.md", "quote": "seven years"}]}  # fmt: skip
    (tmp_path / "queries.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert cli("index", document.parent).code == 0
    command = ("eval", "--golden", tmp_path / "queries.jsonl", "--variants", "keyword-only", "-o", tmp_path / "out")
    assert "no longer hold" not in cli(*command).out
    document.write_text("# Parts\n\nA seal is kept for nine years.\n", encoding="utf-8")
    assert cli("index", document.parent).code == 0
    changed = cli(*command)
    assert changed.code == 0
    assert "quotes that their documents no longer hold; check the labels: q1" in changed.out
    assert json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))["golden"]["coverage"]["unmatched"] == [
        "q1"
    ]
    assert "no longer hold: q1" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_the_table_keeps_its_names_and_heads_on_a_narrow_terminal(
    cli: Cli, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from seamline.cli.render import console

    monkeypatch.setattr(console, "width", 80)
    out = cli("eval", "--golden", golden).out
    heads = [line.split() for line in out.splitlines() if line.startswith("variant ")]
    assert heads[0] == ["variant", "recall@8", "ndcg@10", "mrr@10", "map", "success@1", "judged@10"]
    assert heads[1] == ["variant", "P50", "ms", "P95", "ms", "failed"]
    assert out.count("fused-weighted+rerank ") == 2


def test_audit_warns_and_says_what_it_cannot_show(cli: Cli, golden: Path) -> None:
    ran = cli("eval", "audit", "--golden", golden)
    assert ran.code == 0
    assert "cannot show that a set is honest" in " ".join(ran.out.split())
    found = cli("eval", "audit", "--golden", golden, "--json").json()
    assert found["labels"] == {"1": 60}
    measured = cli("eval", "--golden", golden, "--variants", "keyword-only", "--json").json()["variants"][0]["measures"]
    assert found["judged_at_10"]["keyword-only"] == measured["judged@10"]["mean"]
    unlabelled = 1 - found["judged_at_10"]["keyword-only"]
    assert f"unlabelled among the first ten of keyword-only: {unlabelled:.0%}" in ran.out
    assert any("right answers that nobody labelled count as wrong" in warning for warning in found["warnings"])


def test_reranking_is_timed_cold_so_that_no_variant_profits_from_the_one_before(
    cli: Cli, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from seamline.rerank.lexical import LexicalReranker

    calls: list[str] = []
    honest = LexicalReranker.rerank

    def counting(self: LexicalReranker, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        calls.append(query)
        return honest(self, query, texts, deadline_s=deadline_s)

    monkeypatch.setattr(LexicalReranker, "rerank", counting)
    ran = cli("eval", "--golden", golden, "--variants", "fused-rrf+rerank,fused-weighted+rerank", "--set",
              "rerank_provider=lexical")  # fmt: skip
    assert ran.code == 0, ran.err
    assert len(calls) == 2 * (60 + 1)  # every query of each variant, and one to warm up
