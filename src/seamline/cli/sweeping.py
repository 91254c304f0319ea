"""``seamline sweep``: choose settings on a golden set by cross-validation, and write them down as a calibration."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seamline.cli.golden_sets import golden_options, opened, prepare, read_golden_set
from seamline.cli.options import Common, command_line, common, names, print_json

if TYPE_CHECKING:
    from seamline.calibration import Calibration
    from seamline.evaluation.abstention import Abstention
    from seamline.evaluation.golden import GoldenSet
    from seamline.evaluation.sweep import Option, Swept
    from seamline.knowledge_base import KnowledgeBase
    from seamline.ports import Retriever

OVER = ("fusion", "candidate_k", "rerank", "chunk_chars")


@click.command("sweep")
@golden_options
@click.option("--over", default="fusion", show_default=True, metavar="NAME,...", help=f"Of: {', '.join(OVER)}.")
@click.option("--rerankers", metavar="NAME,...", help="Rerankers of the grid [default: the configured one].")
@click.option("--chunk-chars", default="500,1000,2000", show_default=True, metavar="N,...", help="Chunk sizes.")
@click.option("--folds", default=5, show_default=True, type=click.IntRange(2), help="Folds of the cross-validation.")
@click.option("--best", is_flag=True, help="Write the best setting, not the simplest within one standard error of it.")
@click.option("--dry-run", is_flag=True, help="Write no calibration.")
@common
def sweep_command(
    told: Common,
    golden: Path | None,
    qrels: Path | None,
    split: str,
    language: str | None,
    allow_missing: bool,
    over: str,
    rerankers: str | None,
    chunk_chars: str,
    folds: int,
    best: bool,
    dry_run: bool,
) -> int:
    """Choose retrieval settings on a golden set by cross-validation.

    Settings that can be changed without indexing again go into calibration.toml of the knowledge base, bound to its
    embedding space and to the rerankers; unanswerable queries calibrate the gates. Chunk sizes are tried in scratch
    knowledge bases and reported only.
    """
    from seamline import calibration
    from seamline.cli import render_decision, render_report
    from seamline.evaluation.sweep import CANDIDATES, FUSION, grid, rerank_options, sweep

    golden, golden_set = read_golden_set(golden, qrels, split)
    wanted = names(over) or []
    unknown = set(wanted) - set(OVER)
    if unknown or not wanted:
        raise click.UsageError(f"--over takes {', '.join(OVER)}; not {', '.join(sorted(unknown)) or 'nothing'}")
    with opened(told, golden, calibration="off") as kb:
        prepare(kb, golden, golden_set, language, allow_missing=allow_missing, quiet=told.as_json)
        values = kb.settings.values
        given = names(rerankers) or ([] if values.rerank_provider == "off" else [values.rerank_provider])
        dimensions: dict[str, Sequence[Option]] = {
            "fusion": FUSION,
            "candidate_k": CANDIDATES,
            "rerank": rerank_options(given),
        }
        variants = grid([dimensions[name] for name in wanted if name in dimensions])
        sizes = [int(size) for size in names(chunk_chars) or []] if "chunk_chars" in wanted else []
        with (
            _retrievers(told, kb, sizes) as retrievers,
            render_report.evaluation_progress(quiet=told.as_json) as progress,
        ):
            swept = sweep(
                retrievers,
                golden_set,
                variants,
                values.mapping(),
                folds=folds,
                k=values.eval_k,
                seed=values.eval_seed,
                command=command_line(),
                progress=progress,
            )
            chosen = swept.choice.best if best else swept.choice.simplest
            swept = _with_thresholds(swept, kb, golden_set, chosen, given, folds)
        written = None
        if not dry_run and kb.folder is not None:
            written = calibration.save(kb.folder, _calibration(kb, swept, chosen, given))
    if told.as_json:
        print_json(swept.to_dict() | {"chosen": chosen, "written": written and str(written)})
    else:
        render_decision.swept(swept, chosen, written)
    return 0


@contextmanager
def _retrievers(told: Common, kb: KnowledgeBase, sizes: Sequence[int]) -> Iterator[dict[str, Retriever]]:
    """The kb as it is, and a scratch kb of the same documents for each other chunk size."""
    from seamline.collection import copy_documents
    from seamline.knowledge_base import KnowledgeBase
    from seamline.retriever import ScopedRetriever

    found: dict[str, Retriever] = {"": ScopedRetriever(kb, cold=False)}
    provider = {} if (bound := kb.binding()) is None else {"embedding_provider": bound.space.provider}
    with tempfile.TemporaryDirectory(prefix="seamline-sweep-") as folder, ExitStack() as opened:
        for size in sizes:
            if size == kb.settings.values.chunk_chars:
                continue
            settings = kb.settings.override(
                {"chunk_chars": size, "model_cache_dir": kb.settings.values.model_cache_dir or str(kb.home / "models")}
                | provider
            )
            scratch = opened.enter_context(
                KnowledgeBase(
                    kb.name, home=Path(folder) / str(size), workspace=told.workspace, principal=kb.principal,
                    settings=settings,
                )
            )  # fmt: skip
            copy_documents(kb, scratch)
            found[f"chunk_chars={size}"] = ScopedRetriever(scratch, cold=False)
        yield found


def _with_thresholds(
    swept: Swept, kb: KnowledgeBase, golden: GoldenSet, chosen: str, rerankers: Sequence[str], folds: int
) -> Swept:
    """Thresholds on each scale, measured with the chosen settings and with each reranker."""
    from seamline.evaluation.sweep import thresholds
    from seamline.retriever import ScopedRetriever

    seed, retriever = kb.settings.values.eval_seed, ScopedRetriever(kb, cold=False)
    plain = {name: value for name, value in swept.overrides[chosen].items() if not name.startswith("rerank_")}
    found: dict[str, Abstention] = dict(
        thresholds(retriever, golden, plain | {"rerank_provider": "off"}, folds=folds, seed=seed)
    )
    for name in rerankers:
        measured = thresholds(retriever, golden, plain | {"rerank_provider": name}, folds=folds, seed=seed)
        if "rerank_min_score" in measured:
            found[f"rerank_min_score of {name}"] = measured["rerank_min_score"]
    return replace(swept, thresholds=found)


def _calibration(kb: KnowledgeBase, swept: Swept, chosen: str, rerankers: Sequence[str]) -> Calibration:
    from seamline import registry
    from seamline.calibration import Calibration, RerankerCalibration

    bound = kb.binding()
    settings: dict[str, str | int | float | bool] = {
        name: value for name, value in swept.overrides[chosen].items() if isinstance(value, str | int | float | bool)
    }
    cosine = swept.thresholds.get("min_cosine")
    if cosine is not None and cosine.useful:
        settings["min_cosine"] = cosine.threshold
        settings["confident_cosine"] = cosine.confident
    calibrated = {}
    for name in rerankers:
        found = swept.thresholds.get(f"rerank_min_score of {name}")
        if found is not None and found.useful:
            reranker = registry.factory("rerankers", name)(kb.settings.values.mapping())
            calibrated[name] = RerankerCalibration(
                fingerprint=reranker.fingerprint,
                settings={"rerank_min_score": found.threshold, "rerank_confident_score": found.confident},
            )
    return Calibration(
        space=bound.space_fingerprint if bound else "",
        settings=settings,
        rerankers=calibrated,
        evidence={
            "golden": swept.golden,
            "golden_sha256": swept.golden_sha256,
            "queries": swept.queries,
            "held_out_ndcg_at_10": round(swept.choice.held_out.mean, 6),
            "in_fold_ndcg_at_10": round(swept.choice.in_fold, 6),
            "before_ndcg_at_10": round(swept.choice.current, 6),
            "folds": swept.choice.folds,
            **{name: str(value) for name, value in swept.made.items() if value},
        },
    )
