"""What a sweep, a gate and a comparison print for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from seamline.cli.printing import escape
from seamline.cli.render import console
from seamline.evaluation.report import origin

if TYPE_CHECKING:
    from seamline.evaluation.gate import Decision
    from seamline.evaluation.side_by_side import SideBySide
    from seamline.evaluation.sweep import Swept

SHOWN = 12
"""Settings of a sweep that are listed; the JSON holds all."""


def swept(found: Swept, chosen: str, written: Path | None) -> None:
    """The best settings, what choosing among them is worth, and the thresholds."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("setting")
    table.add_column("ndcg@10", justify="right")
    table.add_column("folds won", justify="right")
    for name, mean in sorted(found.means.items(), key=lambda item: -item[1])[:SHOWN]:
        table.add_row(escape(name), f"{mean:.4f}", str(found.choice.picks.get(name, "")))
    console.print(f"[bold]{escape(found.golden)}[/]: {found.queries} queries, {len(found.means)} settings")
    console.print(table)
    for name, reason in found.skipped.items():
        console.print(f"[yellow]{escape(name)}: skipped[/] {escape(reason)}")
    choice = found.choice
    lines = (
        f"best on all queries: {choice.best}",
        f"simplest within one standard error of it: {choice.simplest}",
        f"as set {choice.current:.4f}; best, on the queries that chose it {choice.in_fold:.4f}; "
        f"held out {choice.held_out.mean:.4f} [{choice.held_out.low:.4f}, {choice.held_out.high:.4f}]",
        f"choosing flatters by {choice.optimism:+.4f}",
        f"held out against as set: {choice.gain.mean:+.4f} [{choice.gain.low:+.4f}, {choice.gain.high:+.4f}], "
        f"p {choice.p_value:.4f}" + ("" if choice.gain.low > 0 else "; a gain is not shown"),
    )
    for line in lines:
        console.print(escape(line))
    for name, threshold in found.thresholds.items():
        console.print(
            f"{escape(name)} {threshold.threshold:.4f}, confident from {threshold.confident:.4f}: answers "
            f"{threshold.held_out.coverage:.0%} of {threshold.answerable} answerable and "
            f"{threshold.held_out.error:.0%} of {threshold.unanswerable} unanswerable questions, held out; "
            f"AUROC {threshold.auroc:.3f}" + ("" if threshold.useful else "; does not tell them apart, so not written")
        )
    if not found.thresholds:
        console.print("[dim]no thresholds: the golden set holds too few unanswerable queries[/]")
    if written is not None:
        console.print(f"written: {escape(str(written))} ({escape(chosen)})")
    console.print(f"[dim]{escape(origin(found.queries, found.made))}[/]", soft_wrap=True)


def decision(found: Decision) -> None:
    """Pass or fail with the reasons, the flips, and what the run could have noticed."""
    colour = "green" if found.passed else "red"
    console.print(f"[bold {colour}]{'pass' if found.passed else 'fail'}[/] ndcg@10 {found.value:.4f}", end="")
    console.print("" if found.baseline is None else f", baseline {found.baseline:.4f}")
    if found.difference is not None and found.lower is not None and found.detectable is not None:
        console.print(
            f"difference {found.difference.mean:+.4f} "
            + escape(f"[{found.difference.low:+.4f}, {found.difference.high:+.4f}]")
            + f", one-sided 95% lower bound {found.lower:+.4f}"
        )
        console.print(
            f"smallest loss that it could have detected: {found.detectable:.4f}"
            if found.detectable > 0
            else "no query differs from the baseline, so the run does not tell how large a loss it could have detected"
        )
    for reason in found.reasons:
        console.print(f"[red]{escape(reason)}[/]")
    for verb, queries in (("lost", found.lost), ("gained", found.gained)):
        if queries:
            console.print(f"{verb} from the first ten: {escape(', '.join(queries))}")
    for remark in found.remarks:
        console.print(f"[yellow]{escape(remark)}[/]")


def side_by_side(found: SideBySide) -> None:
    """One row a variant, then the settings that differ."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("variant", "A", "B", "B - A", "p (Holm)", "lost", "gained"):
        table.add_column(name, justify="left" if name == "variant" else "right", no_wrap=name == "variant")
    for change in found.changes:
        gain = change.difference
        table.add_row(
            escape(change.variant),
            f"{change.before:.4f}",
            f"{change.after:.4f}",
            escape(f"{gain.mean:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]"),
            f"{change.p_adjusted:.4f}",
            str(len(change.lost)),
            str(len(change.gained)),
        )
    console.print(table)
    for change in found.changes:
        for verb, queries in (("lost", change.lost), ("gained", change.gained)):
            if queries:
                console.print(f"[dim]{escape(change.variant)} {verb}: {escape(', '.join(queries))}[/]")
    for name, (before, after) in found.settings.items():
        console.print(escape(f"{name}: {before} -> {after}"))
    for name in found.only:
        console.print(f"[yellow]only one report holds a valid {escape(name)}[/]")
    for remark in found.remarks:
        console.print(f"[yellow]{escape(remark)}[/]")
    for name, made in zip("AB", found.origins, strict=True):
        console.print(f"[dim]{name}: {escape(made)}[/]", soft_wrap=True)
