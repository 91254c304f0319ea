"""The text of WordprocessingML paragraphs: what a reader of the final document sees, each thing once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seamline.ingest.xml_tree import attribute, child, local, named, value

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

WITHDRAWN = frozenset({"del", "moveFrom"})
"""What a tracked change took away."""
_PROPERTIES = frozenset({"pPr", "rPr", "sectPr", "tblPr", "trPr", "tcPr"})
_SILENT = WITHDRAWN | _PROPERTIES | {"instrText", "delText", "fldChar", "delInstrText"}
_MARKS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
NESTED = frozenset({"txbxContent", "tbl"})
"""Blocks that stand inside a run."""


def inline(element: Element, nested: list[Element]) -> str:
    """The characters inside an element; text boxes and tables in it are appended to ``nested``."""
    parts: list[str] = []
    _inline(element, parts, nested)
    return "".join(parts)


def _inline(element: Element, parts: list[str], nested: list[Element]) -> None:
    for item in element:
        name = local(item)
        if name == "t":
            parts.append(item.text or "")
        elif name in _MARKS:
            parts.append(_MARKS[name])
        elif name in NESTED:
            nested.append(item)
        elif name == "AlternateContent":
            chosen = chosen_branch(item)
            if chosen is not None:
                _inline(chosen, parts, nested)
        elif name and name not in _SILENT:
            _inline(item, parts, nested)


def chosen_branch(alternate: Element) -> Element | None:
    """Of alternatives for one thing, the newest: ``Fallback`` says the same for older programs."""
    return child(alternate, "Choice") if child(alternate, "Choice") is not None else child(alternate, "Fallback")


class Styles:
    """Paragraph styles by id: their heading levels, and whether they make lists. Ids are localised, names are not."""

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, int | None] = {}
        self._based: dict[str, str | None] = {}
        self._names: dict[str, str] = {}
        self._lists: set[str] = set()
        for style in named(root, "style") if root is not None else ():
            id_ = attribute(style, "styleId") or ""
            self._names[id_] = (value(style, "name") or "").lower()
            self._based[id_] = value(style, "basedOn")
            self._levels[id_] = _level(value(style, "pPr", "outlineLvl"), self._names[id_])
            if child(style, "pPr", "numPr") is not None:
                self._lists.add(id_)

    def level(self, paragraph: Element) -> int | None:
        """The heading level of a paragraph, from 1; ``None`` for body text."""
        own = _level(value(paragraph, "pPr", "outlineLvl"), "")
        if own is not None:
            return own
        return next((level for style in self._chain(paragraph) if (level := self._levels.get(style)) is not None), None)

    def lists(self, paragraph: Element) -> str | None:
        """The list that a paragraph is an item of; ``None`` for none."""
        number = value(paragraph, "pPr", "numPr", "numId")
        if number is not None:
            return None if number == "0" else number
        return next((style for style in self._chain(paragraph) if style in self._lists), None)

    def title(self, paragraph: Element) -> bool:
        """Whether it is the title of the whole document."""
        return any(self._names.get(style) == "title" for style in self._chain(paragraph)[:1])

    def _chain(self, paragraph: Element) -> list[str]:
        chain: list[str] = []
        style = value(paragraph, "pPr", "pStyle")
        while style is not None and style not in chain:
            chain.append(style)
            style = self._based.get(style)
        return chain


def _level(outline: str | None, name: str) -> int | None:
    if outline is not None and outline.isdigit():
        return int(outline) + 1 if int(outline) < 9 else None  # 9 is body text
    number = name.removeprefix("heading ")
    return int(number) if number != name and number.isdigit() and 1 <= int(number) <= 9 else None
