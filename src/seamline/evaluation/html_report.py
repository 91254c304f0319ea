"""One report as one HTML file: no other file, no network, readable without JavaScript."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from seamline.evaluation import plots
from seamline.evaluation.golden import GoldenQuery
from seamline.evaluation.measures import PRIMARY, recall
from seamline.evaluation.report import HIT_COLUMNS, Comparison, Report, VariantOutcome
from seamline.evaluation.significance import Interval

SLOWEST = 99
"""Percentile of the latencies that a histogram ends at."""


def html(report: Report) -> str:
    """The page, complete."""
    made = {
        "retriever": dict(report.retriever),
        "settings": {"k": report.k, "passages": report.passages, "seed": report.seed, **report.settings},
        "versions": dict(report.versions),
        "made": dict(report.made),
        "golden": {"name": report.golden, "sha256": report.golden_sha256},
        "variants": {v.name: {"overrides": dict(v.overrides), "stages": dict(v.stages)} for v in report.variants},
    }
    ran = [variant for variant in report.variants if variant.queries]
    return Template(_part("page.html")).substitute(
        title=f"Evaluation: {escape(report.golden)}",
        style=_part("style.css"),
        script=_part("script.js"),
        heading=escape(report.golden),
        summary=_summary(report),
        origin=escape(report.origin),
        cards=_cards(report),
        notices=_notices(report),
        variants=_variants(report),
        reasons="".join(
            f"<p><b>{escape(v.name)}</b> is {v.status}: {escape('; '.join(v.reasons))}</p>"
            for v in report.variants
            if v.status != "ok"
        ),
        verdicts=_verdicts(report),
        comparisons=_comparisons(report.comparisons),
        plots=_plots(report, ran),
        choices=_choices(report),
        measure=PRIMARY,
        queries=_queries(report, ran),
        made=escape(json.dumps(made, ensure_ascii=False, indent=1, sort_keys=True)),
        data=_data(report, ran),
    )


def _part(name: str) -> str:
    return (files("seamline.evaluation") / "page" / name).read_text(encoding="utf-8")


def _summary(report: Report) -> str:
    parts = [f"{report.judged} judged queries", f"{report.unanswerable} unanswerable ones left out"]
    if report.coverage:
        held = report.coverage.documents - len(report.coverage.missing)
        parts.append(f"{held} of {report.coverage.documents} labelled documents are in the corpus")
        if report.coverage.unmatched:
            parts.append(f"quotes that their documents no longer hold: {', '.join(report.coverage.unmatched)}")
    parts.append(f"{report.passages} passages a query, documents by their best passage")
    return escape("; ".join(parts) + ".")


def _notices(report: Report) -> str:
    invalid = [f'<p class="invalid"><b>Invalid:</b> {escape(reason)}</p>' for reason in report.invalid]
    return "".join(invalid + [f'<p class="notice">{escape(notice)}</p>' for notice in report.notices])


def _table(head: Sequence[str], rows: Sequence[str], *, texts: Sequence[int] = (0,)) -> str:
    cells = "".join(f"<th{' class=text' if i in texts else ''}>{escape(name)}</th>" for i, name in enumerate(head))
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cards(report: Report) -> str:
    """The few figures that one looks for first; none when nothing valid ran."""
    valid = [variant for variant in report.variants if variant.status == "ok"]
    if not valid:
        return ""
    best = max(valid, key=lambda variant: variant.measures[PRIMARY].mean)
    found = best.measures[PRIMARY]
    cards = [
        (f"{found.mean:.3f}", f"best {PRIMARY}, [{found.low:.3f}, {found.high:.3f}]"),
        (best.name, f"best variant on {PRIMARY}"),
    ]
    if report.baseline not in (None, best.name):
        baseline = next(variant for variant in valid if variant.name == report.baseline)
        cards.append((f"{baseline.measures[PRIMARY].mean:.3f}", f"baseline {baseline.name}"))
    p50 = best.latency(50)
    if p50 is not None:
        cards.append((f"{p50:.1f} ms", f"median latency of {best.name}"))
    cards.append((f"{report.judged}", "judged queries"))
    shown = (f'<div class="card"><b>{escape(value)}</b><span>{escape(about)}</span></div>' for value, about in cards)
    return f'<div class="cards">{"".join(shown)}</div>'


def _verdicts(report: Report) -> str:
    rows = (
        f'<li><span class="badge {"up" if verdict.earns else "down"}">{"yes" if verdict.earns else "no"}</span>'
        f"<span>{escape(report.told(verdict))}</span></li>"
        for verdict in report.verdicts
    )
    return f'<ul class="verdicts">{"".join(rows)}</ul>' if report.verdicts else ""


def _variants(report: Report) -> str:
    names = next((list(variant.measures) for variant in report.variants if variant.measures), [])
    valid = [variant for variant in report.variants if variant.status == "ok"]
    best = {name: max((variant.measures[name].mean for variant in valid), default=None) for name in names}
    failing = any(variant.failures for variant in report.variants)
    rows = []
    for variant in report.variants:
        badge = "" if variant.status == "ok" else f' <span class="badge {variant.status}">{variant.status}</span>'
        cells = [f"<td class=text>{escape(variant.name)}{badge}</td>"]
        cells += [_mean(variant.measures.get(name), best[name] if variant.status == "ok" else None) for name in names]
        for percent in (50, 95):
            latency = variant.latency(percent)
            cells.append("<td>–</td>" if latency is None else f"<td>{latency:.1f}</td>")
        if failing:
            cells.append(f"<td>{variant.failures if variant.queries else '–'}</td>")
        kind = " class=baseline" if variant.name == report.baseline else ""
        rows.append(f"<tr{kind}>{''.join(cells)}</tr>")
    return _table(["variant", *names, "P50 ms", "P95 ms", *(["failed"] if failing else [])], rows)


def _mean(found: Interval | None, best: float | None) -> str:
    if found is None:
        return "<td>–</td>"
    kind = " class=best" if found.mean == best else ""
    return f"<td{kind}>{found.mean:.3f} <small>[{found.low:.3f}, {found.high:.3f}]</small></td>"


def _comparisons(comparisons: Sequence[Comparison]) -> str:
    if not comparisons:
        return "<p>Nothing was compared.</p>"
    rows = []
    for test in comparisons:
        gain = test.difference
        kind = "up" if gain.low > 0 else "down" if gain.high < 0 else ""
        worst = ", ".join(f"{query} {loss:+.2f}" for query, loss in test.worst)
        rows.append(
            f"<tr><td class=text>{escape(test.variant)}</td><td class=text>{escape(test.baseline)}</td>"
            f'<td class="{kind}">{gain.mean:+.3f} <small>[{gain.low:+.3f}, {gain.high:+.3f}]</small></td>'
            f"<td>{_p(test.p_value)}</td><td>{_p(test.p_adjusted)}</td>"
            f"<td>{test.wins} / {test.ties} / {test.losses}</td>"
            f'<td class="text wrap">{escape(worst) or "–"}</td></tr>'
        )
    head = ["variant", "against", PRIMARY, "p", "p (Holm)", "wins / ties / losses", "most hurt"]
    return f'<div class="scroll">{_table(head, rows, texts=(0, 1, 6))}</div>'


def _p(value: float) -> str:
    return "&lt;0.001" if value < 0.001 else f"{value:.3f}"


def _plots(report: Report, ran: Sequence[VariantOutcome]) -> str:
    if not ran:
        return "<p>No variant ran.</p>"
    relevance = {query.id: query.relevance for query in report.questions}
    curves = {
        variant.name: [
            sum(recall(query.documents, relevance[query.id], k) for query in variant.queries) / len(variant.queries)
            for k in range(1, report.passages + 1)
        ]
        for variant in ran
    }
    means = _figure(plots.intervals({v.name: v.measures[PRIMARY] for v in ran}, title=f"{PRIMARY} with 95% intervals"))
    depth = _figure(plots.lines(curves, title="Recall by depth", x_label="k documents"), _legend(ran))
    by_name = {variant.name: variant for variant in ran}
    changes = []
    for test in report.comparisons:
        pairs = zip(by_name[test.variant].queries, by_name[test.baseline].queries, strict=True)
        moved = [(ours.id, ours.measures[PRIMARY] - theirs.measures[PRIMARY]) for ours, theirs in pairs]
        changes.append(_figure(plots.deltas(moved, title=test.variant)))
    slow = [latency for variant in ran if (latency := variant.latency(SLOWEST)) is not None]
    latencies = [
        _figure(plots.histogram(variant.latencies, top=float(np.max(slow)), index=index, title=variant.name))
        for index, variant in enumerate(ran)
        if variant.latency(50) is not None
    ]
    return "".join(
        [
            f'<div class="plots">{means}{depth}</div>',
            _small(f"Change of {PRIMARY} against {report.baseline}, a bar a query", changes),
            _small("Latency in ms, queries by time taken", latencies),
        ]
    )


def _figure(svg: str, below: str = "") -> str:
    return f"<figure><h3>{svg.split('<title>', 1)[1].split('<', 1)[0]}</h3>{svg}{below}</figure>"


def _small(heading: str, figures: Sequence[str]) -> str:
    if not figures:
        return ""
    return f'<h3 class="group">{escape(heading)}</h3><div class="plots small">{"".join(figures)}</div>'


def _legend(ran: Sequence[VariantOutcome]) -> str:
    items = (
        f'<li><span class="key {plots.series(index)}"></span>{escape(variant.name)}</li>'
        for index, variant in enumerate(ran)
    )
    return f"<ul class=legend>{''.join(items)}</ul>"


def _choices(report: Report) -> str:
    found = []
    for index, test in enumerate(report.comparisons):
        for key, verb in (("w", "gained"), ("l", "lost")):
            found.append(f'<option value="{key}{index}">{verb} by {escape(test.variant)}</option>')
    return "".join(found)


def _queries(report: Report, ran: Sequence[VariantOutcome]) -> str:
    values = {variant.name: variant.values(PRIMARY) for variant in ran}
    rows = []
    for index, query in enumerate(report.questions):
        moved = []
        for place, test in enumerate(report.comparisons):
            change = values[test.variant][index] - values[test.baseline][index]
            moved += [f"{'w' if change > 0 else 'l'}{place}"] if abs(change) > 1e-12 else []
        cells = "".join(f"<td>{values[variant.name][index]:.3f}</td>" for variant in ran)
        spread = max((v[index] for v in values.values()), default=0) - min(
            (v[index] for v in values.values()), default=0
        )
        rows.append(
            f'<tr class=query tabindex=0 data-index="{index}" data-moved="{" ".join(moved)}" '
            f'data-text="{escape(_searchable(query), quote=True)}"><td class=text>{escape(query.id)}</td>'
            f'<td class="text wrap"><div class=clip>{escape(query.query)}</div></td>{cells}<td>{spread:.3f}</td></tr>'
        )
    head = "".join(
        f"<th{' class=text' if place < 2 else ''}>"
        f"<button type=button>{escape(name).replace('+', '+<wbr>')}</button></th>"
        for place, name in enumerate(["id", "query", *values, "spread"])
    )
    return f'<table id="queries"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _searchable(query: GoldenQuery) -> str:
    return " ".join([query.id, query.query, *query.tags, query.language or ""]).lower()


def _data(report: Report, ran: Sequence[VariantOutcome]) -> str:
    body = {
        "questions": [
            {"id": query.id, "query": query.query, "relevance": dict(query.relevance)} for query in report.questions
        ],
        "hit_columns": list(HIT_COLUMNS),
        "variants": [
            {
                "name": variant.name,
                "queries": {
                    query.id: {
                        "error": query.error,
                        "hits": [_rounded(hit) for hit in query.hits],
                        "ranks": {
                            document: rank
                            for rank, document in enumerate(query.documents, 1)
                            if question.relevance.get(document, 0) > 0
                        },
                    }
                    for question, query in zip(report.questions, variant.queries, strict=True)
                },
            }
            for variant in ran
        ],
    }
    # "<" never stands in the data, so that no document id or question can end the script element.
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _rounded(hit: Sequence[object]) -> list[object]:
    return [round(value, 5) if isinstance(value, float) else value for value in hit]
