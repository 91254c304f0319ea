"""Outlook messages: properties of a compound file, by their numbers (MS-OXMSG)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING

from seamline.ingest import decode as ladder
from seamline.ingest.clean import clean
from seamline.ingest.mail import MOST_DEPTH, MessageReading, with_attachments
from seamline.ingest.office import laid_out
from seamline.ingest.ole import MAIL
from seamline.ports import Parsed
from seamline.types import Attachment, MetadataValue, ParseStatus

if TYPE_CHECKING:
    from olefile import OleFileIO

_SUBJECT, _FROM, _ADDRESS, _TO, _CC, _ID = "0037", "0C1A", "0C1F", "0E04", "0E03", "1035"
_BODY, _HTML, _CLASS = "1000", "1013", "001A"
_DATA, _LONG_NAME, _SHORT_NAME = "3701", "3707", "3704"
_PROTECTED = (".rpmsg", ".p7m", ".pgp", ".pgp-encrypted")


class OutlookParser:
    """Reads ``.msg``."""

    name = "outlook"
    media_types = frozenset({MAIL})

    def __init__(self) -> None:
        self.version = f"1+olefile-{version('olefile')}"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract; messages attached to the message are read with it."""
        import olefile

        try:
            file = olefile.OleFileIO(io.BytesIO(data))
        except (OSError, ValueError, IndexError) as error:
            return Parsed(
                text="", media_type=media_type, status=ParseStatus.CORRUPT, reason=f"unreadable: {error}"[:300]
            )
        reading = MessageReading()
        with file:
            message = _Message(file, ())
            _read(message, reading, 0)
            metadata, subject = _headers(message), message.text(_SUBJECT)
            protected = [item.name for item in reading.attachments if item.name.lower().endswith(_PROTECTED)]
            smime = "smime" in (message.text(_CLASS) or "").lower()
        if protected or smime:
            reason = f"the message is encrypted ({', '.join(protected) or 'S/MIME'})"
            return Parsed(
                text="", media_type=media_type, status=ParseStatus.ENCRYPTED, reason=reason, metadata=metadata
            )
        return with_attachments(
            laid_out(reading.layout, media_type, title=subject, metadata=metadata), reading.attachments
        )


class _Message:
    """One message of the file: the root, or a storage of an attached one."""

    def __init__(self, file: OleFileIO, prefix: tuple[str, ...]) -> None:
        self._file, self._prefix = file, prefix

    def data(self, number: str, *kinds: str) -> bytes | None:
        """A property's bytes, of the first of these types that it has."""
        for kind in kinds:
            path = [*self._prefix, f"__substg1.0_{number}{kind}"]
            try:
                if self._file.exists(path):
                    return bytes(self._file.openstream(path).read())
            except (OSError, IndexError):
                return None
        return None

    def text(self, number: str) -> str | None:
        """A property's text: UTF-16, or 8-bit in an encoding that is guessed."""
        wide = self.data(number, "001F")
        if wide is not None:
            said = wide.decode("utf-16-le", "replace")
        else:
            narrow = self.data(number, "001E")
            said = ladder.decode(narrow)[0] if narrow else ""
        return clean(said).text.strip() or None

    def attachments(self) -> list[_Message]:
        """The storages of what is attached, in order."""
        depth = len(self._prefix)
        names = {
            path[depth]
            for path in self._file.listdir(streams=True, storages=True)
            if tuple(path[:depth]) == self._prefix
            and len(path) > depth
            and path[depth].startswith("__attach_version1.0_")
        }
        return [_Message(self._file, (*self._prefix, name)) for name in sorted(names)]

    def message(self) -> _Message | None:
        """The message that this attachment is; ``None`` for a file."""
        path = (*self._prefix, f"__substg1.0_{_DATA}000D")
        inner = _Message(self._file, path)
        return inner if self._file.exists(list(path)) and inner.text(_CLASS) is not None else None


def _read(message: _Message, reading: MessageReading, depth: int) -> None:
    body, html = message.text(_BODY), message.data(_HTML, "0102", "001F", "001E")
    with reading.layout.place("part", f"part {len(reading.layout.places) + 1}"):
        if body:
            reading.add_plain(body)
        elif html:
            reading.add_html(html, None)
    for attachment in message.attachments():
        inner = attachment.message()
        name = attachment.text(_LONG_NAME) or attachment.text(_SHORT_NAME)
        data = attachment.data(_DATA, "0102")
        if inner is not None and depth < MOST_DEPTH:
            reading.layout.add("heading", inner.text(_SUBJECT) or "Message", level=min(9, depth + 1))
            _read(inner, reading, depth + 1)
        elif data:
            shown = (name or f"attachment-{len(reading.attachments) + 1}").replace("\\", "/").rpartition("/")[2]
            reading.attachments.append(Attachment(name=shown, data=data))


def _headers(message: _Message) -> dict[str, MetadataValue]:
    pairs = (("from", _FROM), ("address", _ADDRESS), ("to", _TO), ("cc", _CC), ("message_id", _ID))
    return {name: said for name, number in pairs if (said := message.text(number))}


def create(settings: Mapping[str, object]) -> OutlookParser:  # noqa: ARG001
    """The Outlook parser; it has no settings."""
    return OutlookParser()
