"""Where the checkout's parts are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "seamline"
DOCS = ROOT / "docs"
