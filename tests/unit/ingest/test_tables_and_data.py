"""Tables and data files: rows under their header, values under their path."""

from __future__ import annotations

import datetime
import json

import pytest

from seamline.ingest.delimited import DelimitedParser
from seamline.ingest.notebook import NotebookParser
from seamline.ingest.spreadsheet import SpreadsheetParser
from seamline.ingest.structured import StructuredParser
from seamline.ingest.tables import shown
from seamline.ingest.xml_document import XmlParser
from seamline.ports import Parsed, Parser
from seamline.types import ParseStatus
from support.made_files import xlsx

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def read(parser: Parser, data: bytes | str, media_type: str) -> Parsed:
    return parser.parse(data if isinstance(data, bytes) else data.encode(), media_type=media_type, filename="f")


def lines(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind, parsed.text[block.char_start : block.char_end]) for block in parsed.blocks]


def test_sheets_are_headings_and_the_header_is_repeated_in_each_group_of_rows() -> None:
    rows: list[list[str | float]] = [["Pump", "Litres"]]
    for n in range(1, 31):
        rows.append([f"P-{n} of the harbour's northern basin", n * 10])  # noqa: PERF401 - types
    parsed = read(SpreadsheetParser(), xlsx({"Pumps": rows, "Empty": [], "Single": [["alone"]]}), XLSX)
    assert lines(parsed)[0] == ("heading", "Pumps")
    assert parsed.text.count("Pump | Litres") == len([p for p in parsed.pages if str(p.label).startswith("Pumps")]) > 2
    first, second = parsed.pages[:2]
    assert first.unit == "rows"
    assert str(first.label).startswith("Pumps rows 1-")
    last = int(str(first.label).rpartition("-")[2])
    assert str(second.label).startswith(f"Pumps rows {last + 1}-")
    assert f"P-{last} of" in parsed.text[second.char_start : second.char_end]
    assert "P-1 of the harbour's northern basin | 10\n" in parsed.text
    assert parsed.pages[-1].label == "Single row 1"


def test_values_are_written_as_a_person_would() -> None:
    values = [
        3.0,
        2.5,
        True,
        None,
        "a\nb",
        1e300,
        datetime.datetime(2026, 1, 2),
        datetime.date(2026, 1, 2),
        123456789012346.0,
    ]
    assert [shown(value) for value in values] == [
        "3", "2.5", "TRUE", "", "a b", "1e+300", "2026-01-02", "2026-01-02", "123456789012346",
    ]  # fmt: skip


def test_a_damaged_workbook_is_a_status() -> None:
    data = xlsx({"S": [["a", "b"]]})
    assert read(SpreadsheetParser(), data[:80], XLSX).status is ParseStatus.CORRUPT


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [("a,b\n1,2\n3,4\n", ","), ("a;b\n1,5;2\n3,5;4\n", ";"), ("a\tb\n1\t2\n", "\t"), ("a|b\n1|2\n", "|")],
)
def test_the_delimiter_is_told_from_the_text(text: str, delimiter: str) -> None:
    parsed = read(DelimitedParser(), text, "text/csv")
    assert parsed.text.startswith("a | b\n")
    assert parsed.text.count("\n") == text.count("\n") - 1
    assert delimiter == "|" or delimiter not in parsed.text.replace("1,5", "").replace("3,5", "")


def test_quoted_cells_and_row_numbers() -> None:
    parsed = read(DelimitedParser(), 'name,said\nAda,"one, two\nthree"\nBob,x\n', "text/csv")
    assert lines(parsed) == [
        ("table_row", "name | said"),
        ("table_row", "Ada | one, two three"),
        ("table_row", "Bob | x"),
    ]
    assert parsed.pages[0].label == "rows 1-3"


