"""Small plots as SVG text. Colours are classes, so that the page's style sheet sets them for light and dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from seamline.evaluation.significance import Interval

SERIES = 8
"""Colours in the style sheet; further series repeat them."""
_WIDTH, _HEIGHT = 560, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 12, 34


def series(index: int) -> str:
    """The class that colours one series, by its place."""
    return f"s{index % SERIES}"


def lines(curves: Mapping[str, Sequence[float]], *, title: str, x_label: str) -> str:
    """Curves of values in [0, 1] over 1, 2, 3..."""
    count = max(map(len, curves.values()))
    high = max(0.05, *(max(values) for values in curves.values()))
    top = next(step for step in (0.1, 0.25, 0.5, 0.75, 1.0, high) if high <= step + 1e-9)
    least = min(map(min, curves.values()))
    low = next(step for step in (0.75, 0.5, 0.25, 0.0) if step <= least and step < top)
    body = [_grid(low, top)]
    depths = sorted({1, *range(10, count + 1, 10), count})
    body += [_text(_x(k - 1, count - 1), _HEIGHT - 16, str(k), "middle") for k in depths]
    for index, (name, values) in enumerate(curves.items()):
        points = " ".join(
            f"{_x(i, count - 1):.1f},{_y((value - low) / (top - low)):.1f}" for i, value in enumerate(values)
        )
        label = f"{escape(name)}: {values[min(9, len(values) - 1)]:.3f} at 10, {values[-1]:.3f} at {len(values)}"
        body.append(f'<polyline class="line {series(index)}" points="{points}"><title>{label}</title></polyline>')
    body.append(_text(_LEFT + (_WIDTH - _LEFT - _RIGHT) / 2, _HEIGHT - 2, x_label, "middle"))
    return _svg(title, "".join(body), _HEIGHT)


def intervals(means: Mapping[str, Interval], *, title: str) -> str:
    """A dot for each mean, with its interval, one a row."""
    left, row = 170, 26
    height = row * len(means) + 34
    low = min(interval.low for interval in means.values())
    high = max(interval.high for interval in means.values())
    margin = max(0.02, (high - low) * 0.1)
    start, span = max(0.0, low - margin), max(min(1.0, high + margin) - max(0.0, low - margin), 1e-6)

    def place(value: float) -> float:
        return left + (value - start) / span * (_WIDTH - left - 60)

    body = []
    for value in ticks(start, start + span):
        body.append(f'<line class="grid" x1="{place(value):.1f}" x2="{place(value):.1f}" y1="6" y2="{height - 24}"/>')
        body.append(_text(place(value), height - 8, f"{value:.2f}", "middle"))
    for index, (name, interval) in enumerate(means.items()):
        y = 6 + row * index + row / 2
        body.append(_text(left - 10, y + 4, name, "end"))
        body.append(
            f'<line class="line {series(index)}" x1="{place(interval.low):.1f}" x2="{place(interval.high):.1f}" '
            f'y1="{y}" y2="{y}"/><circle class="dot {series(index)}" cx="{place(interval.mean):.1f}" cy="{y}" r="5">'
            f"<title>{escape(name)}: {interval.mean:.4f} [{interval.low:.4f}, {interval.high:.4f}]</title></circle>"
        )
        body.append(_text(_WIDTH - 4, y + 4, f"{interval.mean:.3f}", "end"))
    return _svg(title, "".join(body), height)


def deltas(differences: Sequence[tuple[str, float]], *, title: str) -> str:
    """A bar a query, gains first; queries without a difference are left out."""
    moved = sorted(((value, name) for name, value in differences if abs(value) > 1e-12), reverse=True)
    extent = max((abs(value) for value, _ in moved), default=1.0)
    height, middle = 150, 70.0
    body = [
        f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{middle}" y2="{middle}"/>',
        _text(_LEFT - 6, 14, f"+{extent:.2f}", "end"),
        _text(_LEFT - 6, 134, f"-{extent:.2f}", "end"),
    ]
    step = (_WIDTH - _LEFT - _RIGHT) / max(len(moved), 1)
    for index, (value, name) in enumerate(moved):
        tall = abs(value) / extent * 60
        top = middle - tall if value > 0 else middle
        body.append(
            f'<rect class="{"gain" if value > 0 else "loss"}" x="{_LEFT + index * step:.2f}" y="{top:.1f}" '
            f'width="{max(step - (1 if step > 3 else 0), 0.5):.2f}" height="{tall:.1f}">'
            f"<title>{escape(name)}: {value:+.3f}</title></rect>"
        )
    if not moved:
        body.append(_text(_WIDTH / 2, middle - 8, "no query differs", "middle"))
    return _svg(title, "".join(body), height)


def histogram(values: Sequence[float], *, top: float, index: int, title: str, bins: int = 40) -> str:
    """How often values from 0 to ``top`` occur; larger ones are in the last bin."""
    counts = [0] * bins
    for value in values:
        counts[min(int(value / top * bins), bins - 1)] += 1
    most, height = max(counts) or 1, 120
    step = (_WIDTH - _LEFT - _RIGHT) / bins
    body = [f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="90" y2="90"/>']
    for place, count in enumerate(counts):
        if count:
            tall = count / most * 80
            low, high = top * place / bins, top * (place + 1) / bins
            body.append(
                f'<rect class="bar {series(index)}" x="{_LEFT + place * step:.1f}" y="{90 - tall:.1f}" '
                f'width="{step - 2:.1f}" height="{tall:.1f}"><title>{count} queries, {low:.1f} to {high:.1f} ms'
                "</title></rect>"
            )
    width = _WIDTH - _LEFT - _RIGHT
    body += [_text(_LEFT + value / top * width, 110, f"{value:g}", "middle") for value in ticks(0.0, top)]
    return _svg(title, "".join(body), height)


def ticks(low: float, high: float) -> list[float]:
    """Round values in ``[low, high]``, about five: multiples of 1, 2, 2.5 or 5 times a power of ten."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= rough * (1 - 1e-9))
    return [n * step for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _grid(low: float, high: float) -> str:
    found = []
    for value in ticks(low, high):
        y = _y((value - low) / (high - low))
        found.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        found.append(_text(_LEFT - 6, y + 4, f"{value:.2f}", "end"))
    return "".join(found)


def _x(place: float, last: int) -> float:
    return _LEFT + place / max(last, 1) * (_WIDTH - _LEFT - _RIGHT)


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(title: str, body: str, height: int) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}">'
        f"<title>{escape(title)}</title>{body}</svg>"
    )
