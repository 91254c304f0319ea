"""``seamline index --explain``: what extraction makes of files, with nothing stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seamline.cli.options import Common, print_json

LINES = 30


def explain_files(told: Common, paths: Sequence[Path]) -> int:
    """Print every document of the paths; exit code 1 when one of them would not be indexed."""
    from seamline.kit import read_documents
    from seamline.types import ParseStatus

    documents = read_documents(paths, told.settings().values.mapping())
    rows = [explained(document) for document in documents]
    if told.as_json:
        print_json(rows)
    else:
        for document, row in zip(documents, rows, strict=True):
            _show(document, row)
    good = (ParseStatus.OK, ParseStatus.TRUNCATED)
    return 0 if all(document.status in good for document in documents) else 1


def explained(document: Any) -> dict[str, Any]:  # noqa: ANN401
    """What was extracted from one file, how, and what was dropped."""
    quality = document.quality
    return {
        "document_id": document.id,
        "status": document.status.value,
        "reason": document.status_reason,
        "media_type": document.media_type,
        "parser": f"{document.provenance.parser} {document.provenance.parser_version}".strip(),
        "decoder": document.provenance.decoder,
        "title": document.title,
        "language": document.language,
        "language_confidence": document.language_confidence,
        "language_declared": document.language_declared,
        "characters": len(document.text),
        "blocks": dict(Counter(block.kind for block in document.blocks)),
        "outline": [
            {"level": block.level, "title": block.title} for block in document.blocks if block.kind == "heading"
        ],
        "places": [{"unit": page.unit, "index": page.index, "label": page.label} for page in document.pages],
        "metadata": dict(document.metadata),
        "dropped": {
            "control characters": quality.control_characters_removed,
            "pages that could not be read": quality.failed_pages,
        },
        "doubtful": {
            "replacement characters": quality.replacement_characters,
            "private-use characters": quality.private_use_characters,
        },
        "text": document.text,
    }


def _show(document: Any, row: dict[str, Any]) -> None:  # noqa: ANN401
    from rich.table import Table

    from seamline.cli.printing import escape
    from seamline.cli.render import console

    colour = "green" if row["status"] == "ok" else "yellow"
    reason = f": {escape(row['reason'])}" if row["reason"] else ""
    console.print(f"[bold]{escape(row['document_id'])}[/]  [{colour}]{row['status']}[/]{reason}")
    table = Table(box=None, show_header=False, pad_edge=False)
    sure = f" ({row['language_confidence']:.2f})" if row["language_confidence"] is not None else ""
    declared = " (declared)" if row["language_declared"] else ""
    facts = {
        "known as": row["media_type"],
        "read by": row["parser"] + (f", decoded as {row['decoder']}" if row["decoder"] else ""),
        "title": row["title"],
        "language": f"{row['language']}{declared or sure}" if row["language"] else "not told",
        "characters": f"{row['characters']:,}",
        "blocks": ", ".join(f"{count} {kind}" for kind, count in row["blocks"].items()),
        "places": _places(row["places"]),
        "metadata": ", ".join(f"{name}: {value}" for name, value in row["metadata"].items()),
        "dropped": _counted(row["dropped"]) or "nothing but what the format itself hides",
        "doubtful": _counted(row["doubtful"]),
    }
    for name, value in facts.items():
        if value:
            table.add_row(f"[dim]{name}[/]", escape(str(value)))
    console.print(table)
    for block in document.blocks[:LINES]:
        text = " ".join(document.text[block.char_start : block.char_end].split())
        indent = "  " * (block.level or 0) if block.kind == "heading" else "    "
        console.print(f"[dim]{block.kind:<10}[/]{indent}{escape(text[:100])}", soft_wrap=True)
    if len(document.blocks) > LINES:
        console.print(f"[dim]... and {len(document.blocks) - LINES} more; --json shows all of the text[/]")
    console.print()


def _places(places: list[dict[str, Any]]) -> str:
    if not places:
        return ""
    names = [place["label"] or str(place["index"] + 1) for place in places]
    shown = names if len(names) <= 6 else [*names[:3], "...", names[-1]]
    return f"{len(places)} ({places[0]['unit']}: {', '.join(shown)})"


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)
