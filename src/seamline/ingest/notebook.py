"""Notebooks: Markdown cells as Markdown, code cells as code, then what they printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

from seamline.ingest.clean import clean
from seamline.ingest.decode import decode
from seamline.ingest.layout import Layout
from seamline.ingest.markdown_blocks import markdown_blocks
from seamline.ingest.office import laid_out
from seamline.ports import Parsed
from seamline.types import ParseStatus

OUTPUT_CHARS = 10_000


class NotebookParser:
    """Reads ``.ipynb``; a place of its text is a cell."""

    name = "notebook"
    media_types = frozenset({"application/x-ipynb+json"})

    def __init__(self) -> None:
        self.version = f"1+pyromark-{version('pyromark')}"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract; pictures and other rich outputs are left out, printed text is cut at 10,000 characters a cell."""
        text, decoder = decode(data)
        try:
            cells = list(_cells(json.loads(text)))
        except (ValueError, RecursionError) as error:
            return Parsed(
                text="", media_type=media_type, status=ParseStatus.CORRUPT, reason=f"not a notebook: {error}"[:300]
            )
        layout = Layout()
        for number, cell in enumerate(cells, start=1):
            with layout.place("cell", str(number)):
                _lay_out(cell, layout)
        return laid_out(layout, media_type, decoder=decoder)


def _cells(notebook: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """The cells of versions 3 and 4; raises ``ValueError`` for anything else."""
    if not isinstance(notebook, dict) or "nbformat" not in notebook:
        raise ValueError("no nbformat in it")
    sheets = notebook.get("worksheets", [notebook])
    for sheet in sheets if isinstance(sheets, list) else []:
        cells = sheet.get("cells") if isinstance(sheet, dict) else None
        if not isinstance(cells, list):
            raise ValueError("no cells in it")
        yield from (cell for cell in cells if isinstance(cell, dict))


def _lay_out(cell: dict[str, Any], layout: Layout) -> None:
    source = _joined(cell.get("source", cell.get("input", "")))
    kind = cell.get("cell_type")
    if kind == "code":
        layout.add("code", source)
        printed = "\n".join(filter(None, (_printed(output) for output in cell.get("outputs") or [])))
        layout.add("quote", printed[:OUTPUT_CHARS])
    elif kind == "heading":
        level = cell.get("level")
        layout.add("heading", source, level=level if isinstance(level, int) else 1)
    elif kind == "markdown":
        text = clean(source).text
        for block in markdown_blocks(text):
            layout.add(block.kind, text[block.char_start : block.char_end], level=block.level, title=block.title)
    else:
        layout.add("paragraph", source)


def _printed(output: Any) -> str:  # noqa: ANN401
    if not isinstance(output, dict):
        return ""
    data = output.get("data")
    rich = data.get("text/plain", "") if isinstance(data, dict) else ""
    error = f"{output['ename']}: {output.get('evalue', '')}" if "ename" in output else ""
    return _joined(output.get("text") or rich or error)


def _joined(value: Any) -> str:  # noqa: ANN401
    return "".join(str(line) for line in value) if isinstance(value, list) else str(value or "")


def create(settings: Mapping[str, object]) -> NotebookParser:  # noqa: ARG001
    """The notebook parser; it has no settings."""
    return NotebookParser()
