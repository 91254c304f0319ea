"""Run measurements of ``matrix.toml`` and compare them with what is expected there.

./scripts/bench                 list the rows
./scripts/bench NAME...         run rows; exit 1 when a figure is outside its bounds
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def main() -> int:
    """List or run; the exit code says whether every bound held."""
    rows: dict[str, Any] = tomllib.loads((HERE / "matrix.toml").read_text(encoding="utf-8"))
    wanted = sys.argv[1:]
    if not wanted:
        for name, row in rows.items():
            print(f"{name:16} {row['about']}\n{'':16} python -m {' '.join(row['command'])}")
        return 0
    unknown = [name for name in wanted if name not in rows]
    if unknown:
        print(f"no such row: {', '.join(unknown)}\nhint: known are {', '.join(rows)}", file=sys.stderr)
        return 2
    return 0 if all([_run(rows[name]) for name in wanted]) else 1


def _run(row: dict[str, Any]) -> bool:
    subprocess.run([sys.executable, "-m", *row["command"]], cwd=HERE.parent, check=True)
    figures = json.loads((HERE / "results" / row["result"]).read_text(encoding="utf-8"))["figures"]
    held = True
    for bound in row["bounds"]:
        value = _figure(figures, bound)
        low, high = bound.get("min", float("-inf")), bound.get("max", float("inf"))
        inside = low <= value <= high
        held = held and inside
        print(f"{'ok  ' if inside else 'MISS'} {bound['name']}: {value:.4f} (expected {low} to {high})")
    return held


def _figure(figures: Any, bound: dict[str, Any]) -> float:  # noqa: ANN401
    if isinstance(figures, dict):
        return float(figures[bound["key"]])
    match = bound["where"]
    found = [row for row in figures if all(row[name] == value for name, value in match.items())]
    if len(found) != 1:
        raise SystemExit(f"{len(found)} figures match {match}")
    return float(found[0][bound["key"]])


if __name__ == "__main__":
    sys.exit(main())
