"""Word files and presentations, made from their parts."""

from __future__ import annotations

import pytest

from seamline.ingest.docx import DocxParser
from seamline.ingest.pptx import PptxParser
from seamline.ports import Parsed
from seamline.types import ParseStatus
from support.made_files import docx, paragraph, part, pptx, shape, zipped


def lines(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind, parsed.text[block.char_start : block.char_end]) for block in parsed.blocks]


def word(body: str, parts: dict[str, tuple[str, str | bytes]] | None = None, *, strict: bool = False) -> Parsed:
    return DocxParser().parse(docx(body, parts, strict=strict), media_type="x", filename="a.docx")


@pytest.mark.parametrize("strict", [False, True])
def test_headings_are_known_by_localised_styles_outline_levels_and_inheritance(strict: bool) -> None:
    parsed = word(
        paragraph("Hafen", "berschrift1") + paragraph("Pumpen", "Eigene") + paragraph("Text.")
        + paragraph("Ventile", properties='<w:outlineLvl w:val="2"/>'),
        strict=strict,
    )  # fmt: skip
    assert [(b.level, b.title) for b in parsed.blocks if b.kind == "heading"] == [
        (1, "Hafen"), (2, "Pumpen"), (3, "Ventile"),
    ]  # fmt: skip
    assert (parsed.title, parsed.metadata["author"]) == ("From the properties", "A. Writer")
    assert word(paragraph("The Guide", "Titel")).title == "The Guide"


def test_tracked_changes_are_accepted_and_fallbacks_said_once() -> None:
    box = "<w:txbxContent>" + paragraph("In the box.") + "</w:txbxContent>"
    parsed = word(
        "<w:p><w:r><w:t>Kept </w:t></w:r><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom>"
        "<w:moveTo><w:r><w:t> moved here</w:t></w:r></w:moveTo></w:p>"
        f"<w:p><w:r><mc:AlternateContent><mc:Choice><wps:txbx>{box}</wps:txbx></mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
        f"<w:sdt><w:sdtContent>{paragraph('Controlled.')}</w:sdtContent></w:sdt>"
        "<w:p><w:r><w:fldChar/><w:instrText>PAGEREF x</w:instrText><w:t>7</w:t></w:r></w:p>"
    )
    assert parsed.text == "Kept new moved here\n\nIn the box.\n\nControlled.\n\n7"


def test_tables_are_rows_and_single_cells_are_body_text() -> None:
    cell = "<w:tc>{}</w:tc>".format
    parsed = word(
        f"<w:tbl><w:tr>{cell(paragraph('Pump'))}{cell(paragraph('Litres') + paragraph('a second'))}</w:tr>"
        f"<w:tr>{cell(paragraph('P-40'))}{cell(paragraph('40'))}</w:tr>"
        f"<w:tr><w:trPr><w:del/></w:trPr>{cell(paragraph('gone'))}{cell(paragraph('x'))}</w:tr></w:tbl>"
        f"<w:tbl><w:tr>{cell(paragraph('Alone', 'berschrift1') + paragraph('Body.'))}</w:tr></w:tbl>"
    )
    assert lines(parsed) == [
        ("table_row", "Pump | Litres a second"),
        ("table_row", "P-40 | 40"),
        ("heading", "Alone"),
        ("paragraph", "Body."),
    ]
    assert parsed.blocks[0].group == parsed.blocks[1].group


def test_headers_notes_comments_and_included_content_are_read_once() -> None:
    note = "<w:footnote w:type='separator'>{}</w:footnote><w:footnote>{}</w:footnote>".format
    parsed = word(
        paragraph("Body.") + '<w:altChunk r:id="web"/><w:altChunk r:id="inner"/>',
        {
            "h1": ("header", part("hdr", paragraph("Harbour office"))),
            "h2": ("header", part("hdr", paragraph("Harbour office"))),
            "f1": ("footer", part("ftr", paragraph("12"))),
            "n": ("footnotes", part("footnotes", note(paragraph("----"), paragraph("A footnote.")))),
            "k": ("comments", part("comments", f'<w:comment w:author="B. Reader">{paragraph("Why?")}</w:comment>')),
            "web": ("aFChunk", "<html><body><h2>From a page</h2><p>Its text.</p></body></html>"),
            "inner": ("aFChunk", docx(paragraph("From another file."))),
        },
    )
    assert lines(parsed) == [
        ("paragraph", "Harbour office"),
        ("paragraph", "Body."),
        ("heading", "From a page"),
        ("paragraph", "Its text."),
        ("paragraph", "From another file."),
        ("paragraph", "A footnote."),
        ("quote", "B. Reader: Why?"),
    ]


def test_a_package_that_includes_itself_ends() -> None:
    inner = docx(paragraph("deepest"))
    for _ in range(6):
        inner = docx(paragraph("level") + '<w:altChunk r:id="i"/>', {"i": ("aFChunk", inner)})
    parsed = DocxParser().parse(inner, media_type="x", filename="a.docx")
    assert parsed.status is ParseStatus.OK
    assert parsed.text.count("level") == 4


def test_lists_keep_their_items_together() -> None:
    numbered = '<w:numPr><w:numId w:val="3"/></w:numPr>'
    parsed = word(paragraph("one", properties=numbered) + paragraph("two", properties=numbered) + paragraph("after"))
    assert [block.kind for block in parsed.blocks] == ["list_item", "list_item", "paragraph"]
    assert parsed.text == "one\ntwo\n\nafter"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"PK\x03\x04 cut short", ParseStatus.CORRUPT),
        (zipped({"word/document.xml": "<w/>"}), ParseStatus.CORRUPT),
        (zipped({"_rels/.rels": "<not closed", "x": ""}), ParseStatus.CORRUPT),
    ],
)
def test_damage_is_a_status(data: bytes, status: ParseStatus) -> None:
    for parser in (DocxParser(), PptxParser()):
        parsed = parser.parse(data, media_type="x", filename="x")
        assert parsed.status is status
        assert parsed.reason


def test_slides_come_in_the_order_of_the_presentation_with_titles_first_and_notes_last() -> None:
    table = (
        "<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Pump</a:t></a:r></a:p></a:txBody></a:tc>"
        "<a:tc><a:txBody><a:p><a:r><a:t>40</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>"
    )
    data = pptx(
        [
            shape("first point\nsecond point", "body") + shape("Opening", "ctrTitle") + shape("9", "sldNum"),
            f"<p:grpSp>{shape('grouped')}</p:grpSp>{table}",
            "",
        ],
        notes={0: "Say hello."},
    )
    parsed = PptxParser().parse(data, media_type="x", filename="a.pptx")
    assert lines(parsed) == [
        ("heading", "Opening"),
        ("list_item", "first point"),
        ("list_item", "second point"),
        ("paragraph", "Say hello."),
        ("paragraph", "grouped"),
        ("table_row", "Pump | 40"),
    ]
    assert [(place.unit, place.index) for place in parsed.pages] == [("slide", 0), ("slide", 1)]
    assert "grouped" in parsed.text[parsed.pages[1].char_start : parsed.pages[1].char_end]
