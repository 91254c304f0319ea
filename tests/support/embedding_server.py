"""An embedding service on the loopback that speaks every protocol, and misbehaves as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic import SecretStr

from seamline import registry
from seamline.embed.hash import HashEmbedder
from seamline.embed.remote import RemoteEmbedder
from seamline.settings import Settings

Rows = list[list[float]]


@dataclass(slots=True)
class Service:
    """``fault`` names what goes wrong; ``times`` how often (-1: always); ``calls`` are paths and bodies received."""

    address: str = ""
    fault: str | None = None
    times: int = -1
    dead: Callable[[str], bool] = field(default=lambda _text: False)
    longest: int = 1_000_000
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def next_fault(self) -> str | None:
        """The fault of this request."""
        if self.fault is None or self.times == 0:
            return None
        self.times -= 1
        return self.fault


STATUSES = {"429": 429, "500": 500, "503": 503, "401": 401, "404": 404}
BROKEN: dict[str, Callable[[Rows], Any]] = {
    "too few": lambda rows: rows[1:],
    "too many": lambda rows: [*rows, rows[0]],
    "other dimension": lambda rows: [row[:100] for row in rows],
    "ragged": lambda rows: [rows[0][:3], *rows[1:]],
    "NaN": lambda rows: [[float("nan")] * len(row) for row in rows],
    "zeros": lambda rows: [[0.0] * len(row) for row in rows],
    "text": lambda rows: [["x"] * len(row) for row in rows],
}


@contextmanager
def service() -> Iterator[Service]:
    """A running service; leaving stops it."""
    told = Service()
    embedder = HashEmbedder()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.calls.append((self.path, body))
            told.keys.append(self.headers.get("Authorization"))
            texts = body.get("inputs") or body.get("texts") or body.get("input")
            fault = told.next_fault()
            if fault in STATUSES:
                self._send(STATUSES[fault], b'{"error": {"message": "SECRET"}}')
            elif sum(map(len, texts)) > told.longest:
                self._send(413, b"{}")
            elif (len(texts) == 1 and told.dead(texts[0])) or any(map(told.dead, texts)):
                self._send(400, b'{"error": {"message": "maximum context length SECRET"}}')
            elif fault == "silent":
                told.stop.wait(20)
            elif fault == "closes":
                self.connection.close()
            else:
                rows = [
                    row.tolist() for row in embedder.embed_passages([f"{self._kind(body)} {text}" for text in texts])
                ]
                shaped = json.dumps(self._shaped(BROKEN[fault](rows) if fault in BROKEN else rows, fault)).encode()
                self._send(200, shaped[: len(shaped) // 2] if fault == "truncated" else shaped, len(shaped))

        def _kind(self, body: dict[str, Any]) -> str:
            """What the service is told of query and passage, as a word that changes the vector."""
            asked = str(body.get("input_type", "")) + str(body.get("task", ""))
            return "kindquery" if "query" in asked else "kindpassage" if asked else ""

        def _shaped(self, rows: Rows, fault: str | None) -> object:
            if self.path == "/embed":
                return rows
            if self.path == "/v2/embed":
                return {"embeddings": {"float": rows}}
            data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
            if fault == "wrong order":
                data.reverse()
            if fault == "repeated index":
                data = [{**entry, "index": 0} for entry in data]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            return {"object": "list", "model": "m", "data": data, "usage": usage}

        def _send(self, status: int, data: bytes, declared: int | None = None) -> None:
            self.send_response(status)
            if status == 429:
                self.send_header("Retry-After", "0")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(declared or len(data)))
            self.end_headers()
            self.wfile.write(data)
            if declared is not None and declared != len(data):
                self.close_connection = True

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


def remote(server: Service, name: str = "tei", **given: object) -> RemoteEmbedder:
    """The provider of that name over the service."""
    values = Settings().mapping() | {
        "embedding_base_url": server.address + ("/v1" if name == "openai" else ""),
        "embedding_model": "org/e5-small-v2",
        "embedding_api_key": SecretStr("planted-key"),
        "embedding_retries": 2,
        "embedding_timeout_s": 5.0,
    }
    made: RemoteEmbedder = registry.factory("embedders", name)(values | given)
    return made
