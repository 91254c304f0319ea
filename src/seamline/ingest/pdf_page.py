"""The text of one PDF page, with three losses of PDFium made good.

Form fields are drawn into the page first, because annotations are not page text. Vertical text whose font is
not embedded has objects of no width, which PDFium's text page leaves out: they are sheared by a thousandth.
A glyph that stands for several right-to-left letters (a ligature) yields them in visual order: turned round.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_NO_WIDTH = 0.01  # PDFium's own epsilon, in points


def page_text(document: PdfDocument, index: int) -> tuple[str, bool]:
    """The raw text of a page, and whether the page shows an image. Raises ``PdfiumError`` for a bad page."""
    import pypdfium2

    page = document[index]
    try:
        if _draws_annotations(page) and pypdfium2.raw.FPDFPage_Flatten(page.raw, pypdfium2.raw.FLAT_NORMALDISPLAY) == 1:
            page.close()
            page = document[index]
        _widen_vertical_text(page)
        textpage = page.get_textpage()
        text = textpage.get_text_range()
        if _RTL.search(text):
            text = _turned(textpage)
        image = not text.strip() and any(page.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3))
        return text, image
    finally:
        page.close()


def _draws_annotations(page: PdfPage) -> bool:
    """Whether a form field, a free text or a stamp lies on the page."""
    from pypdfium2 import raw

    drawn = (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP)
    for number in range(raw.FPDFPage_GetAnnotCount(page.raw)):
        annotation = raw.FPDFPage_GetAnnot(page.raw, number)
        subtype = raw.FPDFAnnot_GetSubtype(annotation)
        raw.FPDFPage_CloseAnnot(annotation)
        if subtype in drawn:
            return True
    return False


def _widen_vertical_text(page: PdfPage) -> None:
    from pypdfium2 import raw

    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for number in range(raw.FPDFPage_CountObjects(page.raw)):
        item = raw.FPDFPage_GetObject(page.raw, number)
        if raw.FPDFPageObj_GetType(item) != raw.FPDF_PAGEOBJ_TEXT:
            continue
        known = raw.FPDFPageObj_GetBounds(item, left, bottom, right, top)
        if known and right.value - left.value < _NO_WIDTH < top.value - bottom.value:
            raw.FPDFPageObj_Transform(item, 1, 0, 0.001, 1, 0, 0)


def _turned(textpage: PdfTextPage) -> str:
    """The page's characters, runs of right-to-left letters that share one glyph (one origin) reversed."""
    from pypdfium2 import raw

    count = textpage.count_chars()
    characters = [chr(raw.FPDFText_GetUnicode(textpage.raw, index)) for index in range(count)]
    origins = [_origin(textpage, index) if _RTL.match(characters[index]) else None for index in range(count)]
    start = 0
    while start < count:
        end = start + 1
        while origins[start] is not None and end < count and origins[end] == origins[start]:
            end += 1
        # In logical order a mark follows its letter: a run that ends in one is right already.
        if end - start > 1 and not unicodedata.combining(characters[end - 1]):
            characters[start:end] = characters[start:end][::-1]
        start = end
    return "".join(characters)


def _origin(textpage: PdfTextPage, index: int) -> tuple[float, float] | None:
    from pypdfium2 import raw

    x, y = ctypes.c_double(), ctypes.c_double()
    return (x.value, y.value) if raw.FPDFText_GetCharOrigin(textpage.raw, index, x, y) else None
