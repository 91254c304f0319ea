"""XML of any vocabulary: text by element, with the path of elements as headings."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING

from seamline.ingest.layout import Layout
from seamline.ingest.office import laid_out
from seamline.ingest.outline import LONG, MOST_LEVEL
from seamline.ingest.xml_tree import XmlError, local, parse, text_of
from seamline.ports import Parsed
from seamline.types import ParseStatus

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


class XmlParser:
    """Entities are not expanded and nothing outside the file is read."""

    name = "xml"
    media_types = frozenset({"application/xml"})

    def __init__(self) -> None:
        self.version = f"1+lxml-{version('lxml')}"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract; damaged XML is read as far as it can be repaired, and says so."""
        reason = None
        try:
            root = parse(data)
        except XmlError as error:
            reason = f"not well-formed: {error}"[:300]
            try:
                root = parse(data, recover=True)
            except XmlError:
                return Parsed(text="", media_type=media_type, status=ParseStatus.CORRUPT, reason=reason)
        layout = Layout()
        _walk(root, layout)
        return laid_out(layout, media_type, reason=reason)


def _walk(root: Element, layout: Layout) -> None:
    pending: list[tuple[Element, int]] = [(root, 0)]
    group = layout.group()
    while pending and not layout.full:
        element, level = pending.pop()
        name = local(element)
        children = [item for item in element if local(item)]
        attributes = [f"{str(key).rpartition('}')[2]}: {value}" for key, value in element.attrib.items()]
        if not children or _is_mixed(element):
            text = " ".join(text_of(element).split())
            said = ", ".join([*attributes, text] if text else attributes)
            if said:
                short = len(said) <= LONG
                layout.add("list_item" if short else "paragraph", f"{name}: {said}", group=group if short else None)
            continue
        if 1 <= level <= MOST_LEVEL:
            layout.add("heading", name, level=level)
        group = layout.group()
        for said in attributes:
            layout.add("list_item", said, group=group)
        pending.extend((item, level + 1) for item in reversed(children))


def _is_mixed(element: Element) -> bool:
    """Whether text stands between the children: a sentence with marked words, not a container."""
    return any((item.tail or "").strip() for item in element)


def create(settings: Mapping[str, object]) -> XmlParser:  # noqa: ARG001
    """The XML parser; it has no settings."""
    return XmlParser()
