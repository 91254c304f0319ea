from __future__ import annotations

import io
import zipfile

import pytest

from seamline.ingest.sniff import OOXML, SOURCE_CODE, UNKNOWN, sniff


def _zip(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("Content_Types", "[Content_Types].xml"), content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"%PDF-1.7 ...", "page.html", "application/pdf"),
        (b"junk before\n%PDF-1.4", "a", "application/pdf"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old.doc", "application/x-ole-storage"),
        (b"{\\rtf1 x}", "a.doc", "application/rtf"),
        (b"<!DOCTYPE html><p>x", "a.txt", "text/html"),
        (b"<!-- c --> <html>", "noname", "text/html"),
        ("<html>".encode("utf-16"), "a.htm", "text/html"),
        (b"<?xml version='1.0'?><r/>", "a.txt", "application/xml"),
        (b"# Title", "a.MD", "text/markdown"),
        (b"# comment", "a.py", SOURCE_CODE),
        (b"var x = '<html>'", "a.js", SOURCE_CODE),
        (b"a,b", "a.csv", "text/csv"),
        (b"plain", "README", "text/plain"),
        ("plain text".encode("utf-16-le"), "a.txt", "text/plain"),
        ("plain text".encode("utf-32-be"), "a.txt", "text/plain"),
        (bytes(range(256)) * 8, "a.txt", UNKNOWN),
        (b"\x89PNG\r\n\x1a\n", "a.txt", "image/png"),
        (b"From: a@example.org\nTo: b@example.org\nSubject: hi\nDate: today\n\nx", "mail", "text/plain"),
        (b"From: a@example.org\nSubject: hi\n\nx", "mail", "message/rfc822"),
        (b"PK\x03\x04 not really", "a.docx", "application/zip"),
    ],
)
def test_content_first_then_the_name(data: bytes, name: str, expected: str) -> None:
    assert sniff(data, name) == expected


def test_zip_based_formats_are_told_apart() -> None:
    assert sniff(_zip(Content_Types="x", word__document="x"), "a.zip") == f"{OOXML}.wordprocessingml.document"
    assert sniff(_zip(Content_Types="x", xl__workbook="x"), "a.doc") == f"{OOXML}.spreadsheetml.sheet"
    assert sniff(_zip(mimetype="application/epub+zip"), "a.txt") == "application/epub+zip"
    assert sniff(_zip(other="x"), "a.docx") == "application/zip"


def test_a_declared_text_type_decides_where_the_content_and_name_do_not() -> None:
    assert sniff(b"# Title", "page", "text/markdown") == "text/markdown"
    assert sniff(b"%PDF-1.7", "page", "text/markdown") == "application/pdf"
