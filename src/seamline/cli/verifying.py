"""``seamline verify``: whether the citations of an answer still stand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seamline.cli.options import Common, common, print_json

if TYPE_CHECKING:
    from seamline.knowledge_base import KnowledgeBase
    from seamline.ledger import Verification

_STYLES = {"intact": "green", "moved": "yellow", "changed": "red", "gone": "bold red"}


@click.command("verify")
@click.argument("answer", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--documents",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Look in these original files instead of the knowledge base.",
)
@common
def verify_command(told: Common, answer: Path, documents: Path | None) -> int:
    """Look up every citation of an exported answer: intact, moved, changed or gone.

    ANSWER is a file written by `ask --ledger` or `ask --json`. Of a ledger the prompt is rebuilt and its hash compared.
    Exit code 1 means that something is not intact.
    """
    from seamline import ledger, wire

    record = ledger.read(answer)
    if documents is not None:
        found = ledger.verify(record, _texts_of_files(documents))
    else:
        with told.open() as kb:
            found = ledger.verify(record, _texts_of_kb(kb))
    if told.as_json:
        print_json(wire.plain(found) | {"intact": found.intact})
    else:
        _show(found)
    return 0 if found.intact else 1


def _texts_of_files(folder: Path) -> Callable[[str], str | None]:
    from seamline.kit import load_documents

    texts: dict[str, str] = {str(document.id): document.text for document in load_documents(folder)}
    return texts.get


def _texts_of_kb(kb: KnowledgeBase) -> Callable[[str], str | None]:
    from seamline.errors import NotFoundError
    from seamline.types import DocumentId

    def text_of(document_id: str) -> str | None:
        with kb.read() as snapshot:
            try:
                text: str = snapshot.document(kb.scope, DocumentId(document_id)).text
            except NotFoundError:
                return None
            return text

    kb.store()
    return text_of


def _show(found: Verification) -> None:
    from seamline.cli.printing import escape
    from seamline.cli.render import console

    for item in found.citations:
        citation, place = item.citation, item.found
        status = f"[{_STYLES[place.status]}]{place.status:<7}[/]"
        now = f" -> {place.start}-{place.end}" if place.status == "moved" else ""
        where = f"{citation.document_id} {citation.char_start}-{citation.char_end}{now}"
        console.print(f"{status} \\[{citation.number}] {escape(where)}")
        console.print(f"        [dim]“{escape(' '.join(citation.quote.split()))}”[/]")
    if not found.citations:
        console.print("the answer has no citations")
    prompt: dict[Any, str] = {
        True: "[green]prompt rebuilt[/], its hash is the recorded one",
        False: "[bold red]the prompt cannot be rebuilt[/]: its hash is not the recorded one",
    }
    if found.prompt_rebuilt is not None:
        console.print(prompt[found.prompt_rebuilt])
