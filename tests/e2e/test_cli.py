"""The main job through the command line, on real files and the embedded store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seamline.store.traces import TraceStore
from support.cli import DOCUMENTS, Cli, write_documents


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "docs")


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path / "home", capsys)


@pytest.fixture
def indexed(cli: Cli, docs: Path) -> Cli:
    assert cli("index", docs).code == 0
    return cli


def test_index_then_index_again(cli: Cli, docs: Path) -> None:
    first = cli("index", docs, "--json").json()
    assert sorted(first["added"]) == sorted(DOCUMENTS)
    again = cli("index", docs, "--json").json()
    assert (again["added"], again["embedded"], sorted(again["skipped"])) == ([], 0, sorted(DOCUMENTS))


def test_human_output_tells_counts_and_the_stand_in(cli: Cli, docs: Path) -> None:
    ran = cli("index", docs)
    assert "5 added" in ran.out
    assert "stand-in" in ran.out


def test_search_finds_the_exact_code(indexed: Cli) -> None:
    result = indexed("search", "ERR_SEAL-7", "--json").json()
    first = result["passages"][0]
    assert first["document_id"] == "pumps/p-40.md"
    assert first["heading_path"][0] == "Pump P-40"
    assert "ERR_SEAL-7" in first["text"]
    assert "err_seal-7" in first["stages"]["matched_terms"]
    assert result["stand_ins"] == ["embedder hash"]
    assert result["rerank"]["status"] == "off"


def test_search_spans_are_exact(indexed: Cli) -> None:
    for passage in indexed("search", "seal litres knots umbrellas", "--json").json()["passages"]:
        if passage["document_id"].endswith((".md", ".txt")):
            source = DOCUMENTS[passage["document_id"]]
            assert source[passage["char_start"] : passage["char_end"]] == passage["text"]


def test_search_prints_for_people(indexed: Cli) -> None:
    ran = indexed("search", "seal hours", "--explain")
    assert ran.code == 0
    assert "Pump P-40" in ran.out
    assert "fused_rank" in ran.out


def test_ask_cites_a_span_of_the_file(indexed: Cli, docs: Path) -> None:
    answer = indexed("ask", "How fast may boats sail inside the harbour?", "--json").json()
    assert not answer["abstained"]
    citation = answer["citations"][0]
    text = (docs / citation["document_id"]).read_text(encoding="utf-8")
    assert text[citation["char_start"] : citation["char_end"]] == citation["quote"]
    assert "four knots" in citation["quote"]
    assert citation["support"] == "supported"


def test_ask_prints_for_people(indexed: Cli) -> None:
    ran = indexed("ask", "How fast may boats sail inside the harbour?")
    assert ran.code == 0
    assert "four knots" in ran.out
    assert "[1]" in ran.out
    assert "rules/speed.txt" in ran.out


def test_ask_abstains_when_nothing_answers(indexed: Cli) -> None:
    answer = indexed("ask", "Which colour has the director's bicycle?", "--json").json()
    assert answer["abstained"]
    assert answer["citations"] == []
    assert answer["reason"]


def test_ask_with_the_echo_stand_in_says_so(indexed: Cli) -> None:
    answer = indexed("ask", "seal hours", "--generator", "echo", "--json").json()
    assert answer["stand_in"] is True
    assert answer["provider"] == "echo"


def test_the_same_answer_from_python(indexed: Cli, tmp_path: Path) -> None:
    import seamline

    shown = indexed("search", "change the seal", "--json").json()
    with seamline.open(home=tmp_path / "home", settings={"embedding_provider": "hash"}) as kb:
        result = kb.retrieve("change the seal")
    assert [p["chunk_id"] for p in shown["passages"]] == [p.chunk.id for p in result.passages]


def test_a_bad_file_fails_alone_with_exit_code_1(cli: Cli, docs: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7\nnot really\n")
    ran = cli("index", docs, "--json")
    assert ran.code == 1
    report = ran.json()
    assert [failure["document_id"] for failure in report["failed"]] == ["broken.pdf"]
    assert "corrupt" in report["failed"][0]["reason"]
    assert len(report["added"]) == len(DOCUMENTS)
    status = cli("status", "--json").json()
    assert status["documents"] == len(DOCUMENTS)
    assert status["failed"][0]["document_id"] == "broken.pdf"


def test_rule_05_a_deleted_file_leaves_no_trace(cli: Cli, docs: Path) -> None:
    extra = docs / "secret.txt"
    extra.write_text("The seal of the treasure chest is kept at four knots depth.\n", encoding="utf-8")
    cli("index", docs)
    extra.unlink()
    assert cli("index", docs, "--json").json()["removed"] == ["secret.txt"]
    cli("index", docs, "--kb", "never-had-it")
    for query in ("treasure chest", "seal", "knots"):
        with_it = cli("search", query, "--json").json()
        without = cli("search", query, "--json", "--kb", "never-had-it").json()
        assert [(p["chunk_id"], p["score"], p["stages"]) for p in with_it["passages"]] == [
            (p["chunk_id"], p["score"], p["stages"]) for p in without["passages"]
        ]
        assert "secret.txt" not in str(with_it)


def test_rule_13_what_you_may_not_read_is_not_found(cli: Cli, docs: Path) -> None:
    cli("index", docs / "pumps", "--readable-by", "engineers")
    assert cli("search", "seal", "--as", "eve", "--json").json()["passages"] == []
    inside = cli("search", "seal", "--as", "bob", "--groups", "engineers", "--json").json()
    assert len(inside["passages"]) > 0
    hidden, absent = (cli("why-not", "seal", name, "--as", "eve") for name in ("p-40.md", "no-such.md"))
    assert hidden.code == absent.code == 2
    assert hidden.err.replace("p-40", "X") == absent.err.replace("no-such", "X")


def test_access_changes_without_parsing(indexed: Cli) -> None:
    assert indexed("access", "set", "pumps/p-40.md", "--readable-by", "engineers").code == 0
    assert indexed("access", "show", "pumps/p-40.md", "--json").json()["readable_by"] == ["engineers"]
    found = indexed("search", "ERR_SEAL-7", "--as", "eve", "--json").json()["passages"]
    assert all(passage["document_id"] != "pumps/p-40.md" for passage in found)


def test_rule_14_keyword_finds_french_without_accents(indexed: Cli) -> None:
    result = indexed("search", "conges payes", "--mode", "keyword", "--json").json()
    assert result["passages"][0]["document_id"] == "rules/vitesse.md"


def test_rule_34_case_space_and_question_mark_change_nothing(indexed: Cli) -> None:
    def ranking(query: str) -> list[tuple[str, float]]:
        return [(p["chunk_id"], p["score"]) for p in indexed("search", query, "--json").json()["passages"]]

    assert ranking("how fast may boats sail") == ranking("  How FAST may boats sail?? ")


def test_why_not_agrees_with_search(indexed: Cli) -> None:
    found = {p["document_id"] for p in indexed("search", "seal hours", "-k", "1", "--json").json()["passages"]}
    for name in ("pumps/p-40.md", "pumps/p-90.md", "notice.html"):
        ran = indexed("why-not", "seal hours", name, "-k", "1", "--json")
        assert ran.code == 0
        assert ran.json()["admitted"] == (name in found)


def test_why_not_reads_like_an_explanation(indexed: Cli) -> None:
    ran = indexed("why-not", "seal hours", "notice.html", "-k", "1")
    assert "lost at" in ran.out
    lacking = indexed("why-not", "seal Submarines?", "pumps/p-40.md")
    assert "words of the question that it lacks: Submarines" in lacking.out


def test_why_not_of_what_does_not_exist_says_what_it_looked_for(indexed: Cli) -> None:
    ran = indexed("why-not", "seal", "no-such.md")
    assert ran.code == 2
    assert "no document or chunk 'no-such.md'" in ran.err
    assert "status --documents" in ran.err


def test_doctor_is_clean_and_names_the_stand_in(indexed: Cli) -> None:
    ran = indexed("doctor", "--json")
    assert ran.code == 0
    findings = ran.json()
    assert all(finding["severity"] != "error" for finding in findings)
    assert any(finding["check"] == "stand-in" for finding in findings)


def test_settings_show_values_and_sources(cli: Cli) -> None:
    rows = {row["name"]: row for row in cli("settings", "--json", "--set", "rrf_k=10").json()["settings"]}
    assert (rows["rrf_k"]["value"], rows["rrf_k"]["source"]) == (10, "flag")
    assert rows["candidate_k"]["source"] == "default"
    assert cli("settings", "rrf_k").code == 0


def test_rule_31_settings_never_print_a_secret(cli: Cli) -> None:
    for extra in ((), ("--json",)):
        ran = cli("settings", "--set", "generation_api_key=planted-secret", *extra)
        assert "planted-secret" not in ran.out + ran.err
        assert "********" in ran.out


def test_providers_lists_stand_ins(cli: Cli) -> None:
    rows = {(row["kind"], row["name"]): row for row in cli("providers", "--json").json()}
    assert rows["embedders", "hash"]["stand_in"]
    assert not rows["embedders", "local"]["stand_in"]
    assert "stand-in" in cli("providers").out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("search", "x", "--kb", "absent"), 2, "seamline index"),
        (("search", "   "), 2, "empty"),
        (("search", "x", "-k", "0"), 2, "limit"),
        (("search", "x", "-k", "101"), 2, "SEAMLINE_CANDIDATE_K"),
        (("search", "x", "--set", "candidat_k=3"), 2, "candidate_k"),
        (("index", "no/such/folder"), 2, "does not exist"),
        (("serch", "x"), 2, "No such command"),
    ],
)
def test_mistakes_are_told_with_a_hint(indexed: Cli, arguments: tuple[str, ...], code: int, says: str) -> None:
    ran = indexed(*arguments)
    assert ran.code == code
    assert says in ran.err
    assert "Traceback" not in ran.err


def test_errors_are_json_when_json_is_asked_for(cli: Cli) -> None:
    ran = cli("search", "x", "--kb", "absent", "--json")
    assert ran.code == 2
    assert ran.json()["error"] == "not_found"


def test_rule_01_another_space_is_refused_but_keywords_still_work(
    indexed: Cli, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert indexed("search", "seal").code == 0
    other = Cli(tmp_path / "home", capsys, provider="local")
    refused = other("search", "seal")
    assert refused.code == 1
    assert "another space" in refused.err
    assert other("search", "seal", "--mode", "keyword").code == 0
    assert other("ask", "How often must the seal be changed?", "--mode", "keyword").code == 0


def test_dry_run_lists_and_changes_nothing(cli: Cli, docs: Path) -> None:
    assert sorted(cli("index", docs, "--dry-run", "--json").json()["added"]) == sorted(DOCUMENTS)
    assert cli("status").code == 2  # there is no knowledge base yet
    assert cli("index", docs).code == 0
    (docs / "new.txt").write_text("A new notice.", encoding="utf-8")
    assert cli("index", docs, "--dry-run", "--json").json()["added"] == ["new.txt"]
    assert cli("status", "--json").json()["documents"] == len(DOCUMENTS)


def test_rule_13_only_the_owner_changes_what_there_is_to_read(indexed: Cli, docs: Path) -> None:
    indexed("access", "set", "pumps/p-40.md", "--readable-by", "alice")
    answers = [
        indexed("access", "set", name, "--readable-by", "bob", "--as", "bob") for name in ("pumps/p-40.md", "no.md")
    ]
    assert [ran.code for ran in answers] == [2, 2]
    assert answers[0].err == answers[1].err
    assert indexed("index", docs, "--as", "bob").code == 2
    assert indexed("access", "show", "pumps/p-40.md", "--json").json()["readable_by"] == ["alice"]


def test_rule_14_a_language_of_few_chunks_is_searched_too(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    for number in range(30):
        text = f"Le port numéro {number} est ouvert le matin et les bateaux arrivent avec la marée du soir.\n"
        (folder / f"fr{number}.txt").write_text(text, encoding="utf-8")
    english = "The ferries are running again, and deliveries to the northern islands were resumed this morning.\n"
    (folder / "en.txt").write_text(english, encoding="utf-8")
    cli("index", folder)
    for word in ("running", "deliveries", "islands"):
        found = cli("search", word, "--mode", "keyword", "--json").json()["passages"]
        assert [passage["document_id"] for passage in found] == ["en.txt"]


def test_rule_05_a_trace_holds_no_word_of_a_document(indexed: Cli, tmp_path: Path) -> None:
    trace_id = indexed("search", "seal hours", "--json").json()["trace_id"]
    (file,) = (tmp_path / "home").rglob("traces.sqlite")
    trace = TraceStore(file).get(trace_id)
    assert trace is not None
    kept = json.dumps({name: value for name, value in trace.items() if name != "query"})
    assert "Pump" not in kept
    assert "seal" not in kept
