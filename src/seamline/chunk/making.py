"""From drafts to chunks: texts, ids, pages, and the parents that the children name."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from seamline.chunk.ids import ChunkIds, ParentIds
from seamline.chunk.packing import Draft
from seamline.chunk.parents import parents_of
from seamline.chunk.sizes import ParentSizes
from seamline.types import Block, Chunk, Chunked, ChunkId, Document, Page


def chunked(document: Document, drafts: Sequence[Draft], sizes: ParentSizes | None) -> Chunked:
    """Children of the drafts, in order, and parents over them where ``sizes`` are given."""
    families = parents_of(document.text, drafts, sizes) if sizes is not None else []
    parents = stated(document, [f.parent for f in families], _ids(document, [f.parent for f in families], ParentIds))
    named = [parent.id for parent, family in zip(parents, families, strict=True) for _ in range(family.children)]
    return Chunked(children=stated(document, drafts, _ids(document, drafts, ChunkIds), named), parents=parents)


def _ids(document: Document, drafts: Sequence[Draft], kind: type[ChunkIds]) -> list[ChunkId]:
    ids = kind(document.id)
    return [ids.next(document.text[draft.start : draft.end], draft.path) for draft in drafts]


def stated(
    document: Document, drafts: Sequence[Draft], ids: Sequence[ChunkId], parents: Sequence[ChunkId] = ()
) -> tuple[Chunk, ...]:
    """Chunks of the drafts with these ids, and the parent that each names where there are any."""
    ends = [page.char_end for page in document.pages]
    others = [block for block in document.blocks if block.language is not None]
    made = []
    for index, draft in enumerate(drafts):
        text = document.text[draft.start : draft.end]
        made.append(
            Chunk(
                id=ids[index],
                document_id=document.id,
                text=text,
                char_start=draft.start,
                char_end=draft.end,
                chunk_index=index,
                heading_path=draft.path,
                title=document.title,
                language=_language(document, others, draft) if others else document.language,
                pages=_pages(document, ends, draft) if ends else (),
                parent_id=parents[index] if parents else None,
                source_uri=document.provenance.source_uri,
                document_sha256=document.text_sha256,
            )
        )
    return tuple(made)


def _language(document: Document, others: Sequence[Block], draft: Draft) -> str | None:
    """The language of most of a chunk: the document's, unless blocks in another one fill more than half of it."""
    within: Counter[str | None] = Counter()
    for block in others[bisect_left(others, draft.start + 1, key=lambda block: block.char_end) :]:
        if block.char_start >= draft.end:
            break
        within[block.language] += min(block.char_end, draft.end) - max(block.char_start, draft.start)
    language, characters = within.most_common(1)[0] if within else (None, 0)
    return language if characters * 2 > draft.end - draft.start else document.language


def _pages(document: Document, ends: list[int], draft: Draft) -> tuple[Page, ...]:
    first = bisect_left(ends, draft.start + 1)
    return tuple(takewhile(lambda page: page.char_start < draft.end, document.pages[first:]))
