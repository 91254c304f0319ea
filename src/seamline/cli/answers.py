"""``seamline eval answers``: evidence quoted, honest abstention, and citations that resolve."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seamline.cli.options import Common, common, print_json

if TYPE_CHECKING:
    from seamline.knowledge_base import KnowledgeBase
    from seamline.types import Answer

LOWEST = -3.0
"""A threshold below every score of the extractive generator."""


@click.command("answers")
@click.option(
    "--golden",
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help="Golden set: JSON Lines, BEIR, SQuAD.",
)
@click.option("--generator", metavar="NAME", help="Who writes the answers [default: extractive].")
@click.option("--allow-missing", is_flag=True, help="Go on when the golden set names unknown documents.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File for the report as JSON.")
@common
def answers_command(told: Common, golden: Path, generator: str | None, allow_missing: bool, output: Path | None) -> int:
    """Measure answers: gold evidence quoted, abstention on unanswerable questions, citations resolved.

    The threshold of the extractive generator is also chosen by cross-validation and judged on held-out questions.
    """
    from seamline.cli import render_report
    from seamline.evaluation import formats
    from seamline.evaluation.answers import evaluate_answers
    from seamline.evaluation.golden import check_documents

    golden_set = formats.read(golden)
    with told.open(generation_provider=generator) as kb:
        with kb.read() as snapshot:
            texts = {str(document.id): document.text for document in snapshot.documents(kb.scope)}
        check_documents(golden_set, list(texts), allow_missing=allow_missing)
        values = kb.settings.values
        anyway = _ask_anyway(kb) if values.generation_provider == "extractive" else None
        report = evaluate_answers(golden_set, ask=kb.ask, ask_anyway=anyway, text_of=texts.get, seed=values.eval_seed)
    if output is not None:
        output.write_text(json.dumps(report.to_dict(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    if told.as_json:
        print_json(report.to_dict())
    else:
        render_report.answers(report)
    return 0


def _ask_anyway(kb: KnowledgeBase) -> Callable[[str], Answer]:
    return lambda question: kb.ask(question, overrides={"extractive_min_score": LOWEST})
