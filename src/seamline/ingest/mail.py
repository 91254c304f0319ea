"""Messages: the text that a reader sees, once, headers as metadata, and what is attached."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Mapping
from dataclasses import replace
from email.errors import MessageError
from email.message import Message
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from typing import Any

from seamline.ingest import decode as ladder
from seamline.ingest.blocks import paragraphs
from seamline.ingest.clean import clean
from seamline.ingest.html import decode_html
from seamline.ingest.html_walk import read_page
from seamline.ingest.layout import Layout
from seamline.ingest.office import laid_out
from seamline.ports import Parsed
from seamline.types import Attachment, MetadataValue, ParseStatus

MOST_PARTS = 2000
MOST_DEPTH = 10
_HEADERS = {"from": "from", "to": "to", "cc": "cc", "reply-to": "reply_to", "message-id": "message_id"}
_ENCRYPTED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})


class MailParser:
    """Reads ``.eml`` and ``.mhtml``; a place of its text is a part of the message."""

    name = "mail"
    media_types = frozenset({"message/rfc822", "multipart/related"})

    def __init__(self) -> None:
        self.version = f"1+resiliparse-{version('resiliparse')}"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract; messages inside the message are read with it, other files are its attachments."""
        wide = ladder.from_marks(data)
        message = email.message_from_bytes(wide[0].encode() if wide else data, policy=email.policy.default)
        reading = MessageReading()
        metadata = headers(message)
        subject = header(message, "subject")
        if media_type == "multipart/related":
            reading.web_archive(message)
        else:
            reading.read(message, 0)
        if reading.encrypted and not reading.layout.blocks:
            reason = "the message is encrypted"
            return Parsed(
                text="", media_type=media_type, status=ParseStatus.ENCRYPTED, reason=reason, metadata=metadata
            )
        parsed = laid_out(reading.layout, media_type, title=subject, metadata=metadata)
        return with_attachments(parsed, reading.attachments)


class MessageReading:
    """Lays a message's parts out and gathers what is attached."""

    def __init__(self) -> None:
        self.layout = Layout()
        self.attachments: list[Attachment] = []
        self.encrypted = False
        self._parts = 0

    def read(self, message: Message[Any, Any], depth: int) -> None:
        """One part and those inside it; of alternatives the plain text, unless it is blank."""
        self._parts += 1
        kind = message.get_content_type()
        if self._parts > MOST_PARTS or depth > MOST_DEPTH or self.layout.full:
            return
        if kind in _ENCRYPTED and "signed" not in str(message.get_param("smime-type", "")):
            self.encrypted = True
        elif kind == "multipart/alternative":
            self._alternative(_children(message), depth)
        elif kind == "multipart/related":
            for number, part in enumerate(_children(message)):
                if number == 0 or part.get_content_disposition() == "attachment":
                    self.read(part, depth + 1)
        elif kind == "message/rfc822" or kind == "message/global":
            for inner in _children(message):
                self.layout.add("heading", header(inner, "subject") or "Message", level=min(9, depth + 1))
                self.read(inner, depth + 1)
        elif message.is_multipart():
            for part in _children(message):
                self.read(part, depth + 1)
        else:
            self._leaf(message, kind)

    def web_archive(self, message: Message[Any, Any]) -> None:
        """A saved web page: its first page; pictures and styles are no attachments."""
        page = next((part for part in message.walk() if part.get_content_type() in ("text/html", "text/plain")), None)
        if page is not None:
            self._leaf(page, page.get_content_type())

    def _alternative(self, parts: list[Message[Any, Any]], depth: int) -> None:
        plain = next((part for part in parts if part.get_content_type() == "text/plain"), None)
        if plain is not None and _decoded(plain).strip():
            self.read(plain, depth + 1)
        else:
            for part in [part for part in parts if part is not plain][-1:]:
                self.read(part, depth + 1)
        for part in parts:  # a calendar entry or a file among alternatives
            if part.get_content_disposition() == "attachment":
                self.read(part, depth + 1)

    def _leaf(self, part: Message[Any, Any], kind: str) -> None:
        name = part.get_filename()
        if part.get_content_disposition() == "attachment" or not kind.startswith("text/") or kind == "text/calendar":
            data = _bytes(part)
            if data:
                self.attachments.append(Attachment(name=_named(name, kind, len(self.attachments)), data=data))
            return
        with self.layout.place("part", f"part {self._parts}: {kind}"):
            if kind == "text/html":
                self.add_html(_bytes(part), str(part.get_param("charset", "")) or None)
            else:
                self.add_plain(_decoded(part))

    def add_html(self, data: bytes, charset: str | None) -> None:
        """An HTML body; the charset of the header is believed where the bytes agree."""
        declared = _try(data, charset)
        page = read_page(clean(declared if declared is not None else decode_html(data)[0]).text)
        for block in page.blocks:
            self.layout.add(block.kind, page.text[block.char_start : block.char_end], level=block.level)

    def add_plain(self, text: str) -> None:
        """A plain body, paragraph by paragraph; quoted lines are kept."""
        cleaned = clean(text).text
        for block in paragraphs(cleaned):
            self.layout.add("paragraph", cleaned[block.char_start : block.char_end])


def with_attachments(parsed: Parsed, attachments: list[Attachment]) -> Parsed:
    """The result with what is attached; a message of attachments alone is not blank."""
    metadata = dict(parsed.metadata)
    if attachments:
        metadata["attachments"] = ", ".join(attachment.name for attachment in attachments)
    return replace(parsed, attachments=tuple(attachments), metadata=metadata)


def headers(message: Message[Any, Any]) -> dict[str, MetadataValue]:
    """Who wrote it to whom and when (ISO 8601)."""
    found: dict[str, MetadataValue] = {}
    for name, key in _HEADERS.items():
        said = header(message, name)
        if said:
            found[key] = said
    date = header(message, "date")
    if date:
        try:
            found["date"] = parsedate_to_datetime(date).isoformat()
        except (ValueError, TypeError):
            found["date"] = date
    return found


def header(message: Message[Any, Any], name: str) -> str | None:
    """A header's text on one line; malformed ones as they are."""
    try:
        value = message.get(name)
        said = " ".join(str(value).split()) if value is not None else None
    except (MessageError, ValueError, IndexError, AttributeError, KeyError, TypeError):
        raw = next((text for key, text in message.raw_items() if key.lower() == name), None)
        said = " ".join(str(raw).split()) if raw is not None else None
    return clean(said).text or None if said else None


def _children(message: Message[Any, Any]) -> list[Message[Any, Any]]:
    payload = message.get_payload()
    return [part for part in payload if isinstance(part, Message)] if isinstance(payload, list) else []


def _bytes(part: Message[Any, Any]) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _decoded(part: Message[Any, Any]) -> str:
    data = _bytes(part)
    declared = _try(data, str(part.get_param("charset", "")) or None)
    return declared if declared is not None else ladder.decode(data)[0]


def _try(data: bytes, charset: str | None) -> str | None:
    try:
        return data.decode(charset) if charset else None
    except (LookupError, UnicodeDecodeError, ValueError):
        return None


def _named(name: str | None, kind: str, number: int) -> str:
    """A name without folders, never empty."""
    last = clean(str(name or "")).text.replace("\\", "/").rpartition("/")[2].strip()
    return last or f"attachment-{number + 1}.{kind.rpartition('/')[2]}"


def create(settings: Mapping[str, object]) -> MailParser:  # noqa: ARG001
    """The mail parser; it has no settings."""
    return MailParser()
