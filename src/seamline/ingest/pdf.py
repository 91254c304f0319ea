"""PDF, page by page: a bad page loses only itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from seamline.ingest.blocks import trimmed
from seamline.ingest.clean import clean
from seamline.ingest.pdf_outline import headings
from seamline.ingest.pdf_page import page_text
from seamline.ingest.quality import garbled, measure
from seamline.ports import Parsed
from seamline.types import Block, MetadataValue, Page, ParseStatus

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

# PDFium marks the hyphen of a word that was divided at a line's end; older versions with \x02.
_DIVIDED = re.compile("[\x02\ufffe](?:\r?\n)?")
_PARAGRAPH_END = re.compile(r"[.!?:;。！？：；…]['\")\]”’»」』）]*[ \t]*$")
_FILE_NAME_TITLE = re.compile(r"\.(?:docx?|pdf|tex|dvi|indd|qxd|pptx?|xlsx?|rtf|odt)\s*$|^untitled|^microsoft ", re.I)
_METADATA = {"Author": "author", "Subject": "subject", "Keywords": "keywords", "CreationDate": "created"}


class PdfParser:
    """Text in the order of PDFium, which follows the columns of the content stream."""

    name = "pdf"
    media_types = frozenset({"application/pdf"})

    def __init__(self) -> None:
        self.version = f"1+pypdfium2-{version('pypdfium2')}"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract. The empty password is tried; a real one is needed for status ``encrypted``."""
        import pypdfium2

        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            return _unopened(str(error), getattr(error, "err_code", None), media_type)
        try:
            return _read(document, media_type)
        finally:
            document.close()


def _unopened(message: str, code: int | None, media_type: str) -> Parsed:
    status = ParseStatus.ENCRYPTED if code in (4, 5) else ParseStatus.CORRUPT
    reason = {
        ParseStatus.ENCRYPTED: "a password is needed to open it" if code == 4 else "its security handler is unknown",
        ParseStatus.CORRUPT: f"PDFium cannot open it: {message}",
    }[status]
    return Parsed(text="", media_type=media_type, status=status, reason=reason)


@dataclass(slots=True)
class _Reading:
    parts: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    position: int = 0
    controls: int = 0
    failed: int = 0
    images: int = 0
    garbled: int = 0

    def add(self, index: int, label: str | None, raw: str) -> None:
        """Append a page's text; pages are a line break apart, since sentences run on."""
        cleaned = clean(_DIVIDED.sub("", raw))
        if garbled(cleaned.text, measure(cleaned.text, controls=cleaned.controls)):
            self.garbled += 1
            return
        self.controls += cleaned.controls
        if not cleaned.text.strip():
            return
        if self.parts:
            self.parts.append("\n")
            self.position += 1
        end = self.position + len(cleaned.text)
        self.pages.append(Page(index=index, label=label, char_start=self.position, char_end=end))
        self.parts.append(cleaned.text)
        self.position = end


def _read(document: PdfDocument, media_type: str) -> Parsed:
    reading = _Reading()
    total = len(document)
    for index in range(total):
        _read_page(document, index, reading)
    text = "".join(reading.parts)
    pages = tuple(reading.pages)
    status, reason = _verdict(reading, total, has_text=bool(pages))
    return Parsed(
        text=text,
        media_type=media_type,
        blocks=tuple(_blocks(text, pages, headings(document, text, pages))),
        pages=pages,
        title=_title(document),
        metadata=_metadata(document, total),
        quality=replace(measure(text, controls=reading.controls), failed_pages=reading.failed + reading.garbled),
        status=status,
        reason=reason,
    )


def _read_page(document: PdfDocument, index: int, reading: _Reading) -> None:
    import pypdfium2

    try:
        raw, image = page_text(document, index)
    except pypdfium2.PdfiumError:
        reading.failed += 1
        return
    if raw.strip():
        reading.add(index, document.get_page_label(index) or None, raw)
    elif image:
        reading.images += 1


def _verdict(reading: _Reading, total: int, *, has_text: bool) -> tuple[ParseStatus, str | None]:
    if has_text:
        notes = [
            f"{count} of {total} pages {what}"
            for count, what in (
                (reading.failed, "could not be read"),
                (reading.garbled, "are garbled: their fonts do not say what their glyphs mean"),
                (reading.images, "are images without text"),
            )
            if count
        ]
        return ParseStatus.OK, "; ".join(notes) or None
    if reading.garbled:
        return ParseStatus.GARBLED, f"{reading.garbled} of {total} pages: the fonts do not say what glyphs mean"
    if reading.images:
        return ParseStatus.NEEDS_OCR, f"{reading.images} of {total} pages are images without text"
    if reading.failed:
        return ParseStatus.CORRUPT, f"{reading.failed} of {total} pages could not be read"
    return ParseStatus.BLANK, f"none of {total} pages has text"


def _blocks(text: str, pages: tuple[Page, ...], heads: dict[int, Block]) -> Iterator[Block]:
    """Paragraphs by line: one ends where a short line ends a sentence, at a blank line, heading or page."""
    for page in pages:
        lines = list(_lines(text, page))
        width = max((end - start for start, end in lines), default=0)
        opened: int | None = None
        for start, end in lines:
            ends_here = not text[start:end].strip()
            if start in heads or ends_here:
                if opened is not None:
                    yield from trimmed(text, opened, start, "paragraph")
                opened = None
                if start in heads:
                    yield heads[start]
                continue
            opened = start if opened is None else opened
            if end - start < 0.8 * width and _PARAGRAPH_END.search(text[max(start, end - 20) : end]):
                yield from trimmed(text, opened, end, "paragraph")
                opened = None
        if opened is not None:
            yield from trimmed(text, opened, page.char_end, "paragraph")


def _lines(text: str, page: Page) -> Iterator[tuple[int, int]]:
    start = page.char_start
    while start < page.char_end:
        end = text.find("\n", start, page.char_end)
        end = page.char_end if end < 0 else end
        yield start, end
        start = end + 1


def _title(document: PdfDocument) -> str | None:
    """The title in the metadata, unless a program made it up from a file name."""
    title = " ".join(clean(document.get_metadata_value("Title")).text.split())
    return title if len(title) > 2 and not _FILE_NAME_TITLE.search(title) else None


def _metadata(document: PdfDocument, total: int) -> dict[str, MetadataValue]:
    found: dict[str, MetadataValue] = {"page_count": total}
    for key, name in _METADATA.items():
        value = clean(document.get_metadata_value(key)).text.strip()
        if value:
            found[name] = value
    return found


def create(settings: Mapping[str, object]) -> PdfParser:  # noqa: ARG001
    """The PDF parser; it has no settings."""
    return PdfParser()
