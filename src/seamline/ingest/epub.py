"""Electronic books: the chapters in the order of the spine, each read as the web page that it is."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import unquote

from seamline.ingest.archives import Archive, ArchiveError, EncryptedArchiveError
from seamline.ingest.html import decode_html
from seamline.ingest.html_walk import read_page
from seamline.ingest.layout import Layout
from seamline.ingest.office import OfficeParser
from seamline.ingest.xml_tree import XmlError, attribute, local, named, parse, text_of
from seamline.types import Block, MetadataValue

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_PROPERTIES = {name: name for name in ("publisher", "date", "subject", "description")} | {"creator": "author"}
_FONTS = ("obfuscation", "idpf.org/2008/embedding", "adobe.com/pdf/enc")


class EpubParser(OfficeParser):
    """Reads ``.epub``; a place of its text is an item of the spine."""

    name = "epub"
    media_types = frozenset({"application/epub+zip"})

    def __init__(self) -> None:
        self.version = f"1+lxml-{version('lxml')}+resiliparse-{version('resiliparse')}"

    def _lay_out(self, archive: Archive, layout: Layout) -> tuple[str | None, Mapping[str, MetadataValue]]:
        encryption = archive.get("META-INF/encryption.xml")
        if (
            encryption is not None
            and b"EncryptedData" in encryption
            and not any(mark.encode() in encryption for mark in _FONTS)
        ):
            raise EncryptedArchiveError("its chapters are encrypted (DRM)")
        place, book = _book(archive)
        for name in _spine(book, posixpath.dirname(place)):
            data = archive.get(name)
            if data is None:
                continue
            page = read_page(decode_html(data)[0])
            first = next((block.title for block in page.blocks if block.level), None)
            with layout.place("item", first or posixpath.basename(name)):
                _add(page.text, page.blocks, layout)
            if layout.full:
                break
        return _properties(book)


def _add(text: str, blocks: tuple[Block, ...], layout: Layout) -> None:
    groups: dict[int, int] = {}
    for block in blocks:
        own = block.group
        group = None if own is None else groups.setdefault(own, layout.group())
        layout.add(block.kind, text[block.char_start : block.char_end], level=block.level, group=group)


def _book(archive: Archive) -> tuple[str, Element]:
    """The package document and its name; raises ``ArchiveError``."""
    try:
        container = parse(archive.read("META-INF/container.xml"), recover=True)
        place = next((attribute(item, "full-path") for item in named(container, "rootfile")), None)
        if place is None:
            raise ArchiveError("no package document is named")
        return place, parse(archive.read(place), recover=True)
    except XmlError as error:
        raise ArchiveError(f"damaged package document: {error}") from error


def _spine(book: Element, folder: str) -> Iterator[str]:
    items = {attribute(item, "id"): attribute(item, "href") for item in named(book, "item")}
    for reference in named(book, "itemref"):
        href = items.get(attribute(reference, "idref"))
        if href:
            yield posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))


def _properties(book: Element) -> tuple[str | None, Mapping[str, MetadataValue]]:
    title: str | None = None
    found: dict[str, MetadataValue] = {}
    for metadata in named(book, "metadata"):
        for item in named(metadata, "title", *_PROPERTIES):
            said = " ".join(text_of(item).split())
            if said and local(item) == "title":
                title = title or said
            elif said:
                found.setdefault(_PROPERTIES[local(item)], said)
    return title, found


def create(settings: Mapping[str, object]) -> EpubParser:  # noqa: ARG001
    """The EPUB parser; it has no settings."""
    return EpubParser()
