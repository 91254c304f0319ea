"""No child that its vector could not hold: what is too long for the embedder is divided, not cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from seamline.chunk.cutting import cut
from seamline.chunk.ids import ChunkIds
from seamline.fingerprint import fingerprint
from seamline.ports import Chunker, TokenCounter
from seamline.types import Chunk, Chunked, ChunkId, Document, Fingerprint

Excess = Callable[[Sequence[str]], list[float]]
"""How many times each text is as long as the ceiling allows; at most 1 fits."""

UNDECLARED_WINDOW_CHARS = 512
"""The ceiling for an embedder that declares no window."""

_SMALLEST = 50
"""A piece this short is left as it is: what does not fit is then the headings before it."""


def by_tokens(counter: TokenCounter, window: int) -> Excess:
    """A ceiling in tokens of the embedder's own tokenizer, headings and special tokens included."""
    return lambda texts: [count / window for count in counter.count_tokens(texts)]


def by_characters(most: int) -> Excess:
    """A ceiling in characters, headings included."""
    return lambda texts: [len(text) / most for text in texts]


class ClampedChunker:
    """Another chunker's chunks, those over the ceiling divided at pauses; ids of all others stay."""

    def __init__(self, inner: Chunker, excess: Excess, *, template: str, ceiling: str) -> None:
        """``template`` renders what is embedded; ``ceiling`` names the limit in the fingerprint."""
        self._inner, self._excess, self._template, self._ceiling = inner, excess, template, ceiling

    @property
    def fingerprint(self) -> Fingerprint:
        """Identity of the inner chunker and the ceiling."""
        parts = {"chunker": "clamped/1", "inner": self._inner.fingerprint, "ceiling": self._ceiling}
        return fingerprint("recipe", {**parts, "template": self._template})

    def chunk(self, document: Document) -> Chunked:
        """The same with every child within the ceiling; ``clamped`` counts those that were not."""
        made = self._inner.chunk(document)
        over = self._excess([child.rendered(self._template) for child in made.children])
        if not any(value > 1 for value in over):
            return made
        ids = _FreshIds(document, made.children)
        children: list[Chunk] = []
        for child, value in zip(made.children, over, strict=True):
            children.extend(self._divided(document, child, value, ids) if value > 1 else [child])
        numbered = tuple(replace(child, chunk_index=index) for index, child in enumerate(children))
        return replace(made, children=numbered, clamped=made.clamped + sum(value > 1 for value in over))

    def _divided(self, document: Document, child: Chunk, over: float, ids: _FreshIds) -> Iterator[Chunk]:
        """Pieces in order; a piece is divided again as long as it does not fit."""
        pending = [(child.char_start, child.char_end, over)]
        while pending:
            start, end, over = pending.pop()
            if over <= 1 or end - start <= _SMALLEST:
                yield self._piece(document, child, start, end, ids)
                continue
            most = max(_SMALLEST, min(int((end - start) / over), end - start - 1))
            spans = cut(document.text, start, end, most=most, least=most // 3, splitter=None, language=None)
            pieces = [replace(child, text=document.text[left:right]) for left, right in spans]
            values = self._excess([piece.rendered(self._template) for piece in pieces])
            if len(spans) == 1:  # one grapheme cluster
                values = [1.0]
            pending.extend(reversed([(*span, value) for span, value in zip(spans, values, strict=True)]))

    def _piece(self, document: Document, child: Chunk, start: int, end: int, ids: _FreshIds) -> Chunk:
        text = document.text[start:end]
        return replace(
            child,
            id=ids.next(text, child.heading_path),
            text=text,
            char_start=start,
            char_end=end,
            pages=child.pages_of(start, end),
        )


class _FreshIds:
    """Ids for new pieces that no chunk of the document has."""

    def __init__(self, document: Document, children: Sequence[Chunk]) -> None:
        self._ids = ChunkIds(document.id)
        self._taken = {child.id for child in children}

    def next(self, text: str, path: tuple[str, ...]) -> ChunkId:
        while (id_ := self._ids.next(text, path)) in self._taken:
            pass
        return id_
