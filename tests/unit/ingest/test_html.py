from __future__ import annotations

import pytest

from seamline.ingest.html import create, decode_html
from seamline.ports import Parsed, Parser

PAGE = """<!doctype html><html lang="de"><head><title> A &amp; B </title><meta name="author" content="Team">
<style>p{}</style></head><body>
<nav><a href="/">Start</a><a href="/x">Navigation entry</a></nav>
<main><h1>Main <em>title</em></h1>
<p>First paragraph &mdash; with   spaces<br>and a second line of ordinary length, as pages have them.</p>
<p style="display: none">hidden by style</p><p hidden>hidden by attribute</p>
<div aria-hidden="true">hidden from readers</div><script>var secret = 1;</script>
<h2>Table</h2>
<table><tr><th>Key</th><th>Value</th></tr><tr><td>retry</td><td>3 <b>times</b></td></tr></table>
<ul><li>one item</li><li>another item</li></ul>
<pre>  code
    indented</pre>
<blockquote>Quoted words of somebody</blockquote>
</main><footer>Imprint and copyright</footer></body></html>"""


def parse(source: str | bytes) -> Parsed:
    data = source.encode() if isinstance(source, str) else source
    return create({}).parse(data, media_type="text/html", filename="a.html")


def shown(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind, parsed.text[block.char_start : block.char_end]) for block in parsed.blocks]


def test_it_is_a_parser() -> None:
    assert isinstance(create({}), Parser)


def test_structure_survives_and_blocks_are_the_text() -> None:
    parsed = parse(PAGE)
    assert shown(parsed) == [
        ("heading", "Main title"),
        ("paragraph", "First paragraph — with spaces\nand a second line of ordinary length, as pages have them."),
        ("heading", "Table"),
        ("table_row", "Key | Value"),
        ("table_row", "retry | 3 times"),
        ("list_item", "one item"),
        ("list_item", "another item"),
        ("code", "  code\n    indented"),
        ("quote", "Quoted words of somebody"),
    ]
    assert (parsed.title, parsed.language, parsed.metadata) == ("A & B", "de", {"author": "Team"})


@pytest.mark.parametrize("unseen", ["hidden", "secret", "Navigation entry", "Imprint"])
def test_what_a_reader_does_not_see_is_not_there(unseen: str) -> None:
    assert unseen not in parse(PAGE).text


def test_empty_cells_keep_the_columns_apart() -> None:
    table = "<table><tr><td></td><td>b</td></tr><tr><td>a</td><td></td><td>c</td></tr><tr><td></td></tr></table>"
    assert shown(parse(table)) == [("table_row", "| b"), ("table_row", "a |  | c")]


def test_links_outside_the_main_part_are_boilerplate_and_short_lists_are_not() -> None:
    links = "".join(f"<li><a href='/{n}'>Related page number {n}</a></li>" for n in range(5))
    prose = "<p>" + "A paragraph of the article that is long enough to be content. " * 5 + "</p>"
    listed = "<ul><li>one</li><li>two</li></ul>"
    page = f"<body><div><ul>{links}</ul></div><div><h1>Title</h1>{prose}{listed}{prose}</div></body>"
    text = parse(page).text
    assert "Related page" not in text
    assert "one\ntwo" in text
    assert "Related page" in parse(page.replace("<body>", "<body><main>")).text


def test_tables_that_lay_a_page_out_are_no_rows() -> None:
    nested = (
        "<table><tr><td><table><tr><td>a</td><td>b</td></tr></table></td><td><p>beside the table</p></td></tr></table>"
    )
    assert shown(parse(nested)) == [("table_row", "a | b"), ("paragraph", "beside the table")]


def test_a_frame_with_its_source_inside_is_read() -> None:
    parsed = parse(
        "<p>outer words</p><iframe srcdoc='&lt;h2&gt;Inner&lt;/h2&gt;&lt;p&gt;framed words&lt;/p&gt;'></iframe>"
    )
    assert [text for _, text in shown(parsed)] == ["outer words", "Inner", "framed words"]


def test_character_references_cannot_bring_controls_back() -> None:
    assert parse("<p>a&#65279;b&#1;c&#xD800;</p>").text == "abc\ufffd"


def test_nesting_deeper_than_the_stack_is_read() -> None:
    assert parse("<div>" * 5000 + "deep" + "</div>" * 5000).text == "deep"


def test_a_declared_encoding_is_used_where_the_bytes_agree() -> None:
    russian = "Когда соединение с базой данных прерывается, система повторяет попытку."
    assert decode_html(f'<meta charset="windows-1251"><p>{russian}'.encode("cp1251"))[0].endswith(russian)


@pytest.mark.parametrize("lie", ["iso-8859-1", "windows-1252", "utf-16", "no-such-charset", "hex", "gb2312"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1256"])
def test_a_wrong_declaration_is_overridden(lie: str, encoding: str) -> None:
    arabic = "عندما ينقطع الاتصال بقاعدة البيانات يحاول النظام مرة أخرى ثم يسجل الخطأ"
    assert arabic in decode_html(f'<meta charset="{lie}"><p>{arabic}</p>'.encode(encoding))[0]
