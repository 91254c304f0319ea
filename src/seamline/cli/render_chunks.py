"""Chunks on a terminal: borders over the text, and what was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from seamline.chunkers import chunker_for
from seamline.cli.printing import escape
from seamline.cli.render import console

if TYPE_CHECKING:
    from seamline.chunking import ChunkingResult
    from seamline.ports import Embedder
    from seamline.types import Chunk, Chunked, Document, Failure

_STYLES = ("cyan", "green")


def drawn(documents: Iterable[Document], settings: Mapping[str, Any], embedder: Embedder | None) -> None:
    """Each document's text with the borders of its chunks."""
    chunker = chunker_for(settings, embedder)
    for document in documents:
        made = chunker.chunk(document)
        console.print(
            f"[bold]{escape(document.id)}[/]  {len(document.text):,} characters, "
            f"{len(made.parents)} parents, {len(made.children)} children"
        )
        for line in borders(made):
            console.print(line, soft_wrap=True)


def borders(made: Chunked) -> Iterable[Text]:
    """A line above each parent and each child, then the child's text; what repeats earlier text is dim."""
    parents = {parent.id: parent for parent in made.parents}
    shown = None
    end = 0
    for child in made.children:
        if child.parent_id is not None and child.parent_id != shown:
            shown = child.parent_id
            yield Text(f"══ parent {_place(parents[shown])}", style="bold magenta")
        style = _STYLES[child.chunk_index % len(_STYLES)]
        yield Text(f"── child {_place(child)}", style=f"bold {style}")
        repeated = max(0, min(end, child.char_end) - child.char_start)
        yield Text.assemble((child.text[:repeated], "dim underline"), (child.text[repeated:], style))
        end = max(end, child.char_end)


def _place(chunk: Chunk) -> str:
    path = f"  {' > '.join(chunk.heading_path)}" if chunk.heading_path else ""
    return f"{chunk.chunk_index}  [{chunk.char_start}:{chunk.char_end}]  {len(chunk.text)} characters{path}"


def written(result: ChunkingResult) -> None:
    """The reference of an artifact."""
    made = result.chunks_artifact
    console.print(
        f"[bold]written:[/] {made.documents:,} documents, {made.parents:,} parents, {made.children:,} children, "
        f"{made.bytes:,} bytes\n{escape(made.uri)}\n[dim]{made.sha256}[/]",
        soft_wrap=True,
    )


def failures(failed: Sequence[Failure]) -> None:
    """What could not be extracted."""
    for failure in failed:
        console.print(f"[red]not chunked:[/] {escape(failure.document_id)}: {escape(failure.reason)}", soft_wrap=True)
