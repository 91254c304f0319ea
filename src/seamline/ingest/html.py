"""HTML and XHTML: main content as text, with headings, lists, tables and code as blocks."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from importlib.metadata import version

from seamline.ingest import decode as ladder
from seamline.ingest.clean import clean
from seamline.ingest.html_walk import Page, read_page
from seamline.ingest.quality import measure
from seamline.ports import Parsed
from seamline.types import ParseStatus

_META = re.compile(rb"<(?:meta|\?xml)\b[^>]*?(?:charset|encoding)\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE)
_PRESCAN = 4096
_LABELS = {  # what pages say, and what their authors' programs wrote (WHATWG encoding standard)
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-1": "cp1252", "latin1": "cp1252", "gb2312": "gb18030",
    "gbk": "gb18030", "x-gbk": "gb18030", "shift_jis": "cp932", "x-sjis": "cp932", "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949", "big5": "big5hkscs", "iso-8859-9": "cp1254", "tis-620": "cp874",
    "iso-8859-11": "cp874", "windows-874": "cp874", "iso-8859-8-i": "iso-8859-8", "x-mac-roman": "mac_roman",
}  # fmt: skip


class HtmlParser:
    """Nothing that a page refers to is fetched; what a reader would not see is left out."""

    name = "html"
    media_types = frozenset({"text/html", "application/xhtml+xml"})

    def __init__(self) -> None:
        self.version = f"1+resiliparse-{version('resiliparse')}"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract; the title is ``<title>``, else the first ``<h1>``; the language is the page's ``lang``."""
        source, decoder = decode_html(data)
        cleaned = clean(source)
        page: Page = read_page(cleaned.text)
        return Parsed(
            text=page.text,
            media_type=media_type,
            blocks=page.blocks,
            title=page.title,
            language=page.language,
            metadata=page.metadata,
            decoder=decoder,
            quality=measure(page.text, controls=cleaned.controls),
            status=ParseStatus.TRUNCATED if page.cut else ParseStatus.OK,
            reason=page.cut,
        )


def decode_html(data: bytes) -> tuple[str, str]:
    """The ladder, with the page's own declaration between its sure signs and its guess.

    A declaration is believed only where the bytes agree: valid UTF-8 beyond ASCII is UTF-8 whatever is
    declared, and a single-byte encoding, which decodes anything, must be among the plausible guesses.
    """
    marked = ladder.from_marks(data)
    if marked is not None:
        return marked
    declared = _declared(data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return text, "utf-8"
    if declared is None or declared == "utf-8":
        return ladder.damaged_utf8(data) or ladder.guess(data)
    try:
        text = data.decode(declared)
    except (UnicodeDecodeError, LookupError):  # the latter for codecs that are no text encodings, such as hex
        return ladder.guess(data)
    return (text, declared) if _agrees(data, declared) else ladder.guess(data)


def _declared(data: bytes) -> str | None:
    found = _META.search(data[:_PRESCAN])
    if found is None:
        return None
    label = found[1].decode("ascii", "replace").lower()
    try:
        codec = codecs.lookup(_LABELS.get(label, label))
    except LookupError:
        return None
    # UTF-16 cannot be declared in ASCII; what says so is something else.
    return None if codec.name.startswith("utf-16") else codec.name


def _agrees(data: bytes, declared: str) -> bool:
    ranked = ladder.ranked(data)
    chaos = {codecs.lookup(name).name: value for name, value in ranked}
    if not ranked or declared not in {codecs.lookup(name).name for name in ladder.LEGACY}:
        return True
    return declared in chaos and chaos[declared] <= ranked[0][1] + 0.1


def create(settings: Mapping[str, object]) -> HtmlParser:  # noqa: ARG001
    """The HTML parser; it has no settings."""
    return HtmlParser()
