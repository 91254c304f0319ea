"""``seamline doctor``: what is wrong with a knowledge base or this installation, and what to do about it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from seamline import registry, spaces
from seamline.errors import SeamlineError
from seamline.settings import Settings
from seamline.types import Binding, Finding, KbStatistics

if TYPE_CHECKING:
    from seamline.knowledge_base import KnowledgeBase

LOW_DISK_BYTES = 512 * 1024 * 1024


def examine(kb: KnowledgeBase) -> list[Finding]:
    """Every finding, errors first. Raises ``NotFoundError`` when the kb does not exist."""
    store = kb.store()
    findings = list(store.check())
    with store.read() as snapshot:
        bound = snapshot.binding(kb.scope)
        statistics = snapshot.statistics(kb.scope)
        failed = [s for s in snapshot.states(kb.scope).values() if s.status.value == "failed"]
    findings += _space(kb, bound, statistics)
    if failed:
        findings.append(
            Finding(
                severity="warning",
                check="documents",
                message=f"{len(failed)} documents could not be indexed",
                remedy="`seamline status` lists them with the reason",
                samples=tuple(state.document_id for state in failed[:5]),
            )
        )
    findings += _providers(kb.settings.values)
    if kb.folder is not None:
        findings += _disk(kb.folder)
    return _sorted(findings)


def examine_installation(settings: Settings, home: Path) -> list[Finding]:
    """Findings on what a first knowledge base would be made with, errors first."""
    findings = [
        Finding(
            severity="info",
            check="knowledge base",
            message=f"none under {home} yet",
            remedy="`seamline index FOLDER` makes one",
        )
    ]
    try:
        space = spaces.embedder_for(settings, None, home).space
    except (SeamlineError, OSError) as error:
        hint = error.hint if isinstance(error, SeamlineError) else "check the model cache's folder"
        findings.append(Finding(severity="error", check="embedder", message=str(error).split("\n")[0], remedy=hint))
    else:
        findings.append(
            Finding(
                severity="warning" if space.stand_in else "info",
                check="stand-in" if space.stand_in else "embedder",
                message=f"a new kb would be embedded by {space.provider} {space.model}"
                + (": a stand-in, it matches words, not meaning" if space.stand_in else ""),
                remedy='pip install "seamline[local]", then `seamline models pull`' if space.stand_in else None,
            )
        )
    findings += _providers(settings)
    existing = next((folder for folder in (home, *home.parents) if folder.is_dir()), None)
    if existing is not None:
        findings += _disk(existing)
    return _sorted(findings)


def _sorted(findings: Iterable[Finding]) -> list[Finding]:
    order = {"error": 0, "warning": 1, "info": 2}
    return sorted(findings, key=lambda finding: order.get(finding.severity, 3))


def _space(kb: KnowledgeBase, bound: Binding | None, statistics: KbStatistics) -> Iterator[Finding]:
    if bound is None:
        yield Finding(severity="info", check="space", message="nothing was indexed yet", remedy="seamline index DOCS")
        return
    try:
        kb.embedder()
    except SeamlineError as error:
        yield Finding(severity="error", check="space", message=error.message, remedy=error.hint)
    else:
        yield Finding(
            severity="info",
            check="space",
            message=f"{bound.space.provider} {bound.space.model} {bound.space.precision}: canaries agree",
        )
    if bound.space.stand_in:
        yield Finding(
            severity="warning",
            check="stand-in",
            message=f"the embedder {bound.space.provider!r} is a stand-in: it matches words, not meaning",
            remedy='pip install "seamline[local]", `seamline models pull`, then index into a new --kb',
        )
    total = sum(statistics.languages.values())
    left_out = {
        tag: count for tag, count in statistics.languages.items() if tag != "und" and not bound.space.covers(tag)
    }
    if left_out:
        share = sum(left_out.values()) / total
        yield Finding(
            severity="warning" if share > 0.5 else "info",
            check="language",
            message=f"dense: language not covered for {share:.0%} of the chunks ({', '.join(sorted(left_out))})",
            remedy="fusion leans on the keyword leg for them",
        )


def _providers(values: Settings) -> Iterator[Finding]:
    chosen: tuple[tuple[registry.Kind, str], ...] = (
        ("rerankers", values.rerank_provider),
        ("generators", values.generation_provider),
    )
    for kind, name in chosen:
        if name == "off":
            continue
        try:
            registry.factory(kind, name)
        except SeamlineError as error:
            yield Finding(severity="error", check=kind, message=error.message, remedy=error.hint)
        if registry.is_stand_in(kind, name):
            yield Finding(
                severity="warning", check="stand-in", message=f"{kind.removesuffix('s')} {name!r} is a stand-in"
            )
    if values.min_cosine is None and values.rerank_min_score is None:
        yield Finding(severity="info", check="calibration", message="gates are uncalibrated: every passage is admitted")
    yield Finding(severity="info", check="sqlite", message=f"SQLite {sqlite3.sqlite_version}")


def _disk(folder: Path) -> Iterator[Finding]:
    free = shutil.disk_usage(folder).free
    if free < LOW_DISK_BYTES:
        yield Finding(
            severity="warning",
            check="disk",
            message=f"{free // (1024 * 1024)} MiB are free beside the knowledge base",
            remedy="free some space: a commit needs room for its log",
        )
