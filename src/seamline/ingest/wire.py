"""What parent and parser child say to each other over their pipes: frames of JSON and raw bytes, never pickle.

A frame is two lengths (header: 4 bytes, body: 8 bytes, big endian), the header as JSON, the body as it is.
The parent trusts no frame: lengths are bounded and every value is checked before it becomes a ``Parsed``.
"""

from __future__ import annotations

import json
import struct
from itertools import pairwise
from typing import Any, BinaryIO, get_args

from seamline.ports import Parsed
from seamline.types import Attachment, Block, BlockKind, Page, ParseStatus, PlaceUnit, Quality

_LENGTHS = struct.Struct(">IQ")
_KINDS = frozenset(get_args(BlockKind))
_UNITS = frozenset(get_args(PlaceUnit))


class FrameError(Exception):
    """A frame that is cut short, too long, or not what was agreed on."""


def send(stream: BinaryIO, header: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame."""
    encoded = json.dumps(header, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    stream.write(_LENGTHS.pack(len(encoded), len(body)) + encoded)
    stream.write(body)
    stream.flush()


def receive(stream: BinaryIO, *, most: int) -> tuple[dict[str, Any], bytes] | None:
    """Read one frame of at most ``most`` bytes; ``None`` where the stream ends before one begins."""
    lengths = stream.read(_LENGTHS.size)
    if not lengths:
        return None
    if len(lengths) < _LENGTHS.size:
        raise FrameError("the frame is cut short")
    header_size, body_size = _LENGTHS.unpack(lengths)
    if header_size + body_size > most:
        raise FrameError(f"a frame of {header_size + body_size} bytes, over the limit of {most}")
    encoded, body = stream.read(header_size), stream.read(body_size)
    if len(encoded) < header_size or len(body) < body_size:
        raise FrameError("the frame is cut short")
    try:
        header = json.loads(encoded)
    except ValueError as error:
        raise FrameError("the header is not JSON") from error
    if not isinstance(header, dict):
        raise FrameError("the header is not an object")
    return header, body


def from_parsed(parsed: Parsed) -> tuple[dict[str, Any], bytes]:
    """A ``Parsed`` as header and body."""
    quality = parsed.quality
    header = {
        "media_type": parsed.media_type,
        "blocks": [[b.kind, b.char_start, b.char_end, b.level, b.title, b.group] for b in parsed.blocks],
        "pages": [[p.index, p.label, p.char_start, p.char_end, p.unit] for p in parsed.pages],
        "title": parsed.title,
        "language": parsed.language,
        "metadata": dict(parsed.metadata),
        "decoder": parsed.decoder,
        "quality": None if quality is None else {name: getattr(quality, name) for name in Quality.__slots__},
        "status": str(parsed.status),
        "reason": parsed.reason,
    }
    text = parsed.text.encode("utf-8", "replace")
    header["attachments"] = [[item.name, len(item.data)] for item in parsed.attachments]
    return header, b"".join([text, *(item.data for item in parsed.attachments)])


def to_parsed(header: dict[str, Any], body: bytes) -> Parsed:
    """The ``Parsed`` of a header and a body; raises ``FrameError`` where they contradict the contract."""
    try:
        attachments = _attachments(header["attachments"], body)
        text = body[: len(body) - sum(len(item.data) for item in attachments)].decode()
        blocks = tuple(
            Block(kind=kind, char_start=start, char_end=end, level=level, title=title, group=group)
            for kind, start, end, level, title, group in header["blocks"]
        )
        pages = tuple(
            Page(index=index, label=label, char_start=start, char_end=end, unit=unit)
            for index, label, start, end, unit in header["pages"]
        )
        parsed = Parsed(
            text=text,
            media_type=str(header["media_type"]),
            blocks=blocks,
            pages=pages,
            title=_text(header["title"]),
            language=_text(header["language"]),
            metadata={str(k): v for k, v in header["metadata"].items() if isinstance(v, str | int | float)},
            decoder=_text(header["decoder"]),
            quality=None if header["quality"] is None else Quality(**header["quality"]),
            status=ParseStatus(header["status"]),
            reason=_text(header["reason"]),
            attachments=attachments,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FrameError(f"not a parser's answer ({type(error).__name__})") from error
    if any(block.kind not in _KINDS for block in blocks):
        raise FrameError("a block of an unknown kind")
    if any(page.unit not in _UNITS for page in pages):
        raise FrameError("a place of an unknown unit")
    for name, ranges in (("blocks", blocks), ("pages", pages)):
        check_ranges(name, [(item.char_start, item.char_end) for item in ranges], len(text))
    return parsed


def _attachments(sizes: list[list[Any]], body: bytes) -> tuple[Attachment, ...]:
    """The files behind the text, whose sizes the header names; raises ``ValueError`` where they do not fit."""
    position = len(body) - sum(int(size) for _, size in sizes)
    found = []
    for name, size in sizes:
        if position < 0 or size < 0:
            raise ValueError("attachments reach outside the body")
        found.append(Attachment(name=str(name), data=body[position : position + size]))
        position += size
    return tuple(found)


def check_ranges(name: str, ranges: list[tuple[int, int]], length: int) -> None:
    """Raise ``FrameError`` unless ranges are whole, ordered, apart, and inside a text of ``length``."""
    if not all(type(start) is int and type(end) is int and 0 <= start < end <= length for start, end in ranges):
        raise FrameError(f"{name} reach outside the text")
    if any(before[1] > after[0] for before, after in pairwise(ranges)):
        raise FrameError(f"{name} overlap or are out of order")


def _text(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError("a string was expected")
    return value
