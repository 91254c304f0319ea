from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from seamline import registry
from seamline.fingerprint import sha256_bytes, sha256_text
from seamline.ingest import docx
from seamline.ingest.missing import missing
from seamline.ingest.reader import EntryReader
from seamline.kit import load_documents
from seamline.types import ParseStatus
from support.ingest import PARSING, entry, pdf
from support.made_files import compound


@pytest.fixture(scope="module")
def reader() -> Iterator[EntryReader]:
    with EntryReader(PARSING) as opened:
        yield opened


def test_rule_26_a_document_says_where_its_text_came_from(reader: EntryReader) -> None:
    data = "# Wiederholung\n\nDas System versucht es dreimal, bevor es aufgibt.\n".encode("cp1252")
    document = reader.read(entry("guide/retry.md"), data)
    assert document.title == "Wiederholung"
    assert document.text_sha256 == sha256_text(document.text)
    assert document.provenance.content_sha256 == sha256_bytes(data)
    assert document.provenance.parser == "markdown"
    assert "pyromark" in document.provenance.parser_version
    assert document.provenance.decoder == "utf-8"
    assert (document.language, document.language_declared) == ("de", False)
    assert document.language_confidence is not None


def test_the_recipe_names_every_parser_and_its_version(reader: EntryReader) -> None:
    named = {name for kind, name in registry.BUILT_INS if kind == "parsers"}
    assert set(reader.recipe) == named | {"language"}
    assert all(reader.recipe.values())


def test_a_declared_language_wins(reader: EntryReader) -> None:
    text = b"The system retries three times before it gives up."
    own = reader.read(entry("a.md"), b"---\nlang: fr\n---\n" + text)
    assert (own.language, own.language_declared, own.language_confidence) == ("fr", True, None)
    given = reader.read(entry("a.txt", metadata={"language": "nl", "team": "ops"}), text)
    assert (given.language, given.language_declared) == ("nl", True)
    assert given.metadata["team"] == "ops"


def test_a_file_name_is_no_title(reader: EntryReader) -> None:
    assert reader.read(entry("notes.txt"), b"words").title is None


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("empty.txt", b"", ParseStatus.BLANK),
        ("spaces.md", b" \n\t\n", ParseStatus.BLANK),
        ("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 9, ParseStatus.UNSUPPORTED),
        ("photo.jpg", b"\xff\xd8\xff\xe0", ParseStatus.UNSUPPORTED),
        ("list.doc", compound({"WordDocument": b"x"}), ParseStatus.UNSUPPORTED),
        ("broken.pdf", b"%PDF-1.7", ParseStatus.CORRUPT),
        ("lies.txt", pdf(["inside"]), ParseStatus.OK),
        ("icons.txt", "\ue000\ue001 ".encode() * 50, ParseStatus.GARBLED),
    ],
)
def test_bad_content_is_a_status_with_its_reason(
    reader: EntryReader, name: str, data: bytes, status: ParseStatus
) -> None:
    document = reader.read(entry(name), data)
    assert document.status is status
    assert (document.status_reason is None) is (status is ParseStatus.OK)


def test_load_documents_returns_all_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# B\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("alpha", encoding="utf-8")
    documents = load_documents(tmp_path)
    assert [(document.id, document.text) for document in documents] == [("a.txt", "alpha"), ("b.md", "# B\n")]


def test_rule_25_the_ingest_kit_loads_no_heavy_library() -> None:
    heavy = ("numpy", "pypdfium2", "resiliparse", "pyromark", "onnxruntime", "charset_normalizer")
    script = f"import sys, seamline.kit;print([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_difficult_files_hold_their_manifest() -> None:
    """Every file of ``SEAMLINE_DOCS``, where it is set: the figures of scripts/ingest-check."""
    script = Path(__file__).parents[3] / "scripts" / "ingest-check"
    folder = os.environ.get("SEAMLINE_DOCS")
    if folder is None:
        usage = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, check=True)
        assert "manifest.jsonl" in usage.stdout
        return
    done = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ingest_check_finds_faults(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("some words", encoding="utf-8")
    row = {"path": "a.txt", "format": "txt", "expected": ["other words"], "not_expected": "some"}
    (tmp_path / "manifest.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    script = Path(__file__).parents[3] / "scripts" / "ingest-check"
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "missing 'other words'" in done.stdout
    assert "found 'some'" in done.stdout


def test_a_format_whose_library_is_not_installed_names_the_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(docx, "version", absent)
    with pytest.raises(PackageNotFoundError) as caught:
        docx.create({})
    parser = missing(docx.create, str(caught.value.name))  # type: ignore[arg-type]
    assert parser.media_types == docx.DocxParser.media_types
    parsed = parser.parse(b"", media_type="x", filename="a.docx")
    assert parsed.status is ParseStatus.UNSUPPORTED
    assert parsed.reason == 'docx needs the package lxml: pip install "seamline[formats]"'
