from __future__ import annotations

from seamline.ingest.pdf import create
from seamline.ports import Parsed, Parser
from seamline.types import ParseStatus
from support.ingest import pdf


def parse(data: bytes) -> Parsed:
    return create({}).parse(data, media_type="application/pdf", filename="a.pdf")


def test_it_is_a_parser() -> None:
    assert isinstance(create({}), Parser)


def test_rule_12_page_index_and_printed_label_are_kept_apart() -> None:
    parsed = parse(pdf(["front", None, "body one", "body two"], labels="0<</S/r>> 2<</S/D/St 7>>"))
    assert [(page.index, page.label) for page in parsed.pages] == [(0, "i"), (2, "7"), (3, "8")]
    shown = [parsed.text[page.char_start : page.char_end] for page in parsed.pages]
    assert shown == ["front", "body one", "body two"]
    assert "\f" not in parsed.text
    assert parsed.metadata["page_count"] == 4


def test_a_bad_page_loses_only_itself() -> None:
    parsed = parse(pdf(["first", "second", "third"], broken=frozenset({1})))
    assert parsed.text == "first\nthird"
    assert parsed.status is ParseStatus.OK
    assert parsed.reason == "1 of 3 pages could not be read"
    assert parsed.quality is not None
    assert parsed.quality.failed_pages == 1


def test_words_divided_at_a_line_end_are_joined() -> None:
    assert "information" in parse(pdf(["all the infor-\nmation there is"])).text


def test_outline_entries_that_are_lines_are_headings() -> None:
    data = pdf(
        ["1 Introduction\nSome words.", "Methods\nMore words."], outline={"Introduction": 0, "Methods": 1, "Gone": 1}
    )
    parsed = parse(data)
    heads = [(b.title, b.level, parsed.text[b.char_start : b.char_end]) for b in parsed.blocks if b.kind == "heading"]
    assert heads == [("Introduction", 1, "1 Introduction"), ("Methods", 1, "Methods")]


def test_titles_made_from_file_names_are_not_titles() -> None:
    assert parse(pdf(["x"], title="Annual report")).title == "Annual report"
    assert parse(pdf(["x"], title="Microsoft Word - report.doc")).title is None


def test_statuses_say_why_there_is_no_text() -> None:
    assert parse(pdf([None, None])).status is ParseStatus.BLANK
    assert parse(pdf([None], image=True)).status is ParseStatus.NEEDS_OCR
    assert parse(pdf(["a"], broken=frozenset({0}))).status is ParseStatus.CORRUPT
    assert parse(b"%PDF-1.7 nothing").status is ParseStatus.CORRUPT
    locked = parse(pdf(["secret"], encrypt="<</Filter/Unknown/V 9/R 9>>"))
    assert locked.status is ParseStatus.ENCRYPTED
    assert locked.text == ""


def test_a_text_with_some_image_pages_says_so() -> None:
    parsed = parse(pdf(["words", None], image=True))
    assert parsed.status is ParseStatus.OK
    assert parsed.reason == "1 of 2 pages are images without text"
