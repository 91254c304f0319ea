"""Indexes the sample corpus, asks three questions, checks every quoted span, and says where the time went."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import seamline
from seamline.cli import render
from seamline.sample import folder
from seamline.types import Answer

QUESTIONS = (
    "What does the converter do when it detects a ground fault?",
    "Do boats pay for the nights of the regatta?",
    "When does the bus to the hospital leave?",
)
MODELS = Path(__file__).resolve().parents[1] / ".cache" / "models"

console = Console(highlight=False)


def main() -> int:
    """Run the demo; 1 when an answer is not what a demo must show."""
    corpus = folder() / "corpus"
    clock: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as home:
        settings = {"model_cache_dir": str(MODELS)}
        with seamline.open("demo", home=home, settings=settings) as kb:
            began = time.perf_counter()
            with render.sync_progress(quiet=False) as progress:
                report = kb.index(corpus, progress=progress)
            space = kb.embedder().space
            console.rule(f"index of {len(report.added)} documents")
            render.sync_report(report, space)
            note = "a stand-in" if space.stand_in else "a real model, on this machine, without a key"
            console.print(f"embedding model: [bold]{space.model}[/] ({space.precision}), {note}")
            clock["index: the whole sync"] = time.perf_counter() - began
            clock["  of that, reading and parsing"] = report.seconds.get("parse", 0.0)
            clock["  of that, embedding"] = report.seconds.get("embed", 0.0)
            clock["  of that, storing"] = report.seconds.get("store", 0.0)
            answers = [ask(kb, question, clock) for question in QUESTIONS]
            exact = [check(kb, answer) for answer in answers]
    times(clock)
    shown = [not answer.abstained and bool(answer.citations) for answer in answers] == [True, True, False]
    if not (shown and all(exact)):
        console.print("[bold red]the demo did not show what it must[/]")
        return 1
    console.print("[bold green]two answers with exact citations, one abstention[/]")
    return 0


def ask(kb: seamline.KnowledgeBase, question: str, clock: dict[str, float]) -> Answer:
    """Ask one question and print its answer."""
    console.rule(question)
    began = time.perf_counter()
    answer = kb.ask(question)
    clock[f"ask: {question}"] = time.perf_counter() - began
    render.final_answer(answer)
    return answer


def check(kb: seamline.KnowledgeBase, answer: Answer) -> bool:
    """Whether each quote is, byte for byte, the cited span of the stored document."""
    with kb.read() as snapshot:
        spans = [
            snapshot.document(kb.scope, c.document_id).text[c.char_start : c.char_end].encode() == c.quote.encode()
            for c in answer.citations
        ]
    if spans:
        console.print(f"[dim]{sum(spans)} of {len(spans)} quoted spans are byte-exact[/]")
    return all(spans)


def times(clock: dict[str, float]) -> None:
    """Where the time went."""
    console.rule("where the time went")
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, seconds in clock.items():
        table.add_row(name, f"{seconds:8.3f} s")
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
