"""Another system as the system under test: over loopback HTTP, and as a Python object."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from seamline.cli.systems import load_system
from seamline.errors import ConnectorOperationalError, UsageError
from seamline.evaluation.golden import GoldenQuery, golden_set
from seamline.evaluation.html_report import html
from seamline.evaluation.report import Report
from seamline.evaluation.run import evaluate
from seamline.evaluation.systems import HttpSystem
from seamline.evaluation.variants import select
from seamline.ports import SystemUnderTest
from seamline.types import RankedHit, RetrievalResult
from support.evaluation import ScriptedRetriever, result

GOLDEN = golden_set("g", [GoldenQuery(id=f"q{n}", query=f"find {n}", relevance={f"d{n}": 1}) for n in range(60)])


@dataclass
class Service:
    """``answers`` by question; a number is a status, bytes are the body as it is."""

    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""


def right(query: str) -> dict[str, Any]:
    number = query.split()[1]
    hits = [("other", 3.0), (f"d{number}", 2.5), (f"d{number}", 2.0)]
    return {"hits": [{"document_id": d, "chunk_id": f"{d}#1", "score": s} for d, s in hits], "took_ms": 3}


@contextmanager
def serving() -> Iterator[Service]:
    told = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.asked.append(body)
            answer = told.answers.get(body["query"], told.answers.get("*", right(body["query"])))
            raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(answer if isinstance(answer, int) else 200)
            if answer == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        told.url = f"http://127.0.0.1:{server.server_port}/search"
        yield told
        server.shutdown()
        thread.join()


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as told:
        yield told


def measured(system: SystemUnderTest) -> Report:
    return evaluate(None, GOLDEN, (), k=8, seed=1, systems={"theirs": system})


def test_a_service_is_measured_like_a_variant_and_stands_beside_one(service: Service) -> None:
    def ours(query: str, _: Mapping[str, object]) -> RetrievalResult:
        return result(query, [f"d{query.split()[1]}", "other"], mode_requested="keyword", mode_used="keyword")

    report = evaluate(
        ScriptedRetriever(ours),
        GOLDEN,
        select(["keyword-only"]),
        k=8,
        seed=1,
        systems={"theirs": HttpSystem(service.url)},
    )
    keyword, theirs = report.variants
    assert (keyword.measures["mrr@10"].mean, theirs.measures["mrr@10"].mean) == (1.0, 0.5)
    assert theirs.queries[0].documents == ("other", "d0")
    assert theirs.latency(50) is not None
    assert report.comparisons[0].losses == 60
    assert service.asked[0] == {"query": "find 0", "top_k": 50}
    assert len(service.asked) == 61  # every query, and the first one unmeasured
    recorded = json.loads(report.to_json())["settings"]["systems"]["theirs"]
    assert recorded == {"kind": "http", "url": service.url, "timeout_s": 30.0}
    assert "theirs" in html(report)


def test_rule_28_a_failed_call_counts_zero_with_its_reason_and_an_outage_is_invalid(service: Service) -> None:
    service.answers["find 7"] = 503
    report = measured(HttpSystem(service.url))
    assert report.invalid == ()
    failed = report.variants[0].queries[7]
    assert (failed.measures["mrr@10"], failed.documents) == (0.0, ())
    assert "answered with status 503" in str(failed.error)
    service.answers = {"*": 503}
    assert "every query failed" in measured(HttpSystem(service.url)).invalid[0]


def test_an_empty_answer_is_nothing_found_and_no_failure(service: Service) -> None:
    service.answers["*"] = {"hits": []}
    report = measured(HttpSystem(service.url))
    assert (report.variants[0].failures, report.variants[0].measures["map"].mean, report.invalid) == (0, 0.0, ())


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (302, "status 302"),
        (b"<html>SECRET</html>", "another shape"),
        ({"results": []}, "first at: hits"),
        ({"hits": [{"document_id": 3, "note": "SECRET"}]}, r"first at: hits\.0\.document_id"),
        (b'{"hits": [{"document_id": "d", "score": NaN}]}', "not finite"),
        (b" " * (9 << 20), "more than"),
    ],
)
def test_what_is_no_ranking_is_a_failure_and_nothing_of_it_is_repeated(
    service: Service, answer: object, message: str
) -> None:
    service.answers["*"] = answer
    with pytest.raises(ConnectorOperationalError, match=message) as raised:
        HttpSystem(service.url).retrieve("find 1", top_k=3)
    assert "SECRET" not in str(raised.value)


def test_credentials_in_a_url_are_used_and_never_shown(service: Service) -> None:
    system = HttpSystem(service.url.replace("127.0.0.1", "me:hush@127.0.0.1") + "?key=hush")
    assert len(system.retrieve("find 1", top_k=3)) == 3
    service.answers["*"] = 500
    with pytest.raises(ConnectorOperationalError) as raised:
        system.retrieve("find 1", top_k=3)
    assert "hush" not in f"{raised.value} {system.info()}"
    with serving() as gone:
        closed = HttpSystem(gone.url)
    with pytest.raises(ConnectorOperationalError, match="did not answer"):
        closed.retrieve("find 1", top_k=3)


@dataclass
class Odd:
    """Returns what it is told to."""

    hits: Sequence[RankedHit]
    about: Mapping[str, object] = field(default_factory=dict)

    def retrieve(self, query: str, *, top_k: int) -> Sequence[RankedHit]:  # noqa: ARG002
        return self.hits

    def info(self) -> Mapping[str, object]:
        return self.about


def test_hits_without_a_document_and_too_many_hits_are_failures() -> None:
    nameless = measured(Odd([RankedHit(document_id="d1"), RankedHit(document_id=None)]))
    assert "1 of 2 hits name no document" in nameless.invalid[0]
    many = [RankedHit(document_id=f"d{n}") for n in range(60)]
    assert "60 hits came back where 50 were asked for" in measured(Odd(many)).invalid[0]
    assert measured(Odd(many, {"retrieval_mode": "complete_set"})).invalid == ()
    assert any("stand-ins took part (toy)" in n for n in measured(Odd(many[:5], {"stand_ins": ["toy"]})).notices)


def test_a_python_object_or_its_class_is_loaded_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "their_search.py").write_text(
        "from seamline.types import RankedHit\n\n\n"
        "class Search:\n"
        "    def retrieve(self, query, *, top_k, principal=None, filters=None):\n"
        "        return [RankedHit(document_id='d' + query.split()[1])]\n\n"
        "    def info(self):\n"
        "        return {'name': 'theirs'}\n\n\n"
        "made = Search()\nhalf = object()\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    for target in ("their_search:Search", "their_search:made"):
        assert measured(load_system(target)).variants[0].measures["success@1"].mean == 1.0
    for wrong, message in (
        ("their_search:half", "it has no retrieve"),
        ("their_search:absent", "cannot be loaded"),
        ("nowhere_at_all:x", "cannot be loaded"),
        ("their_search", "names no system"),
        ("ftp://127.0.0.1/x", "is not the URL"),
    ):
        with pytest.raises(UsageError, match=message):
            load_system(wrong)


def test_variants_need_a_retriever() -> None:
    with pytest.raises(UsageError, match="variants need a retriever"):
        evaluate(None, GOLDEN, select(["keyword-only"]), k=8, seed=1)
