"""What people see on a terminal. Nothing here decides anything; ``--json`` prints the same facts."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from seamline.cli.printing import escape, printable
from seamline.types import (
    Answer,
    AnswerCompleted,
    AnswerDelta,
    AnswerEvent,
    Chunk,
    Citation,
    EmbeddingSpace,
    Finding,
    Page,
    Passage,
    Progress,
    RetrievalResult,
    SyncReport,
)

if TYPE_CHECKING:
    from seamline.retrieve.explanation import WhyNot

PIPE_WIDTH = 120
"""Columns when the output is not a terminal, which has no width of its own."""
console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
errors = Console(stderr=True, highlight=False)

SNIPPET_CHARS = 320
SEVERITY_STYLE = {"error": "bold red", "warning": "yellow", "info": "dim"}


# --- indexing ---


@contextmanager
def sync_progress(*, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """A progress bar on a terminal, elsewhere a line every hundred documents (20 lines at most), nothing for JSON."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        from rich import progress as bars

        columns = (
            bars.TextColumn("[bold]{task.fields[status]:<10}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TimeRemainingColumn(),
            bars.TextColumn("[dim]{task.fields[document]}"),
        )
        with bars.Progress(*columns, console=errors, transient=True) as bar:
            task = bar.add_task("sync", total=None, status="listing", document="")

            def update(step: Progress) -> None:
                bar.update(
                    task,
                    total=step.total,
                    completed=step.done,
                    status=step.status.value,
                    document=escape((step.document_id or "")[-60:]),
                )

            yield update
    else:

        def line(step: Progress) -> None:
            if step.done and step.done % max(100, (step.total or 0) // 20) == 0:
                errors.print(f"{step.done}/{step.total} documents, {step.chunks} chunks", markup=False)

        yield line


def sync_report(report: SyncReport, space: EmbeddingSpace) -> None:
    """Counts, failures with their reasons, and what one should know about the embedding."""
    parts = [
        f"{len(ids)} {name}"
        for name, ids in (
            ("added", report.added),
            ("replaced", report.replaced),
            ("skipped", report.skipped),
            ("removed", report.removed),
            ("failed", report.failed),
        )
        if ids or name in ("added", "skipped")
    ]
    verb = "would be" if report.dry_run else "done"
    console.print(f"[bold]{verb}:[/] {', '.join(parts)}  [dim]{report.seconds.get('total', 0.0):.1f} s[/]")
    if not report.dry_run:
        console.print(
            f"[dim]{report.chunks} chunks: {report.embedded} embedded with {space.model} ({space.precision}), "
            f"{report.reused} vectors reused[/]"
        )
    if space.stand_in:
        console.print(f"[yellow]stand-in:[/] the embedder {space.provider!r} matches words, not meaning")
    if report.clamped:
        console.print(f"[dim]{report.clamped} chunks were longer than the model's window[/] and were divided")
    if report.window_cuts:
        console.print(f"[yellow]{report.window_cuts} chunks are longer than the model's window[/] and were cut there")
    if report.truncated:
        console.print(f"[yellow]{report.truncated} documents were truncated[/] at the extraction limit")
    if report.uncovered_chunks:
        share = report.uncovered_chunks / max(report.chunks, 1)
        console.print(
            f"[yellow]dense: language not covered[/] for {share:.0%} of the chunks; keyword counts more there"
        )
    if report.failed:
        table = Table("document", "reason", "again?", box=None, header_style="bold red", pad_edge=False)
        for failure in report.failed:
            table.add_row(escape(failure.document_id), escape(failure.reason), "yes" if failure.retryable else "no")
        console.print(table)


def _unfinished(job: dict[str, Any]) -> str:
    state = "running" if job["running"] else "[yellow]interrupted[/]: the same command goes on from there"
    why = f" ({escape(job['reason'])})" if job["reason"] else ""
    done = f"{job['done']:,} of {job['total']:,} entries"
    return f"a sync of {escape(job['source'])}, begun {job['started_at']}, {done}, {state}{why}"


def status(shown: dict[str, Any]) -> None:
    """What a kb holds."""
    rows = {
        "knowledge base": f"{shown['kb']} (workspace {shown['workspace']})",
        "folder": shown["folder"] or "in memory",
        "documents": f"{shown['documents']:,}",
        "chunks": f"{shown['chunks']:,}",
        "embedding": (shown["space"] or "none yet") + (" [yellow](stand-in)[/]" if shown["stand_in"] else ""),
        "languages": ", ".join(f"{tag} {count:,}" for tag, count in sorted(shown["languages"].items())) or "none",
        "generation": str(shown["generation"]),
        "unfinished": "\n".join(map(_unfinished, shown.get("unfinished", ()))),
        "sources": "\n".join(f"{name}: {count:,}" for name, count in sorted(shown["sources"].items())) or "none",
    }
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in rows.items():
        if value:
            table.add_row(f"[dim]{name}[/]", value)
    console.print(table)
    for document in shown.get("document_ids", ()):
        console.print(escape(document), soft_wrap=True)
    if shown["failed"]:
        failed = Table("not indexed", "reason", "again?", box=None, header_style="bold red", pad_edge=False)
        for row in shown["failed"]:
            failed.add_row(escape(row["document_id"]), escape(row["reason"] or ""), "yes" if row["retryable"] else "no")
        console.print(failed)


# --- asking ---


def search(result: RetrievalResult, *, explain: bool) -> None:
    """Passages with where they are, why they are there, and a snippet."""
    _notices(result)
    if not result.passages:
        console.print("[bold]no passage was admitted[/]")
        for scored in result.passages.rejected[:3]:
            console.print(f"  [dim]nearest: {escape(_title(scored.chunk))}, cosine {_number(scored.stages.cosine)}[/]")
    for passage in result.passages:
        _passage(passage, explain=explain)
    pools = ", ".join(f"{name} {size}" for name, size in result.pool_sizes.items())
    gates = "" if result.calibrated else ", gates uncalibrated"
    console.print(
        f"[dim]{result.mode_used}: {pools}; rerank {result.rerank.status}{gates}; {_timings(result.timings)}[/]"
    )


def _passage(passage: Passage, *, explain: bool) -> None:
    chunk, stages = passage.chunk, passage.stages
    console.print(f"[bold cyan]{passage.rank}[/] [bold]{escape(_title(chunk))}[/] [dim]{escape(_place(chunk))}[/]")
    terms = stages.matched_terms or ()
    console.print(_snippet(printable(chunk.text), terms))
    legs = []
    if stages.cosine is not None:
        legs.append(f"cosine {stages.cosine:.3f}" + (f" (#{stages.dense_rank})" if stages.dense_rank else ""))
    if stages.keyword_score:
        rank = f" (#{stages.keyword_rank})" if stages.keyword_rank else ""
        legs.append(f"bm25 {stages.keyword_score:.2f}{rank} on {' '.join(terms)}")
    legs.append(f"found by {stages.retrieval_method}")
    console.print(f"   [dim]{escape(' · '.join(legs))}[/]")
    if explain:
        table = Table(box=None, show_header=False, pad_edge=False, style="dim")
        for name in type(stages).__dataclass_fields__:
            table.add_row("  ", name, escape(str(getattr(stages, name))))
        table.add_row("  ", "chunk_id", escape(chunk.id))
        table.add_row("  ", "score", f"{passage.score:.4f} ({passage.score_kind})")
        console.print(table)
    console.print()


def answer(result: RetrievalResult, events: Iterable[AnswerEvent]) -> Answer:
    """The answer as it is written, then its sources; returns it. A failed generation raises ``GenerationError``."""
    from seamline.errors import GenerationError

    _notices(result)
    wrote = False
    for event in events:
        if isinstance(event, AnswerDelta):
            console.print(Text(printable(event.text)), end="")
            wrote = True
        elif isinstance(event, AnswerCompleted):
            console.print() if wrote else None
            final_answer(event.answer, text_shown=wrote)
            return event.answer
        else:
            console.print()
            raise GenerationError(event.message, hint=event.hint)
    raise GenerationError("the answer's stream ended without a terminal event", hint="this is a fault in the generator")


def final_answer(value: Answer, *, text_shown: bool = False) -> None:
    """An answer's text (unless it was streamed already), its citations, or its abstention."""
    if value.abstained:
        console.print(f"[bold yellow]{escape(value.text)}[/]") if not text_shown else None
        console.print(f"[dim]{escape(value.reason or '')}[/]")
        for title in value.nearest:
            console.print(f"  [dim]nearest, not cited: {escape(title)}[/]")
        return
    if not text_shown:
        console.print(Text(printable(value.text)))
    if value.stand_in:
        console.print(f"[yellow]stand-in:[/] {escape(value.provider)} did not write an answer")
    console.print()
    for citation in value.citations:
        _citation(citation)
    if value.unsupported:
        console.print(f"[yellow]{len(value.unsupported)} sentences have no supporting citation[/]")
    if value.confidence:
        console.print(f"[dim]{value.confidence}[/]")


def _citation(citation: Citation) -> None:
    where = [citation.source_uri or citation.document_id, _pages(citation.pages)]
    where.append(f"characters {citation.char_start}-{citation.char_end}")
    path = " > ".join(dict.fromkeys(filter(None, (citation.title, *citation.heading_path))))
    mark = "" if citation.support == "supported" else f" [yellow]({citation.support})[/]"
    console.print(f"[cyan]\\[{citation.number}][/] [bold]{escape(path or citation.document_id)}[/]{mark}")
    console.print(f"    [dim]{escape(', '.join(filter(None, where)))}[/]")
    console.print(f"    “{escape(' '.join(citation.quote.split()))}”", soft_wrap=True)


def why_not(found: WhyNot) -> None:
    """Stage by stage, then the verdict and the smallest change that would help."""
    table = Table("stage", "", "what happened", box=None, header_style="bold", pad_edge=False)
    for stage in found.stages:
        mark = "[green]passed[/]" if stage.passed else "[red]lost[/]"
        table.add_row(stage.name, mark, escape(stage.detail))
    console.print(table)
    if found.missing_words:
        console.print(f"[dim]words of the question that it lacks: {escape(', '.join(found.missing_words))}[/]")
    if found.admitted:
        console.print("[bold green]admitted[/]: it is among the passages")
    else:
        margin = "" if found.margin is None else f", by {found.margin:g}"
        console.print(f"[bold red]lost at {escape(str(found.lost_at))}[/]{margin}")
    if found.suggestion:
        change = f"{found.suggestion.setting} = {found.suggestion.value:g}"
        console.print(f"[cyan]hint:[/] the smallest change that admits it, tried: {escape(change)}")


# --- inspecting ---


def findings(found: Sequence[Finding]) -> None:
    """Doctor's findings, errors first."""
    for finding in found:
        style = SEVERITY_STYLE.get(finding.severity, "")
        console.print(f"[{style}]{finding.severity:<8}[/] [bold]{escape(finding.check)}[/]: {escape(finding.message)}")
        if finding.samples:
            console.print(f"         [dim]for example {escape(', '.join(finding.samples))}[/]")
        if finding.remedy:
            console.print(f"         [cyan]hint:[/] {escape(finding.remedy)}")
    bad = sum(finding.severity == "error" for finding in found)
    console.print(f"[bold red]{bad} errors[/]" if bad else "[bold green]no errors[/]")


def settings(rows: Sequence[dict[str, Any]]) -> None:
    """Every setting, its value and source."""
    table = Table(
        "setting",
        "value",
        "source",
        "accepted",
        "why one would change it",
        box=None,
        header_style="bold",
        pad_edge=False,
    )
    for row in rows:
        changed = row["source"] != "default"
        value = "unset" if row["value"] is None else str(row["value"])
        table.add_row(
            row["name"],
            f"[bold]{escape(value)}[/]" if changed else escape(value),
            escape(row["source"]),
            escape(row["accepted"]),
            row["description"],
        )
    console.print(table)


def providers(rows: Sequence[dict[str, Any]]) -> None:
    """Every provider by kind, and what a missing one needs."""
    table = Table("kind", "name", "state", "what it is", box=None, header_style="bold", pad_edge=False)
    for row in rows:
        state = "[green]installed[/]"
        if row["missing"]:
            state = f"[red]missing[/]: {escape(row['install'])}"
        elif row["stand_in"]:
            state = "[yellow]stand-in[/]"
        table.add_row(row["kind"].removesuffix("s"), row["name"], state, escape(row["summary"]))
    console.print(table)


# --- pieces ---


def _notices(result: RetrievalResult) -> None:
    for name in result.stand_ins:
        console.print(f"[yellow]stand-in:[/] {escape(name)}")
    for note in result.notes:
        console.print(f"[yellow]note:[/] {escape(note)}")


def _title(chunk: Chunk) -> str:
    return " > ".join(dict.fromkeys(filter(None, (chunk.title, *chunk.heading_path)))) or chunk.document_id


def _place(chunk: Chunk) -> str:
    return ", ".join(filter(None, (chunk.document_id, _pages(chunk.pages_of(chunk.char_start, chunk.char_end)))))


def _pages(pages: tuple[Page, ...]) -> str:
    """``page 3``, ``pages iv-v``, ``slide 2``, ``Budget rows 2-9``: the label, else the index counted from 1."""
    if not pages:
        return ""
    if pages[0].unit in ("rows", "part", "item"):
        return " to ".join(dict.fromkeys(page.label or str(page.index + 1) for page in (pages[0], pages[-1])))
    shown = list(dict.fromkeys(page.label or str(page.index + 1) for page in (pages[0], pages[-1])))
    return f"{pages[0].unit}{'s' if len(shown) > 1 else ''} {'-'.join(shown)}"


def _snippet(text: str, terms: Sequence[str]) -> Text:
    flat = " ".join(text.split())
    hit = _first_hit(flat, terms)
    start = max(0, hit - SNIPPET_CHARS // 3)
    cut = flat[start : start + SNIPPET_CHARS]
    shown = Text(("…" if start else "") + cut + ("…" if start + SNIPPET_CHARS < len(flat) else ""))
    for term in terms:
        shown.highlight_regex(rf"(?i)\b{re.escape(term)}\w*", "bold")
    shown.pad_left(3)
    return shown


def _first_hit(text: str, terms: Sequence[str]) -> int:
    """Where the first matched term stands; terms are stems, so that a prefix of a word is a hit."""
    found = [match.start() for term in terms if (match := re.search(rf"(?i)\b{re.escape(term)}", text))]
    return min(found, default=0)


def _number(value: float | None) -> str:
    return "not stated" if value is None else f"{value:.3f}"


def _timings(timings: Any) -> str:  # noqa: ANN401
    return ", ".join(f"{name} {ms:.1f} ms" for name, ms in timings.items())