def test_a_value_stands_under_its_path() -> None:
    data = {
        "name": "pump",
        "limits": {"flow": 40, "tags": ["a", "b"]},
        "parts": [{"id": 1, "open": True}, {"id": None}],
    }
    parsed = read(StructuredParser(), json.dumps(data), "application/json")
    assert lines(parsed) == [
        ("list_item", "name: pump"),
        ("heading", "limits"),
        ("list_item", "flow: 40"),
        ("list_item", "tags: a, b"),
        ("heading", "parts"),
        ("heading", "[0]"),
        ("list_item", "id: 1"),
        ("list_item", "open: true"),
        ("heading", "[1]"),
        ("list_item", "id: null"),
    ]
    assert [block.level for block in parsed.blocks if block.level] == [1, 1, 2, 2]


def test_broken_json_is_plain_text_and_says_so() -> None:
    parsed = read(StructuredParser(), '{"a": "words that count', "application/json")
    assert parsed.status is ParseStatus.TRUNCATED
    assert "words that count" in parsed.text
    assert "plain text" in str(parsed.reason)


def test_json_lines_and_yaml_documents_are_numbered() -> None:
    for text, media_type in (('{"a": 1}\n{"a": 2}\n', "application/jsonl"), ("a: 1\n---\na: 2\n", "application/yaml")):
        parsed = read(StructuredParser(), text, media_type)
        assert [line for _, line in lines(parsed)] == ["[0]", "a: 1", "[1]", "a: 2"]


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ("[" * 100_000 + "]" * 100_000, "application/json"),
        ('{"a":' * 50_000 + "1" + "}" * 50_000, "application/json"),
        (
            "a: &a [x,x]\n"
            + "\n".join(
                f"b{n}: &b{n} [*{'a' if n == 0 else f'b{n - 1}'},*{'a' if n == 0 else f'b{n - 1}'}]" for n in range(12)
            ),
            "application/yaml",
        ),
        ("!!python/object/apply:os.system ['true']", "application/yaml"),
    ],
)
def test_hostile_data_ends(text: str, media_type: str) -> None:
    parsed = read(StructuredParser(), text, media_type)
    assert parsed.status in (ParseStatus.OK, ParseStatus.TRUNCATED, ParseStatus.CORRUPT)


def test_xml_by_element_and_without_entities() -> None:
    parsed = read(
        XmlParser(),
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "expanded">]>'
        '<r><pump id="P-40"><flow unit="l">40</flow><note>See <b>the</b> manual. &x; &y;</note></pump><empty/></r>',
        "application/xml",
    )
    assert lines(parsed) == [
        ("heading", "pump"),
        ("list_item", "id: P-40"),
        ("list_item", "flow: unit: l, 40"),
        ("list_item", "note: See the manual."),
    ]
    broken = read(XmlParser(), "<r><a>text</a><b>cut", "application/xml")
    assert (broken.status, "a: text" in broken.text) == (ParseStatus.TRUNCATED, True)


def test_a_notebook_is_read_cell_by_cell() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Pumps\n", "\n", "How they work."]},
        {
            "cell_type": "code",
            "source": "print(40)",
            "outputs": [{"text": ["40\n"]}, {"data": {"image/png": "aGVsbG8="}}],
        },
        {"cell_type": "code", "source": "1/0", "outputs": [{"ename": "ZeroDivisionError", "evalue": "by zero"}]},
    ]
    parsed = read(NotebookParser(), json.dumps({"nbformat": 4, "cells": cells}), "application/x-ipynb+json")
    assert lines(parsed) == [
        ("heading", "# Pumps"),
        ("paragraph", "How they work."),
        ("code", "print(40)"),
        ("quote", "40"),
        ("code", "1/0"),
        ("quote", "ZeroDivisionError: by zero"),
    ]
    assert [(place.unit, place.label) for place in parsed.pages] == [("cell", "1"), ("cell", "2"), ("cell", "3")]
    for wrong in ("{}", "[1]", "no json", '{"nbformat": 4, "cells": 5}'):
        assert read(NotebookParser(), wrong, "x").status is ParseStatus.CORRUPT
