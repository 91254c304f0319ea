"""``seamline eval``: retrieval variants side by side on a golden set, without a model in the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from seamline.cli.answers import answers_command
from seamline.cli.golden_sets import FOUND, golden_options, opened, prepare, read_golden_set
from seamline.cli.options import Common, command_line, common, names, print_json

if TYPE_CHECKING:
    from seamline.evaluation.attempts import Ranking
    from seamline.evaluation.golden import Coverage, GoldenSet
    from seamline.evaluation.report import Report
    from seamline.evaluation.variants import Variant
    from seamline.knowledge_base import KnowledgeBase
    from seamline.ports import SystemUnderTest

SAMPLE_MARK = "SAMPLE"
"""A file of this name beside a golden set says that it belongs to the shipped sample corpus."""


@click.group("eval", invoke_without_command=True, subcommand_metavar="[answers|audit]")
@golden_options
@click.option("--variants", metavar="NAME,...", help='Variants [default: all]; "" for none.')
@click.option("--variants-file", type=FOUND, help="TOML file with variants of your own: a table of settings each.")
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME=TARGET",
    help="Another system: a URL or module:attribute; repeatable.",
)
@click.option("--run", "runs", multiple=True, metavar="NAME=FILE", help="TREC run of another system; repeatable.")
@click.option("--baseline", metavar="NAME", help="Variant that the others are tested against.")
@click.option("--by", type=click.Choice(["tag", "language"]), help="Split every variant.")
@click.option("--drop-query-document", is_flag=True, help="Leave out the document whose id is the query's.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for the reports and TREC run files.")
@common
def eval_command(
    told: Common,
    golden: Path | None,
    qrels: Path | None,
    split: str,
    language: str | None,
    allow_missing: bool,
    variants: str | None,
    variants_file: Path | None,
    systems: tuple[str, ...],
    runs: tuple[str, ...],
    baseline: str | None,
    by: Literal["tag", "language"] | None,
    drop_query_document: bool,
    output: Path | None,
) -> int:
    """Measure retrieval by variant on a golden set.

    A corpus that comes with the golden set (BEIR, SQuAD) is indexed first, into a knowledge base of its own unless
    --kb names one. Exit code 3 means that the run is invalid: stages degraded, or differed between queries of one
    variant.
    """
    from seamline.cli import render_report
    from seamline.cli.systems import load_system
    from seamline.evaluation.trec import read_run

    if click.get_current_context().invoked_subcommand is not None:
        return 0
    golden, golden_set = read_golden_set(golden, qrels, split)
    others: dict[str, Any] = {
        "baseline": baseline,
        "drop_query_document": drop_query_document,
        "systems": {name: load_system(target) for name, target in _named("--system", systems).items()},
        "recorded": {name: read_run(Path(path)) for name, path in _named("--run", runs).items()},
    }
    wanted = names(variants)
    if wanted == [] and variants_file is None:
        report = run_others(told, golden, golden_set, allow_missing=allow_missing, **others)
    else:
        with opened(told, golden) as kb:
            coverage = prepare(kb, golden, golden_set, language, allow_missing=allow_missing, quiet=told.as_json)
            chosen = chosen_variants(kb, wanted, variants_file)
            report = run(kb, golden, golden_set, chosen, coverage, quiet=told.as_json, **others)
    if output is not None:
        write_files(report, golden_set, output)
    if told.as_json:
        print_json(report.to_dict())
    else:
        render_report.report(report, by=by)
    return 3 if report.invalid else 0


eval_command.add_command(answers_command)


@eval_command.command("audit")
@golden_options
@common
def audit_command(
    told: Common,
    golden: Path | None,
    qrels: Path | None,
    split: str,
    language: str | None,
    allow_missing: bool,
) -> int:
    """Look for signs that a golden set flatters the engine. It warns; it cannot prove that a set is honest.

    The variants without a reranker run once, to see how many of the documents that they rank first carry a label.
    """
    from seamline.cli import render_report
    from seamline.evaluation.audit import audit
    from seamline.evaluation.measures import JUDGED
    from seamline.evaluation.variants import BUILT_IN

    golden, golden_set = read_golden_set(golden, qrels, split)
    with opened(told, golden) as kb:
        coverage = prepare(kb, golden, golden_set, language, allow_missing=allow_missing, quiet=told.as_json)
        with kb.read() as snapshot:
            texts = {str(d.id): f"{d.title or ''}\n{d.text}" for d in snapshot.documents(kb.scope)}
        plain = [variant for variant in BUILT_IN if not variant.reranked]
        report = run(kb, golden, golden_set, plain, coverage, quiet=told.as_json)
    shares = {variant.name: variant.measures[JUDGED].mean for variant in report.variants if variant.status == "ok"}
    found = audit(golden_set, texts, shares)
    if told.as_json:
        print_json(found.to_dict() | {"made": dict(report.made)})
    else:
        render_report.audit(found, report.origin)
    return 0


def chosen_variants(kb: KnowledgeBase, wanted: list[str] | None, file: Path | None) -> Sequence[Variant]:
    """The variants asked for, or all; overrides that are no settings are refused before anything runs."""
    from seamline.evaluation.variants import BUILT_IN, modes, read_variants, select
    from seamline.settings import Settings

    own = read_variants(file) if file else ()
    known = (*BUILT_IN, *modes(get_args(Settings.model_fields["mode"].annotation)), *own)
    for variant in own:
        kb.settings.override(variant.overrides)
    return select(wanted or [variant.name for variant in known], known)


def run(
    kb: KnowledgeBase,
    golden: Path,
    golden_set: GoldenSet,
    variants: Sequence[Variant],
    coverage: Coverage,
    *,
    baseline: str | None = None,
    systems: Mapping[str, SystemUnderTest] | None = None,
    recorded: Mapping[str, Ranking] | None = None,
    drop_query_document: bool = False,
    quiet: bool,
) -> Report:
    """One evaluation of this knowledge base, with its settings and the command on record."""
    from seamline.cli.render_report import evaluation_progress
    from seamline.evaluation.run import evaluate
    from seamline.retriever import ScopedRetriever

    values = kb.settings.values
    with evaluation_progress(quiet=quiet) as progress:
        return evaluate(
            ScopedRetriever(kb),
            golden_set,
            variants,
            k=values.eval_k,
            seed=values.eval_seed,
            baseline=baseline,
            coverage=coverage,
            sample_corpus=(golden.parent / SAMPLE_MARK).exists(),
            drop_query_document=drop_query_document,
            systems=systems,
            recorded=recorded,
            settings={name: getattr(values, name) for name in RECORDED},
            command=command_line(),
            progress=progress,
        )


def run_others(
    told: Common,
    golden: Path,
    golden_set: GoldenSet,
    *,
    allow_missing: bool,
    **others: Any,  # noqa: ANN401
) -> Report:
    """An evaluation of other systems and recorded runs alone: no knowledge base takes part."""
    from seamline.cli.render_report import evaluation_progress
    from seamline.evaluation import formats
    from seamline.evaluation.golden import check_documents
    from seamline.evaluation.run import evaluate

    values = told.settings().values
    corpus = formats.corpus(golden)
    known = None if corpus is None else [document.id for document in corpus]
    with evaluation_progress(quiet=told.as_json) as progress:
        return evaluate(
            None,
            golden_set,
            (),
            k=values.eval_k,
            seed=values.eval_seed,
            coverage=None if known is None else check_documents(golden_set, known, allow_missing=allow_missing),
            sample_corpus=(golden.parent / SAMPLE_MARK).exists(),
            command=command_line(),
            progress=progress,
            **others,
        )


def _named(option: str, given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in given:
        name, equals, target = item.partition("=")
        if not equals or not name or name in found:
            raise click.UsageError(f"{option} {item!r} is not NAME=... with a name of its own")
        found[name] = target
    return found


RECORDED = (
    "mode", "candidate_k", "fusion", "fusion_alpha", "fusion_alpha_uncovered", "fusion_normaliser", "rrf_k",
    "bm25_k1", "bm25_b", "min_cosine", "near_duplicate_jaccard", "rerank_provider", "rerank_candidates",
    "rerank_timeout_s", "rerank_min_score", "chunk_chars", "chunker",
)  # fmt: skip
"""Settings that a report records: those that decide a ranking."""


def write_files(report: Report, golden: GoldenSet, folder: Path) -> None:
    """``report.json``, ``report.html``, the run files and the labels in one folder."""
    from seamline.evaluation.html_report import html
    from seamline.evaluation.runs import write_qrels, write_runs

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(report.to_json(), encoding="utf-8")
    (folder / "report.html").write_text(html(report), encoding="utf-8")
    write_runs(report, folder)
    write_qrels(golden, folder / "golden.qrels")
