"""Rich text through striprtf, with what it leaves out put back: footnotes, astral characters, tables as rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.metadata import version

from seamline.ingest.blocks import paragraphs
from seamline.ingest.layout import Layout
from seamline.ingest.office import laid_out
from seamline.ingest.tables import SEPARATOR
from seamline.ports import Parsed
from seamline.types import ParseStatus

_FOOTNOTE = re.compile(r"\{\\footnote\b(?!\\ftnalt)")
_ALTERNATE = re.compile(r"\{\\footnote\\ftnalt\b")
_BRACES = re.compile(r"\\[{}\\]|[{}]")
_SOFT_HYPHEN = "\u00ad"


class RtfParser:
    """Reads ``.rtf``; the bytes that it writes as escapes are decoded by the font's code page."""

    name = "rtf"
    media_types = frozenset({"application/rtf"})

    def __init__(self) -> None:
        self.version = f"1+striprtf-{version('striprtf')}"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract; a row of a table is a line, footnotes come last."""
        from striprtf.striprtf import rtf_to_text

        # RTF is ASCII with escapes: one character a byte, and nothing is decoded twice.
        source = _footnotes_last(data.decode("latin-1"))
        try:
            text = str(rtf_to_text(source, errors="replace"))  # type: ignore[no-untyped-call]
        except (ValueError, LookupError, IndexError) as error:
            return Parsed(
                text="", media_type=media_type, status=ParseStatus.CORRUPT, reason=f"not readable: {error}"[:300]
            )
        # Its halves of a surrogate pair are two escapes.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace(_SOFT_HYPHEN, "")
        layout = Layout()
        for block in paragraphs(text):
            _lay_out(text[block.char_start : block.char_end], layout)
        return laid_out(layout, media_type)


def _lay_out(piece: str, layout: Layout) -> None:
    """Lines that end in a bar are rows, as striprtf writes them; the others are paragraphs of their own."""
    group = layout.group()
    for line in piece.split("\n"):
        if line.rstrip().endswith("|"):
            cells = [" ".join(cell.split()) for cell in line.rstrip().removesuffix("|").split("|")]
            layout.add("table_row", SEPARATOR.join(cells) if any(cells) else "", group=group)
        else:
            layout.add("paragraph", line)


def _footnotes_last(source: str) -> str:
    """Move each footnote behind the text: striprtf skips the destination, not a group that only was one."""
    notes: list[str] = []
    parts: list[str] = []
    last = 0
    source = _ALTERNATE.sub(r"{\\footnote", source)
    for found in _FOOTNOTE.finditer(source):
        if found.start() < last:
            continue
        end = _group_end(source, found.start())
        parts.append(source[last : found.start()])
        notes.append("{\\par " + source[found.end() : end])
        last = end
    if not notes:
        return source
    body = "".join([*parts, source[last:]]).rstrip("\0 \r\n")
    return body.removesuffix("}") + "".join(notes) + "}"


def _group_end(source: str, start: int) -> int:
    depth = 0
    for brace in _BRACES.finditer(source, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.end()
    return len(source)


def create(settings: Mapping[str, object]) -> RtfParser:  # noqa: ARG001
    """The RTF parser; it has no settings."""
    return RtfParser()
