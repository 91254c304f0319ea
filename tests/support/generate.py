"""Passages, generators and a small chat server for the tests of generation."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from seamline.fingerprint import sha256_text
from seamline.generate.answer import AnswerOptions
from seamline.settings import Settings
from seamline.types import (
    Chunk,
    ChunkId,
    DocumentId,
    GenerationPiece,
    GenerationRequest,
    Page,
    Passage,
    RerankedPassages,
    Scored,
    ScoreKind,
    Stages,
)
from seamline.types.retrieval import _SEAL

NONCE = "0123456789abcdef"


def make_chunk(
    text: str,
    *,
    name: str = "doc",
    before: str = "",
    title: str | None = None,
    headings: tuple[str, ...] = (),
    pages: tuple[Page, ...] = (),
    language: str | None = "en",
) -> Chunk:
    """A chunk of a document whose whole text is ``before + text``."""
    return Chunk(
        id=ChunkId(f"{name}-0"),
        document_id=DocumentId(name),
        text=text,
        char_start=len(before),
        char_end=len(before) + len(text),
        chunk_index=0,
        heading_path=headings,
        title=title,
        language=language,
        pages=pages,
        source_uri=f"file:///{name}.md",
        document_sha256=sha256_text(before + text),
    )


def make_passage(
    chunk: Chunk,
    rank: int = 1,
    *,
    score: float = 0.5,
    kind: ScoreKind = "cosine",
    confident: bool | None = None,
) -> Passage:
    """An admitted chunk that shows its own text."""
    return Passage(
        rank=rank,
        score=score,
        score_kind=kind,
        chunk=chunk,
        stages=Stages(),
        confident=confident,
        shown_text=chunk.text,
        shown_start=chunk.char_start,
    )


def seal(passages: Sequence[Passage], rejected: Sequence[Chunk] = ()) -> RerankedPassages:
    """Mint, as only ``rerank/`` may outside tests."""
    return RerankedPassages(passages, [Scored(chunk=chunk, stages=Stages()) for chunk in rejected], seal=_SEAL)


def passages_of(*texts: str, confident: bool | None = None) -> RerankedPassages:
    """One passage a text, in documents ``doc1``, ``doc2``..."""
    return seal(
        [
            make_passage(
                make_chunk(text, name=f"doc{rank}", before="Before. ", title=f"Title {rank}"), rank, confident=confident
            )
            for rank, text in enumerate(texts, start=1)
        ]
    )


def options_with(**settings: object) -> AnswerOptions:
    """Answer options of the default settings with some replaced."""
    return AnswerOptions.from_settings(Settings.model_validate(settings).mapping())


class PlainSplitter:
    """Splits at final punctuation and line ends: enough for the tests' own texts."""

    _boundary = re.compile(r"(?<=[.!?])[\"”’»)]*\s+|(?<=[。！？])|\n+")

    def sentences(self, text: str, language: str | None) -> list[tuple[int, int]]:
        """Spans without surrounding whitespace."""
        del language
        found: list[tuple[int, int]] = []
        start = 0
        for cut, resume in [*(match.span() for match in self._boundary.finditer(text)), (len(text), len(text))]:
            piece = text[start:cut]
            if piece.strip():
                left = start + len(piece) - len(piece.lstrip())
                found.append((left, left + len(piece.strip())))
            start = resume
        return found


@dataclass
class ScriptedGenerator:
    """Streams given pieces, raises what it is given to raise, and remembers what happened to it."""

    pieces: Sequence[str | GenerationPiece | Exception]
    name: str = "scripted"
    stand_in: bool = True
    requests: list[GenerationRequest] = field(default_factory=list)
    closed: bool = False

    @property
    def model(self) -> str | None:
        return None

    def stream(self, request: GenerationRequest) -> Iterator[GenerationPiece]:
        self.requests.append(request)
        try:
            for piece in self.pieces:
                if isinstance(piece, Exception):
                    raise piece
                yield GenerationPiece(text=piece) if isinstance(piece, str) else piece
        finally:
            self.closed = True


@dataclass
class ChatServer:
    """A chat endpoint on the loopback that plays one script a request, and keeps what it was sent."""

    url: str
    bodies: list[dict[str, object]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    client_left: threading.Event = field(default_factory=threading.Event)


Script = Callable[[BaseHTTPRequestHandler, ChatServer], None]


def event(text: str | None = None, *, finish: str | None = None, usage: tuple[int, int] | None = None) -> bytes:
    """One server-sent event of a chat completion."""
    choice = {"index": 0, "delta": {"content": text} if text is not None else {}, "finish_reason": finish}
    body: dict[str, object] = {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "m",
        "choices": [] if usage else [choice],
    }
    if usage:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def sends(*events: bytes) -> Script:
    """Answer 200 with these events, then end the body."""

    def play(handler: BaseHTTPRequestHandler, server: ChatServer) -> None:
        del server
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(b"".join(events))

    return play


def breaks_after(*events: bytes) -> Script:
    """Promise more bytes than are sent, then drop the connection."""

    def play(handler: BaseHTTPRequestHandler, server: ChatServer) -> None:
        del server
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        handler.wfile.write(b"".join(events))

    return play


def refuses(status: int, message: str = "no", **headers: str) -> Script:
    """Answer with an error status and an error body."""

    def play(handler: BaseHTTPRequestHandler, server: ChatServer) -> None:
        del server
        body = json.dumps({"error": {"message": message}}).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return play


def drips(piece: bytes, every_s: float) -> Script:
    """Answer at once, and then never stop saying the same, until the client has gone."""

    def play(handler: BaseHTTPRequestHandler, server: ChatServer) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        with contextlib.suppress(ConnectionError):
            while not server.released.wait(every_s):
                handler.wfile.write(piece)
        server.client_left.set()

    return play


def says_nothing() -> Script:
    """Accept the request and stay silent until the test releases the server."""

    def play(handler: BaseHTTPRequestHandler, server: ChatServer) -> None:
        del handler
        server.released.wait(10)

    return play


@contextmanager
def chat_server(*scripts: Script) -> Iterator[ChatServer]:
    """Serve; the last script answers every further request."""
    remaining = list(scripts)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            server.bodies.append(json.loads(self.rfile.read(length)))
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            script = remaining.pop(0) if len(remaining) > 1 else remaining[0]
            script(self, server)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Keep the tests' output clean."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = ChatServer(f"http://127.0.0.1:{httpd.server_address[1]}/v1")
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        httpd.shutdown()
        httpd.server_close()
        thread.join()
