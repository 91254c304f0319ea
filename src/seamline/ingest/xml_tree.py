"""XML as a tree, without external entities, DTD loading or network, and the small questions one asks of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


class XmlError(Exception):
    """XML that cannot be read; the message says why."""


def parse(data: bytes, *, recover: bool = False) -> Element:
    """The root element. Entities that a document declares itself are left out, not expanded.

    Raises ``XmlError``, also for a document nested deeper than the parser's safe limit.
    """
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False, recover=recover
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise XmlError(str(error)) from error
    if root is None:
        raise XmlError("no element in it")
    return root


def local(element: Element) -> str:
    """An element's name without its namespace; empty for a comment, an instruction or an unexpanded entity."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str | None:
    """An attribute by its name without namespace: formats have several namespaces for one vocabulary."""
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return None


def child(element: Element, *path: str) -> Element | None:
    """The first descendant along a path of local names."""
    for name in path:
        found = next((item for item in element if local(item) == name), None)
        if found is None:
            return None
        element = found
    return element


def value(element: Element, *path: str) -> str | None:
    """The attribute ``val`` of a descendant along a path."""
    found = child(element, *path)
    return None if found is None else attribute(found, "val")


def named(element: Element, *names: str) -> Iterator[Element]:
    """Every descendant with one of these local names, in document order."""
    return (item for item in element.iter() if local(item) in names)


def text_of(element: Element) -> str:
    """All character data inside an element; comments, instructions and entities left out."""
    return "".join(_texts(element))


def _texts(element: Element) -> Iterator[str]:
    if local(element) and element.text:
        yield element.text
    for item in element:
        yield from _texts(item)
        if item.tail:
            yield item.tail
