"""From a source's entry and its bytes to a ``Document``."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from urllib.parse import quote

from seamline.fingerprint import sha256_bytes, sha256_text
from seamline.ingest.language import VERSION as LANGUAGE_VERSION
from seamline.ingest.language import detect, mark_blocks
from seamline.ingest.plan import INSIDE
from seamline.ingest.sandbox import ParseLimits, ParserChild
from seamline.types import Attachment, Document, DocumentId, Provenance, Quality, SourceEntry

MOST_DEPTH = 3
MOST_INSIDE = 200


class EntryReader:
    """Parses entries in a child process that it owns; a context manager that ends it."""

    def __init__(self, limits: ParseLimits) -> None:
        """The child is started when it is first needed."""
        self._child = ParserChild(limits)

    def __enter__(self) -> EntryReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close()

    @property
    def recipe(self) -> dict[str, str]:
        """Parser names and versions: what decides, with the bytes, what a document says and in which language."""
        return {**self._child.parsers(), "language": LANGUAGE_VERSION}

    def read(self, entry: SourceEntry, data: bytes) -> Document:
        """The document of an entry.

        Bad content never raises: it is a document whose ``status`` and ``status_reason`` say what it is. A
        declared language (the entry's metadata ``language``, else the file's own) wins over the detected one.
        """
        return self._read(entry, data)[0]

    def read_all(self, entry: SourceEntry, data: bytes) -> list[Document]:
        """The document of an entry, then those of the files inside it, to a depth of 3 and a number of 200.

        Each is parsed under caps of its own and has a status of its own; its id is ``entry!/name``.
        """
        documents: list[Document] = []
        pending = [(entry, data, 0)]
        while pending and len(documents) < MOST_INSIDE:
            one, content, depth = pending.pop(0)
            document, attachments = self._read(one, content)
            documents.append(document)
            if depth < MOST_DEPTH:
                pending.extend((item, inner, depth + 1) for item, inner in _entries(one, attachments))
        return documents

    def _read(self, entry: SourceEntry, data: bytes) -> tuple[Document, tuple[Attachment, ...]]:
        extracted = self._child.parse(data, filename=entry.id, media_type=entry.media_type)
        parsed = extracted.parsed
        stated = entry.metadata.get("language") or parsed.language
        language, confidence = (str(stated), None) if stated else detect(parsed.text)
        document = Document(
            id=entry.id,
            text=parsed.text,
            text_sha256=sha256_text(parsed.text),
            media_type=parsed.media_type or entry.media_type or "application/octet-stream",
            provenance=Provenance(
                source_uri=entry.uri,
                content_sha256=sha256_bytes(data),
                parser=extracted.parser,
                parser_version=extracted.version,
                decoder=parsed.decoder,
            ),
            quality=parsed.quality or Quality(characters=len(parsed.text)),
            title=parsed.title,
            language=language,
            language_confidence=confidence if language is not None else None,
            language_declared=bool(stated),
            blocks=mark_blocks(parsed.text, parsed.blocks, language),
            pages=parsed.pages,
            readable_by=entry.readable_by,
            metadata={**parsed.metadata, **entry.metadata},
            version=entry.version,
            status=parsed.status,
            status_reason=parsed.reason,
        )
        return document, parsed.attachments


def _entries(parent: SourceEntry, attachments: Sequence[Attachment]) -> list[tuple[SourceEntry, bytes]]:
    """The files inside a document as entries; two of one name are told apart by a number."""
    found: dict[str, bytes] = {}
    for attachment in attachments:
        stem, dot, suffix = attachment.name.rpartition(".")
        name, number = attachment.name, 1
        while name in found:
            number += 1
            name = f"{stem}-{number}{dot}{suffix}" if stem else f"{attachment.name}-{number}"
        found[name] = attachment.data
    return [
        (
            SourceEntry(
                id=DocumentId(f"{parent.id}{INSIDE}{name}"),
                uri=f"{parent.uri}#{quote(name)}",
                revision=parent.revision,
                size=len(data),
                readable_by=parent.readable_by,
                version=parent.version,
            ),
            data,
        )
        for name, data in found.items()
    ]
