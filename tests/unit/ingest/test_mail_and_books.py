"""Messages, rich text, OpenDocument and books."""

from __future__ import annotations

import pytest

from seamline.ingest.epub import EpubParser
from seamline.ingest.mail import MailParser
from seamline.ingest.odt import OdtParser
from seamline.ingest.ole import ENCRYPTED, PLAIN, sniff_ole
from seamline.ingest.outlook import OutlookParser
from seamline.ingest.rtf import RtfParser
from seamline.ports import Parsed, Parser
from seamline.types import ParseStatus
from support.made_files import compound, epub, msg, odt

ODT = "application/vnd.oasis.opendocument.text"


def read(parser: Parser, data: bytes, media_type: str = "message/rfc822") -> Parsed:
    return parser.parse(data, media_type=media_type, filename="f")


def lines(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind, parsed.text[block.char_start : block.char_end]) for block in parsed.blocks]


MAIL = (
    b"From: A. Writer <a@example.org>\r\nTo: b@example.org\r\nSubject: =?utf-8?q?Pump_=E2=98=B8?=\r\n"
    b"Date: Mon, 5 Jan 2026 10:00:00 +0100\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=X\r\n\r\n"
    b"--X\r\nContent-Type: multipart/alternative; boundary=Y\r\n\r\n"
    b"--Y\r\nContent-Type: text/plain; charset=iso-8859-15\r\n\r\nThe pump costs 40 \xa4.\r\n"
    b"--Y\r\nContent-Type: text/html\r\n\r\n<p>The pump costs 40 EUR in HTML.</p>\r\n--Y--\r\n"
    b'--X\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename="../../etc/list.csv"\r\n\r\n'
    b"a,b\r\n1,2\r\n"
    b"--X\r\nContent-Type: message/rfc822\r\n\r\nSubject: Inner\r\n\r\nThe forwarded text.\r\n--X--\r\n"
)


def test_a_message_is_said_once_with_its_headers_and_attachments() -> None:
    parsed = read(MailParser(), MAIL)
    assert parsed.title == "Pump ☸"
    assert lines(parsed) == [
        ("paragraph", "The pump costs 40 €."),
        ("heading", "Inner"),
        ("paragraph", "The forwarded text."),
    ]
    assert parsed.metadata["from"] == '"A. Writer" <a@example.org>'
    assert parsed.metadata["date"] == "2026-01-05T10:00:00+01:00"
    assert [(item.name, item.data) for item in parsed.attachments] == [("list.csv", b"a,b\r\n1,2")]
    assert [(place.unit, place.label) for place in parsed.pages] == [
        ("part", "part 3: text/plain"), ("part", "part 6: text/plain"),
    ]  # fmt: skip


def test_html_alone_and_a_saved_page_are_read_as_pages() -> None:
    html = b"Content-Type: text/html; charset=utf-8\r\n\r\n<h1>Notice</h1><p>Caf\xc3\xa9 closed.</p>"
    assert lines(read(MailParser(), html)) == [("heading", "Notice"), ("paragraph", "Café closed.")]
    saved = (
        b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=X\r\n\r\n"
        b"--X\r\nContent-Type: text/html\r\n\r\n<p>The page.</p>\r\n"
        b"--X\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n--X--\r\n"
    )
    parsed = read(MailParser(), saved, "multipart/related")
    assert (parsed.text, parsed.attachments) == ("The page.", ())


@pytest.mark.parametrize(
    "kind",
    [
        b'multipart/encrypted; protocol="application/pgp-encrypted"; boundary=X',
        b"application/pkcs7-mime; smime-type=enveloped-data",
    ],
)
def test_an_encrypted_message_is_a_status(kind: bytes) -> None:
    parsed = read(MailParser(), b"Subject: s\r\nContent-Type: " + kind + b"\r\n\r\n--X\r\n\r\nVersion: 1\r\n--X--\r\n")
    assert parsed.status is ParseStatus.ENCRYPTED


