"""Where figures go: one JSON file a measurement, with the date, the versions and the machine's shape."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
from pathlib import Path

FOLDER = Path(__file__).parent / "results"
PACKAGES = ("seamline", "numpy", "onnxruntime", "tokenizers", "PyStemmer", "sentencex", "pypdfium2", "pyromark")


def write(name: str, figures: object) -> None:
    """Write ``results/<name>.json`` and say so."""
    body = {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "packages": {package: importlib.metadata.version(package) for package in PACKAGES},
        "figures": figures,
    }
    path = FOLDER / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")
    print(f"written: benchmarks/results/{path.name}")
