"""The table of an evaluation, its tests against the baseline, and its notices."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from rich.table import Table

from seamline.cli.printing import escape
from seamline.cli.render import console, errors

if TYPE_CHECKING:
    from seamline.evaluation.answers import AnswerReport, Shares
    from seamline.evaluation.attempts import Progress as Counted
    from seamline.evaluation.audit import Audit
    from seamline.evaluation.report import Grouping, Report

SHOWN = 10
"""Ids that are listed before the rest is counted."""
WIDE = 132
"""Columns from which latency stands in the same table as the measures."""


@contextmanager
def evaluation_progress(*, quiet: bool) -> Iterator[Counted]:
    """A bar on a terminal, a line every hundred queries elsewhere, nothing for JSON; all on standard error."""
    if quiet:
        yield lambda *_: None
    elif sys.stderr.isatty():
        from rich import progress as bars

        columns = (bars.TextColumn("queries"), bars.BarColumn(), bars.MofNCompleteColumn(), bars.TimeRemainingColumn())
        with bars.Progress(*columns, console=errors, transient=True) as bar:
            task = bar.add_task("queries", total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    else:

        def line(done: int, total: int) -> None:
            if done % 100 == 0 or done == total:
                errors.print(f"{done}/{total} queries", markup=False)

        yield line


def report(found: Report, *, by: Grouping | None) -> None:
    """Everything a person needs to read an evaluation, notices last so that they are seen."""
    console.print(
        f"[bold]{escape(found.golden)}[/]: {found.judged} judged queries, {found.unanswerable} unanswerable left out"
    )
    gone = found.coverage.unmatched if found.coverage is not None else ()
    if gone:
        listed = ", ".join(gone[:SHOWN]) + (f" and {len(gone) - SHOWN} more" if len(gone) > SHOWN else "")
        console.print(f"[yellow]quotes that their documents no longer hold; check the labels:[/] {escape(listed)}")
    tables = (
        [_table(found, by)] if console.width >= WIDE else [_table(found, by, "measures"), _table(found, by, "cost")]
    )
    for table in tables:
        console.print(table)
    console.print("[dim]± half the width of the 95% bootstrap interval[/]")
    for row in found.rows():
        if row["status"] != "ok":
            console.print(f"[yellow]{row['variant']}: {row['status']}[/] {escape('; '.join(row['reasons']))}")  # type: ignore[arg-type]
    for test in found.comparisons:
        text = (
            f"{test.variant} against {test.baseline}: {test.measure} {test.difference.mean:+.3f} "
            f"[{test.difference.low:+.3f}, {test.difference.high:+.3f}], p {p_value(test.p_adjusted)} (Holm), "
            f"{test.wins} wins, {test.ties} ties, {test.losses} losses"
        )
        console.print(f"[dim]{escape(text)}[/]")
        if test.worst:
            hurt = ", ".join(f"{query} {loss:+.2f}" for query, loss in test.worst)
            console.print(f"[dim]  most hurt: {escape(hurt)}[/]")
    for verdict in found.verdicts:
        console.print(escape(found.told(verdict)))
    for reason in found.invalid:
        console.print(f"[bold red]invalid:[/] {escape(reason)}")
    for notice in found.notices:
        console.print(f"[yellow]{escape(notice)}[/]")
    console.print(f"[dim]{escape(found.origin)}[/]", soft_wrap=True)


def p_value(value: float) -> str:
    """Three decimals; a p value is never shown as 0."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def answers(found: AnswerReport) -> None:
    """Shares as configured, with the chosen threshold, and on held-out questions; then risk and citations."""
    table = Table("", "gold evidence quoted", "abstains", box=None, header_style="bold", pad_edge=False)
    _shares(table, "as configured", found.configured)
    if found.chosen is not None and found.held_out is not None:
        _shares(table, f"threshold {found.threshold:.3f}, chosen on all", found.chosen)
        _shares(table, "threshold chosen by cross-validation, held out", found.held_out)
    console.print(f"[bold]{escape(found.golden)}[/]: {len(found.rows)} questions")
    console.print(table)
    right = "-" if found.right_of_answered is None else f"{found.right_of_answered:.3f}"
    f1 = "-" if found.token_f1 is None else f"{found.token_f1:.3f}"
    console.print(f"right among those answered: {right}; token F1: {f1}")
    console.print(f"citations: {found.resolved} of {found.citations} resolve byte for byte")
    if found.risk_coverage:
        shown = ", ".join(f"{name} {risk:.3f}" for name, risk in found.risk_coverage.items())
        console.print(f"[dim]risk by coverage: {shown}[/]")


def _shares(table: Table, name: str, shares: Shares) -> None:
    table.add_row(name, *("-" if share is None else f"{share:.3f}" for share in (shares.evidence, shares.abstains)))


def audit(found: Audit, origin: str) -> None:
    """What an audit found: counts, then warnings, then what it cannot show."""
    from seamline.evaluation.audit import DISCLAIMER

    def listed(ids: Sequence[object]) -> str:
        more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
        return escape(", ".join(map(str, ids[:SHOWN])) + more)

    console.print(f"{found.judged} judged queries, {found.unanswerable} unanswerable")
    labels = ", ".join(f"{queries} with {count}" for count, queries in found.labels.items())
    if len(found.labels) > SHOWN:
        counts = [count for count, queries in found.labels.items() for _ in range(queries)]
        labels = f"from {min(counts)} to {max(counts)}, half of them at least {sorted(counts)[len(counts) // 2]}"
    console.print(f"relevant documents a query: {labels}")
    console.print(f"words mostly from a relevant document: {len(found.copied)}  [dim]{listed(found.copied)}[/]")
    console.print(f"a word that only the answer holds: {len(found.trivial)}  [dim]{listed(found.trivial)}[/]")
    for query, document, other in found.twins[:SHOWN]:
        console.print(f"[dim]{escape(f'{query}: {other} is nearly {document} and not labelled like it')}[/]")
    for name, share in found.judged_at_10.items():
        console.print(f"unlabelled among the first ten of {escape(name)}: {1 - share:.0%}")
    for warning in found.warnings:
        console.print(f"[yellow]warning:[/] {escape(warning)}")
    console.print(f"[dim]{DISCLAIMER}[/]")
    console.print(f"[dim]{escape(origin)}[/]", soft_wrap=True)


def _table(found: Report, by: Grouping | None, part: Literal["all", "measures", "cost"] = "all") -> Table:
    """All columns, or only the measures, or only what they cost."""
    rows: list[dict[str, Any]] = list(found.rows(by))
    measures: list[str] = next((list(row["measures"]) for row in rows if row["measures"]), [])
    measures = [] if part == "cost" else measures
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("variant", no_wrap=True)
    if by:
        table.add_column(by)
    for name in (*measures, *(() if part == "measures" else ("P50 ms", "P95 ms", "failed"))):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        cells = [str(row["variant"])] + ([str(row["group"])] if by else [])
        cells += [_interval(row["measures"], name, " " if part == "all" else "\n") for name in measures]
        if part != "measures":
            cells += [
                _milliseconds(row["p50_ms"]),
                _milliseconds(row["p95_ms"]),
                str(row["failures"]) if row["queries"] else "-",
            ]
        table.add_row(*cells)
    return table


def _interval(measures: Any, name: str, between: str) -> str:  # noqa: ANN401
    if name not in measures:
        return "-"
    value = measures[name]
    return f"{value['mean']:.3f}{between}[dim]±{(value['high'] - value['low']) / 2:.3f}[/]"


def _milliseconds(value: object) -> str:
    return "-" if value is None else f"{value:.1f}"
