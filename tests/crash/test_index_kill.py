"""``kill -9`` and Ctrl-C of ``seamline index`` at random moments: nothing acknowledged is lost, both legs agree."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import seamline
from seamline.analyze.text import create as create_analyzer
from seamline.doctor import examine

WORDS = "valve tide crane lamp rope"
KILLS = 20
INTERRUPTS = 12
DOCUMENTS = 120


def write(folder: Path, round_: int) -> None:
    """A changing folder: each round edits a tenth, adds a few, removes a few."""
    rng = random.Random(round_)
    for number in range(DOCUMENTS):
        path = folder / f"{number:03}.md"
        if round_ and rng.random() > 0.15:
            continue
        if round_ and rng.random() < 0.2:
            path.unlink(missing_ok=True)
            continue
        words = " ".join(rng.choice(["valve", "tide", "crane", "lamp", "rope"]) for _ in range(120))
        path.write_text(f"# Sheet {number}\n\nround{round_} common {words}\n", encoding="utf-8")


def index_and_end(home: Path, docs: Path, rng: random.Random, how: signal.Signals) -> None:
    """Start an index run and end it by a signal after a random time; an interrupted one says so by its exit code."""
    code = "from seamline.cli.main import main; main()"
    command = [sys.executable, "-c", code, "index", str(docs), "--home", str(home), "--allow-mass-delete"]
    settings = ["--set", "embedding_provider=hash", "--set", "commit_batch=5"]
    process = subprocess.Popen([*command, *settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(timeout=0.4 + rng.random() * 1.0)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, how)
    assert process.wait(timeout=30) in (0, 1, 130, -how)


@pytest.mark.parametrize(("how", "times"), [(signal.SIGKILL, KILLS), (signal.SIGINT, INTERRUPTS)])
def test_rule_04_ended_at_random_moments_loses_no_acknowledged_document(
    tmp_path: Path, how: signal.Signals, times: int
) -> None:
    home, docs, rng = tmp_path / "home", tmp_path / "docs", random.Random(7)
    docs.mkdir()
    write(docs, 0)
    with seamline.open(home=home, settings={"embedding_provider": "hash"}) as kb:
        kb.index(docs, allow_mass_delete=True)
    for round_ in range(1, times + 1):
        write(docs, round_)
        with seamline.open(home=home, settings={"embedding_provider": "hash"}) as kb, kb.read() as snapshot:
            before = {str(document.id) for document in snapshot.documents(kb.scope)}
        index_and_end(home, docs, rng, how)
        with seamline.open(home=home, settings={"embedding_provider": "hash"}) as kb:
            errors = [finding for finding in examine(kb) if finding.severity == "error"]
            assert errors == []
            with kb.read() as snapshot:
                documents = {str(document.id) for document in snapshot.documents(kb.scope)}
                by_document = {
                    str(c.id) for d in snapshot.documents(kb.scope) for c in snapshot.chunks_of(kb.scope, d.id)
                }
                tags = [None if tag == "und" else tag for tag in snapshot.statistics(kb.scope).languages]
                words = create_analyzer(kb.settings.values.mapping()).query(WORDS, [None, *tags])
                query = kb.embedder().embed_query("common")
                dense = {str(hit.chunk_id) for hit in snapshot.dense_pool(kb.scope, query, None)}
                keyword = {str(hit.chunk_id) for hit in snapshot.keyword_pool(kb.scope, words, None)}
        assert dense == keyword == by_document
        present = {path.name for path in docs.iterdir()}
        assert before & present <= documents, "an acknowledged document that still exists was lost"
    with seamline.open(home=home, settings={"embedding_provider": "hash"}) as kb:
        kb.index(docs, allow_mass_delete=True)
        with kb.read() as snapshot:
            after = snapshot.digest(kb.scope)
    with seamline.open(home=tmp_path / "fresh", settings={"embedding_provider": "hash"}) as kb:
        kb.index(docs)
        with kb.read() as snapshot:
            assert after == snapshot.digest(kb.scope)
