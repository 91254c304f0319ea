"""The golden set of a command, and the knowledge base that it is asked of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seamline.cli.options import Common

if TYPE_CHECKING:
    from seamline.evaluation.golden import Coverage, GoldenSet
    from seamline.knowledge_base import KnowledgeBase

FOUND = click.Path(exists=True, path_type=Path)


def golden_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what is asked and what is right."""
    for option in reversed(
        (
            click.option(
                "--golden", type=FOUND, help="Golden set: JSON Lines, a BEIR folder, SQuAD .json, TREC topics."
            ),
            click.option("--qrels", type=FOUND, help="Labels of TREC topics."),
            click.option("--split", default="test", show_default=True, help="Which qrels of a BEIR folder."),
            click.option("--language", metavar="TAG", help="Language of a corpus that comes with the golden set."),
            click.option("--allow-missing", is_flag=True, help="Go on when the golden set names unknown documents."),
        )
    ):
        command = option(command)
    return command


def read_golden_set(golden: Path | None, qrels: Path | None, split: str) -> tuple[Path, GoldenSet]:
    """The golden set and its path; raises ``UsageError``."""
    from seamline.evaluation import formats

    if golden is None:
        raise click.UsageError("Missing option '--golden'.")
    return golden, formats.read(golden, split=split, qrels=qrels)


@contextmanager
def opened(told: Common, golden: Path, **flags: object) -> Iterator[KnowledgeBase]:
    """The kb that ``--kb`` names; without one, a golden set that brings its corpus gets a kb of its own."""
    from seamline.evaluation import formats

    if not told.kb_named and formats.corpus(golden) is not None:
        told = replace(told, kb=_own_kb(told, golden))
        if not told.as_json:
            click.echo(f"knowledge base of {golden.name}: {told.kb}; kept, so that the next time is quick", err=True)
    with told.open(**flags) as kb:
        yield kb


def _own_kb(told: Common, golden: Path) -> str:
    """A name that stays the same for one corpus in one embedding space, and differs for any other."""
    from seamline.fingerprint import sha256_text

    values = told.settings().values
    path = golden.resolve()
    identity = (path, values.store, values.embedding_provider, values.embedding_precision, values.embedding_model_dir)
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "-", path.stem)[:40]
    return f"golden-{readable}-{sha256_text(repr(tuple(map(str, identity))))[:8]}"


def prepare(
    kb: KnowledgeBase,
    golden: Path,
    golden_set: GoldenSet,
    language: str | None,
    *,
    allow_missing: bool,
    quiet: bool,
) -> Coverage:
    """Index the golden set's own corpus where there is one, then check that the kb holds the labelled documents."""
    from seamline.cli import render
    from seamline.collection import index_golden_corpus
    from seamline.evaluation.golden import check_documents, unmatched_evidence

    with render.sync_progress(quiet=quiet) as progress:
        index_golden_corpus(kb, golden, language=language, progress=progress)
    quoted = {evidence.document for query in golden_set.queries for evidence in query.evidence}
    with kb.read() as snapshot:
        documents = snapshot.documents(kb.scope)
        texts = {str(document.id): document.text if document.id in quoted else "" for document in documents}
    coverage = check_documents(golden_set, texts.keys(), allow_missing=allow_missing)
    unmatched = [id_ for id_, evidence in unmatched_evidence(golden_set, texts) if evidence.document in texts]
    return replace(coverage, unmatched=tuple(dict.fromkeys(unmatched)))
