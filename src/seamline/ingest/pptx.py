"""Presentations: each slide's title, shapes, tables, charts and diagrams, then its notes and comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING

from seamline.ingest.archives import Archive
from seamline.ingest.docx_text import chosen_branch
from seamline.ingest.layout import Layout
from seamline.ingest.office import OfficeParser
from seamline.ingest.package import Package, Relation
from seamline.ingest.xml_tree import attribute, child, local, named, text_of
from seamline.types import BlockKind, MetadataValue

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})
"""Placeholders for dates, footers, numbers and the picture of the slide: no slide's own text."""


class PptxParser(OfficeParser):
    """Reads ``.pptx`` and its siblings; a place of its text is a slide."""

    name = "pptx"
    media_types = frozenset(
        {
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        }
    )

    def __init__(self) -> None:
        self.version = f"1+lxml-{version('lxml')}"

    def _lay_out(self, archive: Archive, layout: Layout) -> tuple[str | None, Mapping[str, MetadataValue]]:
        package = Package(archive)
        title, metadata = package.properties()
        main = package.main()
        targets = {relation.id: relation for relation in package.relations(main) if relation.kind == "slide"}
        root = package.tree(main)
        order = [attribute(item, "id") for item in named(root, "sldId")] if root is not None else []
        for slide in _ordered(order, targets, root):
            with layout.place("slide", None):
                _slide(package, slide.target, layout)
        return title, metadata


def _ordered(order: list[str | None], targets: dict[str, Relation], root: Element | None) -> Iterator[Relation]:
    """Slides as the presentation orders them; a list's ids are relationships, whatever their namespace is."""
    listed = [
        str(value)
        for item in (named(root, "sldId") if root is not None else ())
        for key, value in item.attrib.items()
        if str(key).endswith("}id")
    ] or [str(id_) for id_ in order]
    yield from (targets[id_] for id_ in listed if id_ in targets)


def _slide(package: Package, part: str, layout: Layout) -> None:
    root = package.tree(part)
    if root is None:
        return
    relations = {relation.id: relation for relation in package.relations(part)}
    shapes = list(_shapes(root))
    for shape in shapes:
        if _placeholder(shape) in _TITLES:
            layout.add("heading", " ".join(" ".join(_paragraphs(shape)).split()), level=1)
    for shape in shapes:
        if _placeholder(shape) not in _TITLES | _FURNITURE:
            _shape(package, shape, relations, layout)
    for relation in relations.values():
        if relation.kind == "notesSlide" and (notes := package.tree(relation.target)) is not None:
            spoken = [shape for shape in _shapes(notes) if _placeholder(shape) not in _FURNITURE]
            layout.add("paragraph", "\n".join(line for shape in spoken for line in _paragraphs(shape)))
        elif relation.kind == "comments" and (comments := package.tree(relation.target)) is not None:
            for comment in named(comments, "cm"):
                layout.add("quote", "\n".join(text_of(item) for item in named(comment, "text", "t")))


def _shape(package: Package, shape: Element, relations: Mapping[str, Relation], layout: Layout) -> None:
    if local(shape) == "graphicFrame":
        group = layout.group()
        for row in named(shape, "tr"):
            cells = [" ".join(" ".join(_paragraphs(cell)).split()) for cell in row if local(cell) == "tc"]
            if any(cells):
                layout.add("table_row", " | ".join(cells), group=group)
        for item in named(shape, "chart", "relIds"):
            for value in item.attrib.values():
                relation = relations.get(str(value))
                if relation is not None and relation.kind == "chart":
                    _chart(package.tree(relation.target), layout)
                elif relation is not None and relation.kind == "diagramData":
                    _diagram(package.tree(relation.target), layout)
        return
    group = layout.group()
    lines = list(_paragraphs(shape))
    kind: BlockKind = "list_item" if len(lines) > 1 else "paragraph"
    for line in lines:
        layout.add(kind, line, group=group)


def _chart(root: Element | None, layout: Layout) -> None:
    """Its title, then a row a series: the name, and each category with its value."""
    if root is None:
        return
    for title in named(root, "title"):
        layout.add("paragraph", " ".join(text_of(item) for item in named(title, "t")))
    group = layout.group()
    for series in named(root, "ser"):
        name, categories, values = (_values(series, kind) for kind in ("tx", "cat", "val"))
        pairs = [f"{category} {value}" for category, value in zip(categories, values, strict=False)] or values
        layout.add("table_row", " | ".join([*name, *pairs]), group=group)


def _values(series: Element, kind: str) -> list[str]:
    return [text_of(item) for part in series if local(part) == kind for item in named(part, "v")]


def _diagram(root: Element | None, layout: Layout) -> None:
    if root is None:
        return
    group = layout.group()
    for point in named(root, "pt"):
        layout.add("list_item", "\n".join(text_of(item) for item in named(point, "t") if len(item) == 0), group=group)


def _shapes(root: Element) -> Iterator[Element]:
    """Shapes, frames and connectors, those inside groups too, in document order."""
    for item in root:
        name = local(item)
        if name in ("sp", "cxnSp", "graphicFrame"):
            yield item
        elif name == "AlternateContent":
            chosen = chosen_branch(item)
            if chosen is not None:
                yield from _shapes(chosen)
        elif name in ("cSld", "spTree", "grpSp", "wgp"):
            yield from _shapes(item)


def _placeholder(shape: Element) -> str | None:
    for properties in shape:
        if local(properties).startswith("nv"):
            found = child(properties, "nvPr", "ph")
            return None if found is None else attribute(found, "type") or "body"
    return None


def _paragraphs(element: Element) -> Iterator[str]:
    for paragraph in named(element, "p"):
        parts = ["\n" if local(item) == "br" else item.text or "" for item in named(paragraph, "t", "br")]
        if "".join(parts).strip():
            yield "".join(parts)


def create(settings: Mapping[str, object]) -> PptxParser:  # noqa: ARG001
    """The presentation parser; it has no settings."""
    return PptxParser()
