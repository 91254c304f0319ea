"""The command line in this process, as a user would call it: arguments in, exit code and both streams out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from seamline.cli.main import main

DOCUMENTS = {
    "pumps/p-40.md": (
        "# Pump P-40\n\nThe P-40 is the smaller bilge pump of the harbour.\n\n## Limits\n\n"
        "It moves 40 litres a second. The seal must be changed every 900 hours.\n\n## Faults\n\n"
        "Code ERR_SEAL-7 means that the seal leaks. Stop the pump and close valve V-3.\n"
    ),
    "pumps/p-90.md": (
        "# Pump P-90\n\nThe P-90 empties the dry dock.\n\n## Limits\n\n"
        "It moves 90 litres a second. The seal must be changed every 1,500 hours.\n"
    ),
    "rules/speed.txt": "Boats may sail at most four knots inside the harbour. At night the limit is three knots.\n",
    "rules/vitesse.md": (
        "# Vitesse dans le port\n\nLes bateaux naviguent à quatre nœuds au plus dans le port. "
        "La nuit, la vitesse est limitée à trois nœuds. Les congés payés de l'équipage sont réglés ailleurs.\n"
    ),
    "notice.html": (
        "<html><head><title>Notice</title></head><body><h1>Lost property</h1>"
        "<p>Umbrellas are kept for six weeks at the ticket office.</p></body></html>"
    ),
}


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    def json(self) -> Any:  # noqa: ANN401
        return json.loads(self.out)


class Cli:
    """Runs commands against one home."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str], provider: str = "hash") -> None:
        self._home, self._capsys, self._provider = home, capsys, provider

    def __call__(self, *arguments: str | Path) -> Ran:
        self._capsys.readouterr()
        shared = ["--home", str(self._home), "--set", f"embedding_provider={self._provider}"]
        with pytest.raises(SystemExit) as left:
            main([*map(str, arguments), *shared])
        out, err = self._capsys.readouterr()
        return Ran(int(left.value.code or 0), out, err)


def write_documents(folder: Path) -> Path:
    """The documents above, as files."""
    for name, text in DOCUMENTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
