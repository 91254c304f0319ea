"""OpenDocument texts and presentations: paragraphs in order, deletions left out, notes where they are called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING

from seamline.ingest.archives import Archive, ArchiveError, EncryptedArchiveError
from seamline.ingest.layout import Layout
from seamline.ingest.office import OfficeParser
from seamline.ingest.tables import SEPARATOR
from seamline.ingest.xml_tree import XmlError, attribute, local, named, parse, text_of
from seamline.types import MetadataValue

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_SILENT = frozenset({"tracked-changes", "annotation-end", "sequence-decls", "forms", "variable-decls", "note-citation"})
_PROPERTIES = {
    "creator": "author", "initial-creator": "author", "subject": "subject", "keyword": "keywords", "date": "modified"
}  # fmt: skip
_MARKS = {"tab": "\t", "line-break": "\n"}
_NESTED = frozenset({"note", "annotation", "text-box", "table"})
_TEXT = "application/vnd.oasis.opendocument.text"


class OdtParser(OfficeParser):
    """Reads ``.odt`` and ``.odp``; a page of a presentation is a slide."""

    name = "odt"
    media_types = frozenset({_TEXT, f"{_TEXT}-template", "application/vnd.oasis.opendocument.presentation"})

    def __init__(self) -> None:
        self.version = f"1+lxml-{version('lxml')}"

    def _lay_out(self, archive: Archive, layout: Layout) -> tuple[str | None, Mapping[str, MetadataValue]]:
        if b"encryption-data" in (archive.get("META-INF/manifest.xml") or b""):
            raise EncryptedArchiveError("its parts are encrypted")
        try:
            root = parse(archive.read("content.xml"), recover=True)
        except XmlError as error:
            raise ArchiveError(f"content.xml: {error}") from error
        for body in named(root, "body"):
            _blocks(body, layout, None)
        return _properties(archive)


def _properties(archive: Archive) -> tuple[str | None, Mapping[str, MetadataValue]]:
    title, found = None, {}
    try:
        meta = parse(archive.read("meta.xml"), recover=True)
    except (ArchiveError, XmlError):
        return None, {}
    for item in named(meta, "title", *_PROPERTIES):
        said = " ".join(text_of(item).split())
        if said and local(item) == "title":
            title = said
        elif said:
            found[_PROPERTIES[local(item)]] = said
    return title, found


def _blocks(element: Element, layout: Layout, list_: int | None) -> None:
    for item in element:
        name = local(item)
        if name in ("p", "h"):
            _paragraph(item, layout, list_)
        elif name == "list":
            _blocks(item, layout, layout.group() if list_ is None else list_)
        elif name == "table":
            _table(item, layout)
        elif name == "page":
            with layout.place("slide", attribute(item, "name")):
                _blocks(item, layout, None)
        elif name and name not in _SILENT:
            _blocks(item, layout, list_)


def _paragraph(paragraph: Element, layout: Layout, list_: int | None) -> None:
    nested: list[Element] = []
    text = _inline(paragraph, nested)
    if local(paragraph) == "h":
        level = attribute(paragraph, "outline-level") or "1"
        layout.add("heading", " ".join(text.split()), level=max(1, int(level)) if level.isdigit() else 1)
    elif list_ is not None:
        layout.add("list_item", text, group=list_)
    else:
        layout.add("paragraph", text)
    for item in nested:
        if local(item) == "table":
            _table(item, layout)
        elif local(item) == "annotation":
            layout.add("quote", " ".join(text_of(item).split()))
        else:
            _blocks(item, layout, None)


def _inline(element: Element, nested: list[Element]) -> str:
    parts = [element.text or ""]
    for item in element:
        name = local(item)
        if name == "s":
            count = attribute(item, "c") or "1"
            parts.append(" " * min(int(count), 1000) if count.isdigit() else " ")
        elif name in _MARKS:
            parts.append(_MARKS[name])
        elif name in _NESTED:
            nested.append(item)
        elif name and name not in _SILENT:
            parts.append(_inline(item, nested))
        parts.append(item.tail or "")
    # White space in the source stands for one blank; what is wider has elements of its own.
    return "".join(parts)


def _table(table: Element, layout: Layout) -> None:
    group = layout.group()
    for row in named(table, "table-row"):
        cells = [" ".join(" ".join(_cell(cell)).split()) for cell in row if local(cell) == "table-cell"]
        if any(cells):
            layout.add("table_row", SEPARATOR.join(cells), group=group)


def _cell(cell: Element) -> list[str]:
    return [_inline(paragraph, []) for paragraph in named(cell, "p", "h")]


def create(settings: Mapping[str, object]) -> OdtParser:  # noqa: ARG001
    """The OpenDocument parser; it has no settings."""
    return OdtParser()
