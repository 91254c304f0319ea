"""A reranking service on the loopback that speaks both protocols, and misbehaves as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(slots=True)
class Service:
    """``fault`` names what goes wrong, if anything; ``calls`` are the bodies received, ``keys`` their credentials."""

    address: str = ""
    fault: str | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)


def overlap(query: str, text: str) -> float:
    """The score that the service gives: the share of the question's words in the text."""
    asked = set(query.lower().split())
    return len(asked & set(text.lower().split())) / len(asked) if asked else 0.0


Entries = list[dict[str, Any]]
BROKEN: dict[str, Callable[[Entries, str], object]] = {
    "too few": lambda entries, _: entries[1:],
    "too many": lambda entries, score: [*entries, {"index": len(entries), score: 0.5}],
    "NaN": lambda entries, score: [{**entry, score: float("nan")} for entry in entries],
    "infinite": lambda entries, score: [{**entry, score: float("inf")} for entry in entries],
    "repeated index": lambda entries, _: [{**entry, "index": 0} for entry in entries],
    "index out of range": lambda entries, _: [{**entry, "index": entry["index"] + 1} for entry in entries],
    "no index": lambda entries, score: [{score: entry[score]} for entry in entries],
    "score is text": lambda entries, score: [{**entry, score: "high"} for entry in entries],
    "not a list": lambda _entries, _score: {"error": "SECRET"},
}
STATUSES = {"500": 500, "429": 429, "401": 401, "redirect": 302}


@contextmanager
def service() -> Iterator[Service]:
    """A running service; leaving stops it and whatever it still drips."""
    told = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.calls.append(body)
            told.keys.append(self.headers.get("Authorization"))
            fault = told.fault
            if fault == "once busy":
                told.fault, fault = None, "429"
            if fault in STATUSES:
                self._send(STATUSES[fault], b"SECRET " + json.dumps(body).encode())
            elif fault == "silent":
                told.stop.wait(20)
            elif fault == "closes":
                self.connection.close()
            else:
                self._answer(body, fault)

        def _answer(self, body: dict[str, Any], fault: str | None) -> None:
            tei = "texts" in body
            texts, score = (body["texts"], "score") if tei else (body["documents"], "relevance_score")
            found: Entries = [{"index": i, score: overlap(body["query"], text)} for i, text in enumerate(texts)]
            found.sort(key=lambda entry: -entry[score])
            entries = BROKEN[fault](found, score) if fault in BROKEN else found
            if fault == "not JSON":
                self._send(200, b"<html>SECRET</html>")
            elif fault == "slow body":
                self._drip(json.dumps(entries if tei else {"results": entries}).encode())
            else:
                self._send(200, json.dumps(entries if tei else {"results": entries}).encode())

        def _drip(self, data: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            for place in range(len(data)):
                if told.stop.wait(0.05):
                    return
                try:
                    self.wfile.write(data[place : place + 1])
                    self.wfile.flush()
                except OSError:
                    return

        def _send(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            return

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    told.address = f"http://127.0.0.1:{httpd.server_address[1]}"
    try:
        yield told
    finally:
        told.stop.set()
        httpd.shutdown()
        thread.join()
        httpd.server_close()
