"""One folder of every format through the command line: where citations point, attachments, hostile neighbours."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.cli import Cli
from support.ingest import pdf
from support.made_files import docx, epub, msg, odt, paragraph, pptx, shape, xlsx, zipped


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path / "home", capsys)


def mail(*attachments: tuple[str, bytes], body: str = "The zirconium pump leaks at night.", mark: str = "X") -> bytes:
    parts = [f"--{mark}\r\nContent-Type: text/plain\r\n\r\n{body}\r\n".encode()]
    for name, data in attachments:
        kind = f'Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="{name}"'
        parts.append(f"--{mark}\r\n{kind}\r\n\r\n".encode() + data + b"\r\n")
    head = f"From: a@example.org\r\nSubject: Leak\r\nContent-Type: multipart/mixed; boundary={mark}\r\n\r\n"
    return head.encode() + b"".join(parts) + f"--{mark}--\r\n".encode()


ROWS: list[list[str | float]] = [["Item", "Litres"], ["vanadium valve", 40], ["other", 1]]
FILES: dict[str, tuple[bytes, str, dict[str, object]]] = {
    "a.pdf": (
        pdf(["Cover.", "The cobalt crane lifts ninety tons."], labels="0<</S/r>> 1<</S/D/St 7>>"),
        "cobalt crane",
        {"page": {"index": 0, "label": "i", "last_index": 1, "last_label": "7"}},
    ),
    "b.docx": (
        docx(paragraph("Harbour", "berschrift1") + paragraph("Cranes", "Eigene") + paragraph("The nickel net is torn.")),
        "nickel net",
        {"heading_path": ["Harbour", "Cranes"]},
    ),
    "c.html": (
        b"<html><body><main><h1>Harbour</h1><h2>Boats</h2><p>The copper canoe may not leave after dark.</p></main></body></html>",
        "copper canoe",
        {"heading_path": ["Harbour", "Boats"]},
    ),
    "d.md": (b"# Harbour\n\n## Nets\n\nThe iron ice breaks in March.\n", "iron ice", {"heading_path": ["Harbour", "Nets"]}),
    "e.xlsx": (xlsx({"Stock": ROWS}), "vanadium valve", {"unit": "rows", "label": "Stock rows 1-3"}),
    "f.pptx": (pptx([shape("One", "title") + shape("The first slide says little, but it says it in a whole sentence."), shape("Two", "title") + shape("The tungsten tower is closed from dusk to dawn, and on all holidays.")]), "tungsten tower", {"unit": "slide", "index": 1}),
    "g.eml": (mail(), "zirconium pump", {"unit": "part", "label": "part 2: text/plain"}),
    "h.epub": (
        epub({"a.xhtml": "<h1>Start</h1><p>The first chapter says little, but it says it in one whole sentence.</p>", "b.xhtml": "<h1>Tides</h1><p>The helium tide rises twice a day, and once more when the moon is full.</p>"}, ["a.xhtml", "b.xhtml"]),
        "helium tide",
        {"unit": "item", "label": "Tides"},
    ),
    "i.odt": (odt('<text:h text:outline-level="1">Ropes</text:h><text:p>The lithium line holds.</text:p>'), "lithium line", {"heading_path": ["Ropes"]}),
    "j.msg": (msg("Keys", "The bismuth key is lost."), "bismuth key", {"unit": "part"}),
    "k.json": (b'{"harbour": {"gate": "The argon gate opens at six."}}', "argon gate", {"heading_path": ["harbour"]}),
    "l.ipynb": (
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x"}, {"cell_type": "markdown", "source": "The neon net."}]}',
        "neon net",
        {"unit": "cell", "label": "1", "last_label": "2"},
    ),
    "m.csv": (b"item,litres\nradium rope,4\n", "radium rope", {"unit": "rows", "label": "rows 1-2"}),
    "n.rtf": (rb"{\rtf1\ansi The caf\'e9 of xenon.\par}", "xenon", {}),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    for name, (data, _, _) in FILES.items():
        (made / name).write_bytes(data)
    return made


def test_every_format_is_found_and_says_where(cli: Cli, folder: Path) -> None:
    report = cli("index", folder, "--json").json()
    assert (sorted(report["added"]), report["failed"]) == (sorted(FILES), [])
    for name, (_, question, place) in FILES.items():
        first = cli("search", question, "--mode", "keyword", "--json").json()["passages"][0]
        assert first["document_id"] == name, question
        shown = {**first, **(first["page"] or {}), "page": first["page"]}
        assert {key: shown.get(key) for key in place} == place, name


def test_a_span_that_straddles_pages_names_both(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(pdf(["The crane lifts", "ninety tons."], labels="0<</S/r>>"))
    assert cli("index", folder).code == 0
    page = cli("search", "crane", "--json").json()["passages"][0]["page"]
    assert page == {"index": 0, "label": "i", "last_index": 1, "last_label": "ii"}


def test_attachments_come_change_and_go_with_their_message(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    message = folder / "m.eml"
    inner = mail(("deep.txt", b"The deepest osmium orchid."), body="inner", mark="Y")
    message.write_bytes(
        mail(("list.csv", b"a,b\r\nruthenium,1"), ("logo.png", b"\x89PNG\r\n\x1a\n"), ("in.eml", inner))
    )
    first = cli("index", folder, "--readable-by", "anna", "--json").json()
    assert sorted(first["added"]) == ["m.eml", "m.eml!/in.eml", "m.eml!/in.eml!/deep.txt", "m.eml!/list.csv"]
    assert first["failed"] == []  # a picture in a message is no failure
    assert (
        cli("search", "osmium orchid", "--as", "anna", "--json")
        .json()["passages"][0]["document_id"]
        .endswith("deep.txt")
    )
    assert cli("search", "osmium orchid", "--as", "bob", "--json").json()["passages"] == []
    again = cli("index", folder, "--json").json()
    assert (again["skipped"], again["removed"], again["embedded"]) == (["m.eml"], [], 0)
    # The owner's change of access reaches what is inside.
    assert cli("access", "set", "m.eml", "--readable-by", "bob").code == 0
    assert cli("search", "osmium orchid", "--as", "bob", "--json").json()["passages"]
    assert cli("search", "osmium orchid", "--as", "anna", "--json").json()["passages"] == []
    message.write_bytes(mail(("list.csv", b"a,b\r\nrhodium,1")))
    changed = cli("index", folder, "--json").json()
    assert sorted(changed["removed"]) == ["m.eml!/in.eml", "m.eml!/in.eml!/deep.txt"]
    assert sorted(changed["replaced"]) == ["m.eml", "m.eml!/list.csv"]
    assert cli("search", "ruthenium", "--mode", "keyword", "--json").json()["passages"] == []
    message.unlink()
    assert sorted(cli("index", folder, "--json").json()["removed"]) == ["m.eml", "m.eml!/list.csv"]
    assert cli("status", "--json").json()["documents"] == 0


def test_hostile_neighbours_are_reported_and_the_rest_is_indexed(cli: Cli, folder: Path) -> None:
    bomb: dict[str, str | bytes] = {"[Content_Types].xml": "x", "word/document.xml": bytes(100 * 1024 * 1024)}
    hostile = {
        "bomb.docx": zipped(bomb),
        "traversal.docx": zipped(
            {"word/../../../etc/passwd": "x", "[Content_Types].xml": "x", "word/document.xml": "x"}
        ),
        "xxe.xml": b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>',
        "cut.xlsx": FILES["e.xlsx"][0][:200],
        "locked.eml": b"Content-Type: multipart/encrypted; boundary=X\r\n\r\n--X\r\n\r\nx\r\n--X--\r\n",
    }
    for name, data in hostile.items():
        (folder / name).write_bytes(data)
    ran = cli("index", folder, "--json")
    report = ran.json()
    assert ran.code == 1
    assert sorted(report["added"]) == sorted(FILES)
    reasons = {failure["document_id"]: failure["reason"] for failure in report["failed"]}
    assert reasons.keys() == hostile.keys()
    assert "expands" in reasons["bomb.docx"]
    assert "leaves the archive" in reasons["traversal.docx"]
    assert reasons["xxe.xml"].startswith("blank")
    assert reasons["locked.eml"].startswith("encrypted")
    assert "root:" not in str(cli("search", "root", "--mode", "keyword", "--json").json())
