"""From a page's tree to text and blocks, in reading order, without what a reader would not see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from seamline.ingest.clean import clean
from seamline.ingest.main_content import in_main_content
from seamline.types import Block, BlockKind, MetadataValue

if TYPE_CHECKING:
    from resiliparse.parse.html import ElementNode, HTMLTree, Node

_UNSEEN = frozenset(
    {
        "script", "style", "noscript", "template", "svg", "head", "canvas", "audio", "video", "object", "embed",
        "applet", "map", "datalist", "frameset", "noframes", "nav", "footer", "dialog", "button",
    }
)  # fmt: skip
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "dialog", "alertdialog"})
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_HEADINGS = {f"h{level}": level for level in range(1, 17)}
_BREAKING = frozenset(_HEADINGS) | frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt",
        "fieldset", "figcaption", "figure", "form", "header", "hgroup", "hr", "html", "legend", "li", "main", "ol",
        "option", "p", "pre", "section", "summary", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "tr",
        "ul",
    }
)  # fmt: skip
_KINDS: dict[str, BlockKind] = {
    "pre": "code",
    "li": "list_item",
    "dt": "list_item",
    "dd": "list_item",
    "blockquote": "quote",
}
_GROUPS = frozenset({"ul", "ol", "dl", "table", "blockquote"})
_MAX_NODES = 2_000_000
_MAX_FRAMES = 20


@dataclass(frozen=True, slots=True)
class Page:
    """What a page shows. ``cut`` says why the rest is missing, when something is."""

    text: str
    blocks: tuple[Block, ...]
    title: str | None
    language: str | None
    metadata: dict[str, MetadataValue]
    cut: str | None


@dataclass(slots=True)
class Piece:
    """One leaf before it has a place in the text."""

    kind: BlockKind
    text: str
    level: int | None = None
    group: int | None = None
    linked: bool = False
    """Whether it is mostly links, outside what the page itself calls its main part."""


def read_page(source: str) -> Page:
    """Parse a page and lay its leaves out: rows and items on lines of their own, a blank line between others."""
    from resiliparse.parse.html import HTMLTree

    tree = HTMLTree.parse(source)
    walk = _Walk()
    walk.run(tree)
    # The heuristics also give up short lists and tables, which are content: they decide on links only.
    doubtful = [piece.linked for piece in walk.pieces]
    kept = iter(in_main_content(tree, [piece.text for piece in walk.pieces if piece.linked]))
    pieces = [piece for piece, asked in zip(walk.pieces, doubtful, strict=True) if not asked or next(kept)]
    text, blocks = _laid_out(pieces)
    headings = (piece.text for piece in walk.pieces if piece.level == 1)
    title = " ".join(clean(tree.title or "").text.split()) or next(headings, None)
    root = tree.document.query_selector("html") if tree.document is not None else None
    language = root.getattr("lang") if root is not None else None
    return Page(text, blocks, title, language or None, _described(tree), walk.cut)


def _described(tree: HTMLTree) -> dict[str, MetadataValue]:
    found: dict[str, MetadataValue] = {}
    if tree.document is None:
        return found
    for name in ("author", "description", "keywords", "date"):
        node = tree.document.query_selector(f'meta[name="{name}"]')
        content = node.getattr("content") if node is not None else None
        if content:
            found[name] = " ".join(content.split())
    return found


def _laid_out(pieces: list[Piece]) -> tuple[str, tuple[Block, ...]]:
    parts: list[str] = []
    blocks: list[Block] = []
    position = 0
    previous: Piece | None = None
    for piece in pieces:
        if previous is not None:
            together = piece.group is not None and piece.group == previous.group and piece.kind == previous.kind
            parts.append("\n" if together else "\n\n")
            position += len(parts[-1])
        title = " ".join(piece.text.split()) if piece.level else None
        end = position + len(piece.text)
        blocks.append(
            Block(kind=piece.kind, char_start=position, char_end=end, level=piece.level, title=title, group=piece.group)
        )
        parts.append(piece.text)
        previous, position = piece, end
    return "".join(parts), tuple(blocks)


@dataclass(slots=True)
class _Open:
    """An element whose end is still to come, with what it changes for what is inside."""

    kind: BlockKind
    level: int | None = None
    group: int | None = None
    preformatted: bool = False
    row: bool = False
    main: bool = False
    linked: bool = False


@dataclass(slots=True)
class _Walk:
    """Visits the tree with a stack of its own: hostile pages nest deeper than Python recurses."""

    pieces: list[Piece] = field(default_factory=list)
    cut: str | None = None
    buffer: list[str] = field(default_factory=list)
    linked: int = 0
    groups: int = 0
    frames: int = 0

    def run(self, tree: HTMLTree) -> None:
        """Walk a whole document."""
        from resiliparse.parse.html import DocumentNode, ElementNode, NodeType

        stack: list[tuple[Node, _Open] | _Open | str] = []
        if tree.document is not None:
            stack.append((tree.document, _Open("paragraph")))
        visited = 0
        while stack:
            step = stack.pop()
            if isinstance(step, str):
                self.buffer.append(step)
                continue
            if isinstance(step, _Open):
                self._flush(step)
                continue
            node, inside = step
            visited += 1
            if visited > _MAX_NODES:
                self.cut = f"more than {_MAX_NODES} nodes"
                break
            if node.type == NodeType.TEXT:
                self._say(node.value or "", inside)
            elif isinstance(node, ElementNode):
                if not _unseen(node):
                    self._enter(node, inside, stack)
            elif isinstance(node, DocumentNode):
                stack.extend((child, inside) for child in _children_reversed(node))
        self._flush(_Open("paragraph"))

    def _say(self, value: str, inside: _Open) -> None:
        said = value if inside.preformatted else " ".join(_padded(value))
        self.buffer.append(said)
        if inside.linked:
            self.linked += len(said)

    def _enter(self, node: ElementNode, inside: _Open, stack: list[tuple[Node, _Open] | _Open | str]) -> None:
        tag = node.tag
        if tag == "br":
            self.buffer.append("\n" if inside.preformatted or not inside.row else " ")
            return
        if tag == "iframe":
            self._frame(node)
            return
        if tag in ("td", "th") and inside.row:
            stack.append(" | ")
        elif tag in _BREAKING and not inside.row:
            self._flush(inside)
            inside = self._opened(tag, node, inside)
            stack.append(inside)
        elif tag in _BREAKING:
            stack.append(" ")
        if tag == "a":
            inside = replace(inside, linked=True)
        stack.extend((child, inside) for child in _children_reversed(node))

    def _opened(self, tag: str, node: ElementNode, inside: _Open) -> _Open:
        """What holds inside a block element."""
        group = inside.group
        if tag in _GROUPS and (group is None or tag == "table"):
            self.groups += 1
            group = self.groups
        main = inside.main or tag in ("main", "article") or node.getattr("role") == "main"
        kind: BlockKind = inside.kind if inside.kind != "heading" else "paragraph"
        if tag in _HEADINGS:
            return _Open("heading", level=_HEADINGS[tag], main=main)
        if tag == "tr":
            # A row that holds a table of its own only lays the page out.
            if node.query_selector("table") is not None:
                return _Open("paragraph", main=main)
            return _Open("table_row", group=group, row=True, main=main)
        kind = _KINDS.get(tag, kind)
        return _Open(kind, group=group, preformatted=tag == "pre", main=main)

    def _frame(self, node: ElementNode) -> None:
        from resiliparse.parse.html import HTMLTree

        source = node.getattr("srcdoc")
        if source and self.frames < _MAX_FRAMES:
            self.frames += 1
            inner = _Walk(groups=self.groups, frames=self.frames)
            inner.run(HTMLTree.parse(source))
            self._flush(_Open("paragraph"))
            self.pieces += inner.pieces
            self.groups, self.frames = inner.groups, inner.frames

    def _flush(self, inside: _Open) -> None:
        # Character references name what cleaning took out of the source.
        raw = clean("".join(self.buffer)).text
        self.buffer.clear()
        if inside.preformatted:
            text = raw.strip("\n").rstrip()
        elif inside.row:
            cells = [" ".join(cell.split()) for cell in raw.split(" | ")]
            text = " | ".join(cells[:-1] + list(filter(None, cells[-1:]))).strip() if any(cells) else ""
        else:
            text = "\n".join(filter(None, (" ".join(line.split()) for line in raw.split("\n"))))
        if text.strip():
            linked = not inside.main and self.linked * 2 > len(text)
            self.pieces.append(Piece(inside.kind, text, inside.level, inside.group, linked))
        self.linked = 0


def _padded(value: str) -> Iterator[str]:
    """The words of inline text, with an empty one at an end that had whitespace."""
    if value[:1].isspace():
        yield ""
    yield from value.split()
    if value[-1:].isspace():
        yield ""


def _children_reversed(node: Node) -> list[Node]:
    children = []
    child = node.last_child
    while child is not None:
        children.append(child)
        child = child.prev
    return children


def _unseen(node: ElementNode) -> bool:
    if node.tag in _UNSEEN or node.hasattr("hidden") or node.getattr("aria-hidden") == "true":
        return True
    if node.tag == "input" or node.getattr("role") in _ROLES:
        return True
    style = node.getattr("style")
    return style is not None and _HIDING.search(style) is not None
