"""``seamline eval``: retrieval variants side by side on a golden set, without a model in the loop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seamline.cli.answers import answers_command
from seamline.cli.options import Common, common, names, print_json

if TYPE_CHECKING:
    from seamline.evaluation.golden import GoldenSet
    from seamline.evaluation.report import Report
    from seamline.evaluation.variants import Variant

DEFAULT_VARIANTS = ("dense-only", "keyword-only", "fused-rrf", "fused-weighted")
SAMPLE_MARK = "SAMPLE"
"""A file of this name beside a golden set says that it belongs to the shipped sample corpus."""


@click.group("eval", invoke_without_command=True, subcommand_metavar="[answers]")
@click.option("--golden", type=click.Path(exists=True, path_type=Path), help="Golden set: JSON Lines or BEIR.")
@click.option("--variants", metavar="NAME,...", help=f"Variants [default: {','.join(DEFAULT_VARIANTS)}].")
@click.option("--baseline", metavar="NAME", help="Variant that the others are tested against.")
@click.option("--allow-missing", is_flag=True, help="Go on when the golden set names unknown documents.")
@click.option("--by", type=click.Choice(["tag", "language"]), help="Split every variant.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for report.json and TREC run files.")
@common
def eval_command(
    told: Common,
    golden: Path | None,
    variants: str | None,
    baseline: str | None,
    allow_missing: bool,
    by: str | None,
    output: Path | None,
) -> int:
    """Measure retrieval by variant on a golden set.

    Exit code 3 means that the run is invalid: stages degraded, or differed between queries of one variant.
    """
    from seamline.cli import render_report
    from seamline.evaluation.golden import check_documents
    from seamline.evaluation.run import evaluate
    from seamline.evaluation.variants import select
    from seamline.knowledge_base import ScopedRetriever

    if click.get_current_context().invoked_subcommand is not None:
        return 0
    if golden is None:
        raise click.UsageError("Missing option '--golden'.")
    golden_set = _read(golden)
    chosen: Sequence[Variant] = select(names(variants) or DEFAULT_VARIANTS)
    with told.open() as kb:
        with kb.read() as snapshot:
            known = [str(document.id) for document in snapshot.documents(kb.scope)]
        values = kb.settings.values
        report = evaluate(
            ScopedRetriever(kb),
            golden_set,
            chosen,
            k=values.eval_k,
            seed=values.eval_seed,
            baseline=baseline,
            coverage=check_documents(golden_set, known, allow_missing=allow_missing),
            sample_corpus=(golden.parent / SAMPLE_MARK).exists(),
        )
    if output is not None:
        _write(report, golden_set, output)
    if told.as_json:
        print_json(report.to_dict())
    else:
        render_report.report(report, by=by)  # type: ignore[arg-type]
    return 3 if report.invalid else 0


eval_command.add_command(answers_command)


def _read(path: Path) -> GoldenSet:
    from seamline.evaluation.beir import read_beir
    from seamline.evaluation.golden import read_golden

    return read_beir(path) if path.is_dir() else read_golden(path)


def _write(report: Report, golden: GoldenSet, folder: Path) -> None:
    from seamline.evaluation.runs import write_qrels, write_runs

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(report.to_json(), encoding="utf-8")
    write_runs(report, folder)
    write_qrels(golden, folder / "golden.qrels")
