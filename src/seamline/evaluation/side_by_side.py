"""Two saved reports side by side: differences with intervals and tests, flips, and settings that differ."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from seamline.errors import UsageError
from seamline.evaluation.measures import DEPTH, PRIMARY
from seamline.evaluation.report import FORMAT, origin
from seamline.evaluation.significance import Interval, bootstrap_interval, holm, randomisation_test

_FOUND = f"mrr@{DEPTH}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One variant in both reports; the difference is B minus A. Flips are as in a gate."""

    variant: str
    before: float
    after: float
    difference: Interval
    p_value: float
    p_adjusted: float
    lost: tuple[str, ...]
    gained: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """``settings`` maps what differs to its two values. ``only`` are variants that one report lacks.

    ``origins`` say of A and of B how many queries, which version, when, where and by which command.
    """

    changes: tuple[Change, ...]
    settings: Mapping[str, tuple[object, object]]
    only: tuple[str, ...]
    remarks: tuple[str, ...]
    origins: tuple[str, str]

    def to_dict(self) -> dict[str, object]:
        """As JSON values."""
        return {**asdict(self), "measure": PRIMARY}


def read_report(path: Path) -> dict[str, Any]:
    """A ``report.json``; raises ``UsageError`` when it is none."""
    try:
        body: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: the report cannot be read: {error}") from error
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise UsageError(f"{path}: not a report of this version", hint="`seamline eval --output` writes one")
    return body


def side_by_side(a: Mapping[str, Any], b: Mapping[str, Any], *, seed: int, force: bool = False) -> SideBySide:
    """Compare two reports. Raises ``UsageError`` when they are over other queries or corpora, unless forced.

    Forced, only the queries that both hold are compared.
    """
    remarks = _differing(a, b)
    if remarks and not force:
        raise UsageError("; ".join(remarks), hint="--force compares the queries that both hold")
    first, second = _valid(a), _valid(b)
    shared = [name for name in first if name in second]
    changes = [_change(name, first[name], second[name], seed) for name in shared]
    adjusted = holm([change["p_value"] for change in changes])
    return SideBySide(
        changes=tuple(Change(**change, p_adjusted=p) for change, p in zip(changes, adjusted, strict=True)),
        settings=_settings(a, b),
        only=tuple(sorted(first.keys() ^ second.keys())),
        remarks=tuple(remarks),
        origins=(_origin(a), _origin(b)),
    )


def _origin(report: Mapping[str, Any]) -> str:
    stated = {"seamline": report["versions"].get("seamline"), **report.get("made", {})}
    return origin(report["golden"]["judged"], stated)


def _differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    found = []
    if a["golden"]["sha256"] != b["golden"]["sha256"]:
        found.append(f"the golden sets differ: {a['golden']['name']} and {b['golden']['name']}")
    if a["retriever"].get("corpus_digest") != b["retriever"].get("corpus_digest"):
        found.append("the indexed corpora differ")
    return found


def _valid(report: Mapping[str, Any]) -> dict[str, dict[str, Mapping[str, float]]]:
    return {
        variant["name"]: {query["id"]: query["measures"] for query in variant["queries"]}
        for variant in report["variants"]
        if variant["status"] == "ok"
    }


def _change(
    name: str, before: Mapping[str, Mapping[str, float]], after: Mapping[str, Mapping[str, float]], seed: int
) -> dict[str, Any]:
    queries = [query for query in before if query in after]
    if not queries:
        raise UsageError(f"{name}: the reports have no query in common")
    old, new = _values(before, queries), _values(after, queries)
    return {
        "variant": name,
        "before": sum(old) / len(old),
        "after": sum(new) / len(new),
        "difference": bootstrap_interval([x - y for x, y in zip(new, old, strict=True)], seed=seed),
        "p_value": randomisation_test(new, old, seed=seed),
        "lost": tuple(q for q in queries if before[q][_FOUND] > 0 and not after[q][_FOUND] > 0),
        "gained": tuple(q for q in queries if after[q][_FOUND] > 0 and not before[q][_FOUND] > 0),
    }


def _values(measures: Mapping[str, Mapping[str, float]], queries: Sequence[str]) -> list[float]:
    return [measures[query][PRIMARY] for query in queries]


def _settings(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, tuple[object, object]]:
    found: dict[str, tuple[object, object]] = {}
    for part in ("settings", "retriever", "versions"):
        for name in sorted(a[part].keys() | b[part].keys()):
            if a[part].get(name) != b[part].get(name):
                found[f"{part}.{name}"] = (a[part].get(name), b[part].get(name))
    return found
