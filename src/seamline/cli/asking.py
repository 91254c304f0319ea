"""``seamline search``, ``ask`` and ``why-not``: questions to a knowledge base."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from seamline.cli.options import Common, common, print_json, retrieval_options


@click.command("search")
@click.argument("query")
@click.option("--explain", is_flag=True, help="Show every stage of every passage.")
@common
@retrieval_options
def search_command(told: Common, query: str, explain: bool, asked: dict[str, Any]) -> int:
    """Show the best passages for a question, with the stages that found them."""
    from seamline import wire
    from seamline.cli import render

    with told.open() as kb:
        result = kb.retrieve(query, **asked)
    if told.as_json:
        print_json(wire.result(result))
    else:
        render.search(result, explain=explain)
    return 0


@click.command("ask")
@click.argument("question")
@click.option("--generator", metavar="NAME", help="Who writes the answer [default: extractive].")
@click.option("--ledger", type=click.Path(dir_okay=False, path_type=Path), help="Export the evidence ledger to a file.")
@common
@retrieval_options
def ask_command(told: Common, question: str, generator: str | None, ledger: Path | None, asked: dict[str, Any]) -> int:
    """Answer a question with citations, or say that the documents do not answer it."""
    from seamline import wire
    from seamline.cli import render

    with told.open(generation_provider=generator) as kb:
        if told.as_json:
            answer, result = kb.ask_with_passages(question, **asked)
            print_json(wire.answer(answer) | {"retrieval": wire.result_header(result)})
        else:
            result, events = kb.stream(question, **asked)
            answer = render.answer(result, events)
        if ledger is not None:
            record = kb.ledger(answer, result, **asked)
            ledger.write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return 0


@click.command("why-not")
@click.argument("query")
@click.argument("document")
@common
@retrieval_options
def why_not_command(told: Common, query: str, document: str, asked: dict[str, Any]) -> int:
    """Say at which stage a document (or a chunk) was lost for a question, and by how much."""
    from seamline import wire
    from seamline.cli import render

    with told.open() as kb:
        found = kb.why_not(query, document, **asked)
    if told.as_json:
        print_json(wire.plain(found))
    else:
        render.why_not(found)
    return 0
