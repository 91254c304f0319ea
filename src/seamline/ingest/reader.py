"""From a source's entry and its bytes to a ``Document``."""

from __future__ import annotations

from types import TracebackType

from seamline.fingerprint import sha256_bytes, sha256_text
from seamline.ingest.language import VERSION as LANGUAGE_VERSION
from seamline.ingest.language import detect
from seamline.ingest.sandbox import ParseLimits, ParserChild
from seamline.types import Document, Provenance, Quality, SourceEntry


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
        extracted = self._child.parse(data, filename=entry.id, media_type=entry.media_type)
        parsed = extracted.parsed
        stated = entry.metadata.get("language") or parsed.language
        language, confidence = (str(stated), None) if stated else detect(parsed.text)
        return Document(
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
            blocks=parsed.blocks,
            pages=parsed.pages,
            readable_by=entry.readable_by,
            metadata={**parsed.metadata, **entry.metadata},
            version=entry.version,
            status=parsed.status,
            status_reason=parsed.reason,
        )
