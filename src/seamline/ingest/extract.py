"""The part of parsing that every parser shares: choosing it, and judging what it made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from seamline.ingest import ole
from seamline.ingest.clean import clean
from seamline.ingest.quality import garbled, measure
from seamline.ingest.sniff import UNKNOWN, sniff
from seamline.ports import Parsed, Parser
from seamline.types import ParseStatus

_HINTS = {
    "application/msword": "save it as .docx",
    "application/vnd.ms-powerpoint": "save it as .pptx",
    "application/x-ole-storage": "save it as .docx, .xlsx or .pptx",
    "image/": "an OCR parser can be added as a plug-in in the entry-point group seamline.parsers",
    "audio/": "transcribe it first",
    "application/zip": "unpack it and index the folder",
    "application/gzip": "unpack it first",
}


@dataclass(frozen=True, slots=True)
class Extracted:
    """A parser's result with the parser that made it (empty names where none was found)."""

    parsed: Parsed
    parser: str = ""
    version: str = ""


def extract(
    data: bytes, filename: str, declared: str | None, parsers: Mapping[str, Parser], *, most_chars: int
) -> Extracted:
    """Sniff, parse and judge one file; ``parsers`` maps media types to parsers."""
    media_type = sniff(data, filename, declared)
    if media_type == ole.ENCRYPTED:
        reason = "an Office file that needs a password"
        return Extracted(Parsed(text="", media_type=media_type, status=ParseStatus.ENCRYPTED, reason=reason))
    parser = parsers.get(media_type)
    if parser is None:
        return Extracted(unsupported(media_type))
    parsed = parser.parse(data, media_type=media_type, filename=filename)
    return Extracted(judged(_cleaned(_bounded(parsed, most_chars))), parser.name, parser.version)


def by_media_type(parsers: Iterable[Parser]) -> dict[str, Parser]:
    """Media types to parsers; where several know one, the last wins: plug-ins come after built-ins."""
    return {media_type: parser for parser in parsers for media_type in parser.media_types}


def unsupported(media_type: str) -> Parsed:
    """The result for a format without a parser, with what can be done instead."""
    hint = next((hint for prefix, hint in _HINTS.items() if media_type.startswith(prefix)), None)
    what = "binary content of no known format" if media_type == UNKNOWN else media_type
    reason = f"no parser for {what}" + (f"; {hint}" if hint else "")
    return Parsed(text="", media_type=media_type, status=ParseStatus.UNSUPPORTED, reason=reason)


def judged(parsed: Parsed) -> Parsed:
    """A successful result with its quality, or as ``blank`` or ``garbled``."""
    parsed = parsed if parsed.quality is not None else replace(parsed, quality=measure(parsed.text))
    if parsed.status not in (ParseStatus.OK, ParseStatus.TRUNCATED):
        return parsed
    if not parsed.text.strip():
        return replace(parsed, status=ParseStatus.BLANK, reason=parsed.reason or "no text in it")
    reason = garbled(parsed.text, parsed.quality) if parsed.quality is not None else None
    return parsed if reason is None else replace(parsed, status=ParseStatus.GARBLED, reason=reason)


def _cleaned(parsed: Parsed) -> Parsed:
    """Clean what a plug-in did not; built-in parsers hand over clean text."""
    cleaned = clean(parsed.text)
    if cleaned.text is parsed.text:
        return parsed
    moved = [
        replace(block, char_start=cleaned.position(block.char_start), char_end=cleaned.position(block.char_end))
        for block in parsed.blocks
    ]
    pages = [
        replace(page, char_start=cleaned.position(page.char_start), char_end=cleaned.position(page.char_end))
        for page in parsed.pages
    ]
    return replace(
        parsed,
        text=cleaned.text,
        blocks=tuple(block for block in moved if block.char_start < block.char_end),
        pages=tuple(page for page in pages if page.char_start < page.char_end),
        quality=measure(cleaned.text, controls=cleaned.controls),
    )


def _bounded(parsed: Parsed, most: int) -> Parsed:
    if len(parsed.text) <= most:
        return parsed
    return replace(
        parsed,
        text=parsed.text[:most],
        blocks=tuple(replace(b, char_end=min(b.char_end, most)) for b in parsed.blocks if b.char_start < most),
        pages=tuple(replace(p, char_end=min(p.char_end, most)) for p in parsed.pages if p.char_start < most),
        quality=None,
        status=ParseStatus.TRUNCATED if parsed.status is ParseStatus.OK else parsed.status,
        reason=f"cut at {most} of {len(parsed.text)} characters (parse_output_chars)",
    )
