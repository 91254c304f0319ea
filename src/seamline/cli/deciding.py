"""``seamline gate`` and ``seamline compare``: what one evaluation says against another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seamline.cli.evaluating import run, write_files
from seamline.cli.golden_sets import FOUND, golden_options, opened, prepare, read_golden_set
from seamline.cli.options import Common, common, print_json

if TYPE_CHECKING:
    from seamline.calibration import Calibration
    from seamline.evaluation.report import Report
    from seamline.knowledge_base import KnowledgeBase

RELEASED = "as set"
"""The variant that a gate measures: the settings in use, calibration included."""
BASELINE = Path("evals/baseline.json")
SWITCHES = ("mode", "rerank_provider")
"""Settings that ``--apply`` decides."""


@click.command("gate")
@golden_options
@click.option(
    "--baseline", type=click.Path(path_type=Path), default=BASELINE, show_default=True, help="The committed baseline."
)
@click.option("--write-baseline", is_flag=True, help="Make this run the baseline; it is still held against MIN_NDCG.")
@click.option("--apply", "apply_", is_flag=True, help="Turn fusion and reranking on or off, as they earn their keep.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for the reports and TREC run files.")
@common
def gate_command(
    told: Common,
    golden: Path | None,
    qrels: Path | None,
    split: str,
    language: str | None,
    allow_missing: bool,
    baseline: Path,
    write_baseline: bool,
    apply_: bool,
    output: Path | None,
) -> int:
    """Pass or fail a release: the settings in use against a committed baseline.

    It passes when a loss of ndcg@10 above GATE_MARGIN can be excluded (one-sided, 95%) and MIN_NDCG is reached. Exit
    code 0 is a pass, 1 a fail, 3 a run that must not be believed.
    """
    from seamline.cli import render_decision
    from seamline.evaluation import gate
    from seamline.evaluation.variants import BUILT_IN, Variant

    golden, golden_set = read_golden_set(golden, qrels, split)
    with opened(told, golden) as kb:
        coverage = prepare(kb, golden, golden_set, language, allow_missing=allow_missing, quiet=told.as_json)
        variants = (Variant(name=RELEASED), *(BUILT_IN if apply_ else ()))
        report = run(kb, golden, golden_set, variants, coverage, quiet=told.as_json)
        values = kb.settings.values
        if output is not None:
            write_files(report, golden_set, output)
        released = report.variants[0]
        held_against = None if write_baseline else gate.read_baseline(baseline)
        found = gate.decide(
            report, released, held_against, margin=values.gate_margin, min_ndcg=values.min_ndcg, seed=values.eval_seed
        )
        if write_baseline:
            gate.write_baseline(baseline, gate.baseline_of(report, released))
        written, told_of_it = _apply(kb, report) if apply_ and found.passed else (None, [])
    if told.as_json:
        print_json(
            found.to_dict()
            | {"applied": written and str(written), "verdicts": list(map(report.told, report.verdicts))}
            | {"queries": report.judged, "made": dict(report.made)}
        )
    else:
        render_decision.decision(found)
        for line in (
            *map(report.told, report.verdicts),
            *report.notices,
            *told_of_it,
            report.origin,
        ):
            click.echo(line)
    return 0 if found.passed else 1


@click.command("compare")
@click.argument("a", type=FOUND)
@click.argument("b", type=FOUND)
@click.option("--force", is_flag=True, help="Compare although the golden sets or the corpora differ.")
@common
def compare_command(told: Common, a: Path, b: Path, force: bool) -> int:
    """Put two report.json files side by side: differences, tests, flipped queries, settings that differ."""
    from seamline.cli import render_decision
    from seamline.evaluation.side_by_side import read_report, side_by_side

    found = side_by_side(read_report(a), read_report(b), seed=told.settings().values.eval_seed, force=force)
    if told.as_json:
        print_json(found.to_dict())
    else:
        render_decision.side_by_side(found)
    return 0


def _apply(kb: KnowledgeBase, report: Report) -> tuple[Path | None, list[str]]:
    """Write the two switches into the kb's calibration; the file, and what to tell of it."""
    from seamline import calibration
    from seamline.evaluation.notice import ENOUGH_QUERIES

    bound = kb.binding()
    if report.judged < ENOUGH_QUERIES:
        return None, [f"nothing was applied: {report.judged} queries are too few, {ENOUGH_QUERIES} are needed"]
    if kb.folder is None or bound is None:
        return None, ["nothing was applied: a knowledge base in memory has no folder for calibration.toml"]
    before = calibration.load(kb.folder, bound.space_fingerprint) or calibration.Calibration(
        space=bound.space_fingerprint
    )
    after = _switched(before, kb, report)
    path = calibration.save(kb.folder, after)
    switches = [name for name in SWITCHES if name in after.settings]
    told = [f"written to {path}: {', '.join(f'{name} = {after.settings[name]}' for name in switches) or 'no switch'}"]
    for name in switches:
        source = kb.settings.sources.get(name, "default")
        if source not in ("default", calibration.FILE):
            told.append(f"{name} is stated ({source}), which stands above the calibration; leave it out to use this")
    return path, told


def _switched(found: Calibration, kb: KnowledgeBase, report: Report) -> Calibration:
    from seamline.evaluation.measures import PRIMARY
    from seamline.evaluation.verdict import LEGS, RERANKED

    values = kb.settings.values
    settings = dict(found.settings)
    earned = {verdict.stage: verdict.earns for verdict in report.verdicts}
    fused = f"fused-{settings.get('fusion', values.fusion)}"
    if fused in earned:
        legs = [variant for variant in report.variants if variant.name in LEGS]
        best = max(legs, key=lambda variant: variant.measures[PRIMARY].mean)
        settings["mode"] = "economy" if earned[fused] else str(best.overrides["mode"])
    if fused + RERANKED in earned:
        settings["rerank_provider"] = values.rerank_provider if earned[fused + RERANKED] else "off"
    return replace(found, settings=settings)
