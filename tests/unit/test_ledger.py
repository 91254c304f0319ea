from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import seamline
from seamline import ledger
from seamline.errors import UsageError
from seamline.fingerprint import sha256_text
from seamline.knowledge_base import KnowledgeBase

BEES = "# Bees\n\nBees dance in the hive. The waggle dance tells other bees where the flowers are.\n"
TOWER = "# Tower {query}\n\nThe tower <<<stands>>> in Paris. It was finished in 1889.\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "bees.md").write_text(BEES, encoding="utf-8")
    (folder / "tower.md").write_text(TOWER, encoding="utf-8")
    return folder


def opened(tmp_path: Path, docs: Path, **changes: object) -> KnowledgeBase:
    kb = seamline.open("k", home=tmp_path / "home", settings={"embedding_provider": "hash", **changes})
    kb.index(docs)
    return kb


def recorded(kb: KnowledgeBase, question: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    answer, result = kb.ask_with_passages(question, **options)
    # Through JSON, as it would be read from a file.
    record: dict[str, Any] = json.loads(json.dumps(kb.ledger(answer, result, **options)))
    return record


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    question=st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=60).map(lambda t: f"{t} waggle dance"),
    layout=st.sampled_from(["best_first", "edges"]),
    scores=st.booleans(),
    sources=st.booleans(),
    budget=st.integers(300, 2000),
)
def test_every_ledger_rebuilds_its_prompt_hash(
    tmp_path: Path, docs: Path, question: str, layout: str, scores: bool, sources: bool, budget: int
) -> None:
    overrides = {
        "prompt_layout": layout,
        "include_scores": scores,
        "include_sources": sources,
        "prompt_tokens": budget,
        "extractive_min_score": -3.0,
    }
    with opened(tmp_path, docs) as kb:
        record = recorded(kb, question, overrides=overrides)
    assert record["answer"]["prompt_sha256"] == record["prompt"]["sha256"]
    assert sha256_text(ledger.rebuild_prompt(record)) == record["prompt"]["sha256"]
    record["passages"][0]["shown_text"] += "."
    assert ledger.verify(record, lambda _: None).prompt_rebuilt is False


def changed(texts: Mapping[str, str], record: Mapping[str, Any]) -> list[str]:
    return [item.found.status for item in ledger.verify(record, texts.get).citations]


def test_rule_12_verify_tells_intact_moved_changed_and_gone_apart(tmp_path: Path, docs: Path) -> None:
    with opened(tmp_path, docs, extractive_sentences=1) as kb:
        record = recorded(kb, "What does the waggle dance tell other bees?")
    assert record["answer"]["citations"][0]["document_id"] == "bees.md"
    assert changed({"bees.md": BEES}, record) == ["intact"]
    assert changed({"bees.md": "A new line.\n" + BEES}, record) == ["moved"]
    assert changed({"bees.md": BEES.replace("waggle", "round")}, record) == ["changed"]
    assert changed({}, record) == ["gone"]


def test_an_abstention_without_passages_has_a_ledger_without_a_prompt(tmp_path: Path, docs: Path) -> None:
    with opened(tmp_path, docs) as kb:
        record = recorded(kb, "Which umbrella?", overrides={"min_cosine": 1.0})
    assert record["prompt"] is None
    assert record["answer"]["abstained"]
    found = ledger.verify(record, lambda _: None)
    assert (found.prompt_rebuilt, found.citations, found.intact) == (None, (), True)


def test_rule_31_no_key_is_in_a_ledger(tmp_path: Path, docs: Path) -> None:
    with opened(tmp_path, docs, generation_api_key="sk-planted-4711") as kb:
        assert "sk-planted-4711" not in json.dumps(recorded(kb, "What does the waggle dance tell?"))


@pytest.mark.parametrize("content", ["{", "[]", '{"citations": 7}', '{"answer": {}}'])
def test_what_is_no_ledger_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "answer.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError):
        ledger.read(path)
    with pytest.raises(UsageError, match="malformed"):
        ledger.citations_of({"citations": [{"number": 1}]})
    with pytest.raises(UsageError, match="incomplete"):
        ledger.rebuild_prompt({"prompt": {"dropped": []}})
