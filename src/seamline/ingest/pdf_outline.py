"""Headings of a PDF, from its outline: an entry counts where its title is a line of the page it points to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seamline.types import Block, Page

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_NUMBERING = re.compile(r"^[\d.]+\s+|\W+")
_MOST_ENTRIES = 10_000


def headings(document: PdfDocument, text: str, pages: tuple[Page, ...]) -> dict[int, Block]:
    """Heading blocks by the offset they start at; each line serves one entry."""
    import pypdfium2

    by_index = {page.index: page for page in pages}
    lines: dict[int, dict[str, tuple[int, int]]] = {}
    found: dict[int, Block] = {}
    try:
        for number, bookmark in enumerate(document.get_toc()):
            if number >= _MOST_ENTRIES:
                break
            destination = bookmark.get_dest()
            page = by_index.get(destination.get_index() or 0) if destination is not None else None
            title = " ".join(bookmark.get_title().split())
            if page is None or not title:
                continue
            if page.index not in lines:
                lines[page.index] = _lines(text, page)
            span = lines[page.index].pop(_key(title), None)
            if span is not None:
                start, end = span
                found[start] = Block(
                    kind="heading", char_start=start, char_end=end, level=bookmark.level + 1, title=title
                )
    except (pypdfium2.PdfiumError, RecursionError, UnicodeDecodeError):
        return found  # a damaged outline costs the headings after the damage, nothing else
    return found


def _lines(text: str, page: Page) -> dict[str, tuple[int, int]]:
    """The first line of each wording, as (start, end) without trailing whitespace."""
    found: dict[str, tuple[int, int]] = {}
    start = page.char_start
    for line in text[page.char_start : page.char_end].split("\n"):
        key = _key(line)
        if key and not line[0].isspace():
            found.setdefault(key, (start, start + len(line.rstrip())))
        start += len(line) + 1
    return found


def _key(line: str) -> str:
    return _NUMBERING.sub("", line).casefold()
