"""Office packages (OOXML): parts, their relationships, and the properties of the whole."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from seamline.ingest.archives import Archive, ArchiveError
from seamline.ingest.xml_tree import XmlError, attribute, local, parse, text_of
from seamline.types import MetadataValue

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_PROPERTIES = {
    "creator": "author", "subject": "subject", "keywords": "keywords", "description": "description",
    "created": "created", "modified": "modified", "category": "category",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Relation:
    """One relationship of a part: ``kind`` is the last word of its type, ``target`` a name in the archive."""

    id: str
    kind: str
    target: str


class Package:
    """The parts of an Office file by name, with damaged XML repaired where that is possible."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive

    def main(self) -> str:
        """The name of the part that holds the document; raises ``ArchiveError`` when none does."""
        for relation in self.relations(""):
            if relation.kind == "officeDocument":
                return relation.target
        raise ArchiveError("no part is named as the document")

    def relations(self, part: str) -> list[Relation]:
        """The relationships of a part inside the package (``""``: of the package); external ones are left out."""
        folder, name = posixpath.split(part)
        data = self.archive.get(posixpath.join(folder, "_rels", f"{name}.rels"))
        root = self._parsed(data)
        return [] if root is None else list(_relations(root, folder))

    def tree(self, part: str) -> Element | None:
        """A part's root element; ``None`` for an absent or unreadable one."""
        return self._parsed(self.archive.get(part))

    def related(self, part: str, *kinds: str) -> Iterator[tuple[Relation, Element]]:
        """The parts that a part refers to by one of these kinds, parsed."""
        for relation in self.relations(part):
            if relation.kind in kinds and (root := self.tree(relation.target)) is not None:
                yield relation, root

    def properties(self) -> tuple[str | None, dict[str, MetadataValue]]:
        """The title, and who made it when."""
        title = None
        found: dict[str, MetadataValue] = {}
        for _, root in self.related("", "core-properties"):
            for item in root:
                name, said = local(item), " ".join(text_of(item).split())
                if said and name == "title":
                    title = said
                elif said and name in _PROPERTIES:
                    found[_PROPERTIES[name]] = said
        return title, found

    def _parsed(self, data: bytes | None) -> Element | None:
        if data is None:
            return None
        try:
            return parse(data, recover=True)
        except XmlError:
            return None


def _relations(root: Element, folder: str) -> Iterator[Relation]:
    for item in root:
        target = attribute(item, "Target")
        if local(item) != "Relationship" or target is None or attribute(item, "TargetMode") == "External":
            continue
        place = unquote(target)
        name = place.removeprefix("/") if place.startswith("/") else posixpath.normpath(posixpath.join(folder, place))
        kind = (attribute(item, "Type") or "").rstrip("/").rpartition("/")[2]
        yield Relation(attribute(item, "Id") or "", kind, name)