def test_messages_within_messages_end() -> None:
    inner = b"Subject: s\r\n\r\ndeepest\r\n"
    for _ in range(40):
        inner = b"Subject: s\r\nContent-Type: message/rfc822\r\n\r\n" + inner
    assert read(MailParser(), inner).status in (ParseStatus.OK, ParseStatus.BLANK)


def test_an_outlook_message_and_its_attachment() -> None:
    parsed = read(OutlookParser(), msg("Pump", "It leaks.", {"list.csv": b"a,b"}), "application/vnd.ms-outlook")
    assert (parsed.title, parsed.text, parsed.metadata["from"]) == ("Pump", "It leaks.", "A. Writer")
    assert [(item.name, item.data) for item in parsed.attachments] == [("list.csv", b"a,b")]
    locked = read(OutlookParser(), msg("Pump", "", {"message.rpmsg": b"x"}), "application/vnd.ms-outlook")
    assert locked.status is ParseStatus.ENCRYPTED
    assert read(OutlookParser(), b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "x").status is ParseStatus.CORRUPT


@pytest.mark.parametrize(
    ("streams", "kind"),
    [
        ({"EncryptedPackage": b"x"}, ENCRYPTED),
        ({"Workbook": b"x"}, "application/vnd.ms-excel"),
        ({"WordDocument": b"x", **{f"s{n}": b"y" * 600 for n in range(20)}}, "application/msword"),
        ({"other": b"x"}, PLAIN),
    ],
)
def test_compound_files_are_told_apart(streams: dict[str, bytes], kind: str) -> None:
    assert sniff_ole(compound(streams)) == kind
    assert sniff_ole(compound(streams)[:520]) == PLAIN


def test_rich_text_with_code_pages_unicode_tables_and_footnotes() -> None:
    data = (
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}{\info{\title hidden}}"
        rb"\f0 Caf\'e9 \u8364? optional\-hyphen{\footnote \f0 The note.} goes on.\par"
        rb"{\f1 \'cf\'f0\'e8\'e2\'e5\'f2}\par \u-10179?\u-8704?\par"
        rb"\trowd one\cell two\cell\row}"
    )
    parsed = read(RtfParser(), data, "application/rtf")
    assert lines(parsed) == [
        ("paragraph", "Café € optionalhyphen goes on."),
        ("paragraph", "Привет"),
        ("paragraph", "😀"),
        ("table_row", "one | two"),
        ("paragraph", "The note."),
    ]
    assert "hidden" not in parsed.text


def test_open_document_text() -> None:
    parsed = read(
        OdtParser(),
        odt(
            "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
            '<text:h text:outline-level="2">Pumps</text:h>'
            "<text:p>Two<text:s text:c='2'/>blanks<text:note><text:note-citation>1</text:note-citation>"
            "<text:note-body><text:p>A note.</text:p></text:note-body></text:note> and more.</text:p>"
            "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
            "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
            "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
        ),
        ODT,
    )
    assert lines(parsed) == [
        ("heading", "Pumps"),
        ("paragraph", "Two  blanks and more."),
        ("paragraph", "A note."),
        ("list_item", "item"),
        ("table_row", "a | b"),
    ]
    assert parsed.blocks[0].level == 2
    assert (parsed.title, parsed.metadata["author"]) == ("From the properties", "A. Writer")
    locked = odt("<text:p>x</text:p>", manifest="<m><encryption-data/></m>")
    assert read(OdtParser(), locked, ODT).status is ParseStatus.ENCRYPTED


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    chapters = {"a.xhtml": "<h1>End</h1><p>Last words.</p>", "b.xhtml": "<h1>Start</h1><p>First words.</p>"}
    parsed = read(EpubParser(), epub(chapters, ["b.xhtml", "a.xhtml", "absent"]), "application/epub+zip")
    assert [line for _, line in lines(parsed)] == ["Start", "First words.", "End", "Last words."]
    assert [(place.unit, place.label) for place in parsed.pages] == [("item", "Start"), ("item", "End")]
    assert parsed.title == "A Book"
    drm = epub(chapters, ["a.xhtml"], encryption="<encryption><EncryptedData/></encryption>")
    assert read(EpubParser(), drm, "application/epub+zip").status is ParseStatus.ENCRYPTED
