"""The services over HTTP: their protocols, every fault, and what a question makes of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

import seamline
from seamline.errors import ProviderError, RerankError, SettingsError, TransientProviderError
from seamline.rerank import http, runner
from seamline.settings import Settings
from support.rerank_server import BROKEN, Service, overlap, service

FACTORIES = {"tei": http.create_tei, "cohere": http.create_cohere, "jina": http.create_jina}
TEXTS = ["the gate is green", "lunch is served", "the gate opens at six"]
QUERY = "gate opens"
REASONS = {
    "too few": "wrong_score_count",
    "too many": "wrong_score_count",
    "NaN": "not_finite",
    "infinite": "not_finite",
    "silent": "timeout",
    "slow body": "timeout",
    **dict.fromkeys(
        ("500", "429", "401", "redirect", "closes", "not JSON", "repeated index", "index out of range", "no index"),
        "error",
    ),
    "score is text": "error",
    "not a list": "error",
}


@pytest.fixture
def served() -> Iterator[Service]:
    with service() as running:
        yield running


def make(name: str, address: str, **changes: object) -> http.HttpReranker:
    return FACTORIES[name](Settings.model_validate({"rerank_base_url": address, **changes}).mapping())


@pytest.mark.parametrize("name", FACTORIES)
def test_each_protocol_gives_the_scores_in_the_order_of_the_texts(name: str, served: Service) -> None:
    reranker = make(name, served.address + "/", rerank_api_key="k-1", rerank_batch=2)
    assert reranker.rerank(QUERY, TEXTS, deadline_s=5) == [overlap(QUERY, text) for text in TEXTS]
    assert served.keys == ["Bearer k-1", "Bearer k-1"]
    sent = [call.get("texts") or call.get("documents") for call in served.calls]
    assert sent == [TEXTS[:2], TEXTS[2:]]
    if name == "tei":
        assert served.calls[0] == {"query": QUERY, "texts": TEXTS[:2], "truncate": True, "raw_scores": False}
    else:
        assert served.calls[0]["top_n"] == 2
        assert name in {"cohere", "jina"}
        assert str(served.calls[0]["model"]).endswith(("v3.0", "multilingual"))


def test_settings_that_cannot_work_are_refused() -> None:
    for name, factory in FACTORIES.items():
        with pytest.raises(SettingsError, match=name):
            factory(Settings.model_validate({}).mapping())


def test_a_busy_service_is_asked_again(served: Service) -> None:
    served.fault = "once busy"
    assert make("tei", served.address).rerank(QUERY, TEXTS, deadline_s=5)[1] == 0.0
    assert len(served.calls) == 2
    served.fault = "once busy"
    with pytest.raises(TransientProviderError, match="429"):
        make("tei", served.address, rerank_retries=0).rerank(QUERY, TEXTS, deadline_s=5)


@pytest.mark.parametrize("name", ["tei", "cohere"])
@pytest.mark.parametrize("fault", REASONS)
def test_rule_20_every_fault_has_its_reason_and_shows_no_text(name: str, fault: str, served: Service) -> None:
    assert BROKEN.keys() <= REASONS.keys()
    served.fault = fault
    reranker = make(name, served.address, rerank_api_key="k-1", rerank_retries=1)
    result = runner.run(reranker, QUERY, TEXTS, timeout_s=0.4 if REASONS[fault] == "timeout" else 20)
    assert (result.scores, result.reason) == (None, REASONS[fault])
    said = str(result.cause)
    assert not any(secret in said for secret in ("SECRET", "k-1", *TEXTS))


def test_rule_20_a_dripping_body_ends_at_the_deadline(served: Service) -> None:
    served.fault = "slow body"
    began = monotonic()
    with pytest.raises(ProviderError, match=r"too long|in time"):
        make("tei", served.address).rerank(QUERY, TEXTS, deadline_s=0.3)
    assert monotonic() - began < 3


def test_an_absent_service_is_a_passing_fault() -> None:
    with service() as gone:
        address = gone.address
    with pytest.raises(TransientProviderError, match="cannot be reached"):
        make("tei", address).rerank(QUERY, TEXTS, deadline_s=1)


# --- a whole question ---


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("docs")
    for place, text in enumerate((*TEXTS, "a gate, a gate, a gate: opens never")):
        (made / f"{place}.txt").write_text(text, encoding="utf-8")
    return made


@pytest.mark.parametrize("fault", [None, "500", "too few", "NaN", "repeated index", "slow body"])
def test_rule_20_a_question_always_answers(
    fault: str | None, folder: Path, served: Service, caplog: pytest.LogCaptureFixture
) -> None:
    """The reason is recorded, the counter moves, the breaker opens, and heals by one probe."""
    settings = {
        "store": "memory", "embedding_provider": "hash", "rerank_provider": "tei", "rerank_base_url": served.address,
        "rerank_timeout_s": 0.4 if fault == "slow body" else 20.0, "rerank_retries": 0,
        "rerank_breaker_failures": 2, "rerank_breaker_s": 0.5,
    }  # fmt: skip
    with seamline.open(settings=settings) as kb, caplog.at_level(logging.WARNING, "seamline.rerank"):
        kb.index(folder)
        plain = [passage.chunk.id for passage in kb.retrieve(QUERY, rerank="off").passages]
        served.fault = fault
        if fault is None:
            first, again = kb.retrieve(QUERY), kb.retrieve(QUERY)
            assert first.rerank.status == again.rerank.status == "applied"
            assert first.passages[0].chunk.text == TEXTS[2]
            assert len(served.calls) == 1, "the second question must come from the cache"
            return
        before = runner.skip_counts()
        outcomes = [kb.retrieve(QUERY) for _ in range(4)]
        assert [[passage.chunk.id for passage in result.passages] for result in outcomes] == [plain] * 4
        reasons = [result.rerank.reason for result in outcomes]
        assert reasons == [REASONS[fault]] * 2 + ["breaker_open"] * 2
        assert len(served.calls) == 2, "an open breaker must not call"
        moved = {name: count - before.get(name, 0) for name, count in runner.skip_counts().items()}
        assert (moved[REASONS[fault]], moved["breaker_open"]) == (2, 2)
        assert "gate" not in caplog.text
        with pytest.raises(RerankError):
            kb.retrieve(QUERY, rerank="required")
        served.fault = None
        healed = _until_applied(kb)
        assert healed.rerank.status == "applied"
        assert healed.passages[0].chunk.text == TEXTS[2]


def _until_applied(kb: seamline.KnowledgeBase) -> seamline.RetrievalResult:
    ends = monotonic() + 20
    while (result := kb.retrieve(QUERY)).rerank.reason == "breaker_open" and monotonic() < ends:
        pass
    return result
