"""Documents, chunks and embedding spaces: what the offline half makes.

Offsets (``char_start``, ``char_end``) count code points of ``Document.text``, half open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NewType

DocumentId = NewType("DocumentId", str)
ChunkId = NewType("ChunkId", str)
Fingerprint = NewType("Fingerprint", str)

MetadataValue = str | int | float | bool
Metadata = Mapping[str, MetadataValue]
VectorName = Literal["child", "parent", "context"]
PlaceUnit = Literal["page", "slide", "rows", "cell", "part", "item"]
BlockKind = Literal["heading", "paragraph", "list_item", "table_row", "code", "quote", "html"]


class ParseStatus(StrEnum):
    """How the extraction of a document ended. Only ``ok`` and ``truncated`` are indexed unless asked."""

    OK = "ok"
    BLANK = "blank"
    NEEDS_OCR = "needs_ocr"
    ENCRYPTED = "encrypted"
    CORRUPT = "corrupt"
    UNSUPPORTED = "unsupported"
    GARBLED = "garbled"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A leaf of the document's structure: an ordered, non-overlapping range of its text.

    ``level`` is the heading level (1 is the outermost). Blocks of one list, table or quote share a ``group``.
    ``language`` is set only where it was detected to be another than the document's.
    """

    kind: BlockKind
    char_start: int
    char_end: int
    level: int | None = None
    title: str | None = None
    group: int | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page's range: ``index`` is physical, from 0; ``label`` is what is printed on it (``iv``, ``A-3``).

    Formats without pages have other places in their stead: ``unit`` says which, and ``label`` names one of them
    (a sheet with its row numbers, a part of a message, an item of a book's spine).
    """

    index: int
    label: str | None
    char_start: int
    char_end: int
    unit: PlaceUnit = "page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a document's text came from, and what extracted it."""

    source_uri: str
    content_sha256: str
    parser: str
    parser_version: str
    decoder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Signals of extraction quality, each a count of characters (or of pages, where named so)."""

    characters: int
    replacement_characters: int = 0
    private_use_characters: int = 0
    control_characters_removed: int = 0
    failed_pages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file inside a file, to be read as a document of its own; ``name`` has no folders."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a parser makes of bytes: cleaned text, structure as ranges of it, and the files inside the file."""

    text: str
    media_type: str
    blocks: tuple[Block, ...] = ()
    pages: tuple[Page, ...] = ()
    title: str | None = None
    language: str | None = None
    metadata: Metadata = field(default_factory=dict)
    decoder: str | None = None
    quality: Quality | None = None
    status: ParseStatus = ParseStatus.OK
    reason: str | None = None
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A source's normalised text with its structure. ``text`` is the truth that every span points into."""

    id: DocumentId
    text: str
    text_sha256: str
    media_type: str
    provenance: Provenance
    quality: Quality
    title: str | None = None
    language: str | None = None
    language_confidence: float | None = None
    language_declared: bool = False
    blocks: tuple[Block, ...] = ()
    pages: tuple[Page, ...] = ()
    readable_by: frozenset[str] | None = None
    metadata: Metadata = field(default_factory=dict)
    version: str | None = None
    status: ParseStatus = ParseStatus.OK
    status_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The unit that is embedded and cited: ``document.text[char_start:char_end] == text``, exactly.

    ``pages`` are those that the span overlaps; the page of a citation is computed from the cited span.
    """

    id: ChunkId
    document_id: DocumentId
    text: str
    char_start: int
    char_end: int
    chunk_index: int
    heading_path: tuple[str, ...] = ()
    title: str | None = None
    language: str | None = None
    pages: tuple[Page, ...] = ()
    parent_id: ChunkId | None = None
    source_uri: str | None = None
    document_sha256: str = ""
    context: str | None = None

    def rendered(self, template: str) -> str:
        """The text that is embedded and indexed: a template's lines, empty parts and empty lines left out.

        ``{title} > {headings}`` loses the parts that are not known; a first heading equal to the title is
        not said twice. Braces in the document's own text are never interpreted.
        """
        headings = self.heading_path[1:] if self.heading_path[:1] == (self.title,) else self.heading_path
        values = {"{title}": self.title or "", "{headings}": " > ".join(headings), "{text}": self.text}
        lines = (
            " > ".join(filter(None, (values.get(part.strip(), part.strip()) for part in line.split(" > "))))
            for line in template.split("\n")
        )
        return "\n".join(line for line in lines if line)

    def pages_of(self, char_start: int, char_end: int) -> tuple[Page, ...]:
        """The pages that a span inside this chunk lies on; several when it straddles a break."""
        return tuple(p for p in self.pages if p.char_start < char_end and char_start < p.char_end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunked:
    """What a chunker makes of one document: children, and the parents that they name.

    ``clamped`` counts children that were divided because the embedder cannot hold them.
    """

    children: tuple[Chunk, ...]
    parents: tuple[Chunk, ...] = ()
    clamped: int = 0


DEFAULT_TEMPLATE = "{title} > {headings}\n{text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpace:
    """Everything that decides what a vector means. Two spaces are equal exactly when their fingerprints are.

    ``window`` counts tokens, ``None`` when the model has no limit. ``languages`` are the BCP-47 primary
    tags that the model was trained for; an empty set means that none is claimed to be left out.
    """

    provider: str
    model: str
    revision: str
    dimension: int
    pooling: str = "mean"
    normalised: bool = True
    query_prefix: str = ""
    passage_prefix: str = ""
    window: int | None = None
    template: str = DEFAULT_TEMPLATE
    precision: str = "float32"
    stand_in: bool = False
    languages: frozenset[str] = frozenset()

    def covers(self, language: str | None) -> bool:
        """Whether the model was trained for a language; an unknown language counts as covered."""
        return not self.languages or language is None or language.split("-")[0].lower() in self.languages
