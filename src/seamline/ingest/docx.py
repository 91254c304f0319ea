"""Word documents: every part that carries text, in reading order, tracked changes accepted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING

from seamline.ingest.archives import MOST_DEPTH, Archive
from seamline.ingest.blocks import paragraphs
from seamline.ingest.docx_text import NESTED, WITHDRAWN, Styles, chosen_branch, inline
from seamline.ingest.html import decode_html
from seamline.ingest.html_walk import read_page
from seamline.ingest.layout import Layout
from seamline.ingest.office import OfficeParser
from seamline.ingest.package import Package
from seamline.ingest.xml_tree import attribute, local, named
from seamline.types import MetadataValue

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_WRAPPERS = frozenset(
    {"sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo", "body", "hdr", "ftr", "txbxContent"}
)
_NOTES = ("footnotes", "endnotes")


class _Reader:
    """Lays one package out; packages inside it are read by readers of their own, to a depth."""

    def __init__(self, package: Package, layout: Layout, depth: int) -> None:
        self._package, self._layout, self._depth = package, layout, depth
        self._part = package.main()
        self._chunks = {relation.id: relation.target for relation in package.relations(self._part)}
        self._styles = Styles(next((root for _, root in package.related(self._part, "styles")), None))
        self.title: str | None = None

    def run(self) -> None:
        """Headers once, the body, notes, comments, footers once."""
        root = self._package.tree(self._part)
        self._margins("header")
        if root is not None:
            for body in named(root, "body"):
                self._blocks(body)
        for _, notes in self._package.related(self._part, *_NOTES):
            for note in notes:
                if attribute(note, "type") is None:  # the others are separators
                    self._blocks(note)
        for _, comments in self._package.related(self._part, "comments"):
            for comment in named(comments, "comment"):
                said = " ".join(self._text(comment).split())
                self._layout.add("quote", f"{attribute(comment, 'author') or 'comment'}: {said}" if said else "")
        self._margins("footer")

    def _margins(self, kind: str) -> None:
        """Headers or footers: each text once, page numbers alone not at all."""
        shown: set[str] = set()
        for _, root in self._package.related(self._part, kind):
            text = " ".join(self._text(root).split())
            if text not in shown and not text.isdigit():
                shown.add(text)
                self._blocks(root)

    def _blocks(self, element: Element) -> None:
        for item in element:
            name = local(item)
            if name == "p":
                self._paragraph(item)
            elif name == "tbl":
                self._table(item)
            elif name == "altChunk":
                self._alternative(attribute(item, "id") or "")
            elif name == "AlternateContent":
                chosen = chosen_branch(item)
                if chosen is not None:
                    self._blocks(chosen)
            elif name in _WRAPPERS:
                self._blocks(item)

    def _paragraph(self, paragraph: Element) -> None:
        nested: list[Element] = []
        text = inline(paragraph, nested)
        level, list_ = self._styles.level(paragraph), self._styles.lists(paragraph)
        if self.title is None and self._styles.title(paragraph):
            self.title = " ".join(text.split()) or None
        if level is not None:
            self._layout.add("heading", " ".join(text.split()), level=level)
        elif list_ is not None:
            self._layout.add("list_item", text, group=self._group(list_))
        else:
            self._layout.add("paragraph", text)
        for item in nested:
            if local(item) == "tbl":
                self._table(item)
            else:
                self._blocks(item)

    def _group(self, list_: str) -> int:
        last = self._layout.blocks[-1] if self._layout.blocks else None
        if last is None or last.kind != "list_item" or self._list != list_:
            self._list, self._list_group = list_, self._layout.group()
        return self._list_group

    _list: str | None = None
    _list_group = 0

    def _table(self, table: Element) -> None:
        """Rows on lines of their own. A row of one cell only lays the page out: what it holds is body text."""
        group = self._layout.group()
        for row in _rows(table):
            cells = [cell for cell in _through(row) if local(cell) == "tc"]
            if len(cells) == 1:
                self._blocks(cells[0])
                continue
            texts = [" ".join(self._text(cell).split()) for cell in cells]
            if any(texts):
                self._layout.add("table_row", " | ".join(texts), group=group)

    def _text(self, element: Element) -> str:
        """All text inside an element, its paragraphs apart, as for one cell of a table."""
        parts: list[str] = []
        for item in _through(element):
            if local(item) == "p":
                nested: list[Element] = []
                parts.append(inline(item, nested))
                parts.extend(self._text(inner) for inner in nested)
            elif local(item) in ("tbl", "tr", "tc") or local(item) in NESTED:
                parts.append(self._text(item))
        return "\n".join(parts)

    def _alternative(self, id_: str) -> None:
        """Content in another format that the document includes as it is."""
        data = self._package.archive.get(self._chunks.get(id_, ""))
        if data is None or self._depth >= MOST_DEPTH:
            return
        if data.startswith(b"PK"):
            _Reader(Package(Archive(data)), self._layout, self._depth + 1).run()
            return
        decoded, _ = decode_html(data)
        if "<" not in decoded[:1000]:
            for block in paragraphs(decoded):
                self._layout.add("paragraph", decoded[block.char_start : block.char_end])
            return
        page = read_page(decoded)
        for block in page.blocks:
            self._layout.add(block.kind, page.text[block.char_start : block.char_end], level=block.level)


def _through(element: Element) -> Iterator[Element]:
    """An element's children, those of wrappers in their stead, withdrawn ones left out."""
    for item in element:
        name = local(item)
        if name == "AlternateContent":
            chosen = chosen_branch(item)
            if chosen is not None:
                yield from _through(chosen)
        elif name in _WRAPPERS:
            yield from _through(item)
        elif name not in WITHDRAWN:
            yield item


def _rows(table: Element) -> Iterator[Element]:
    for row in _through(table):
        if local(row) == "tr" and not any(local(mark) == "del" for pr in row if local(pr) == "trPr" for mark in pr):
            yield row


class DocxParser(OfficeParser):
    """Reads ``.docx`` and its template and macro siblings, strict or transitional."""

    name = "docx"
    media_types = frozenset({"application/vnd.openxmlformats-officedocument.wordprocessingml.document"})

    def __init__(self) -> None:
        self.version = f"1+lxml-{version('lxml')}"

    def _lay_out(self, archive: Archive, layout: Layout) -> tuple[str | None, Mapping[str, MetadataValue]]:
        package = Package(archive)
        title, metadata = package.properties()
        reader = _Reader(package, layout, 0)
        reader.run()
        return reader.title or title, metadata


def create(settings: Mapping[str, object]) -> DocxParser:  # noqa: ARG001
    """The Word parser; it has no settings."""
    return DocxParser()
