"""From bytes to text: the decoder ladder, from the surest sign of an encoding to a statistical guess.

Byte-order mark, ISO-2022 escapes, the pattern of NUL bytes in UTF-16 and UTF-32, strict UTF-8, then a guess
among the legacy encodings in real use. The decoder that was used is part of a document's provenance.
"""

from __future__ import annotations

import codecs
import re

from seamline.ingest import euc_tw

_BOMS = (  # UTF-32 first: its little-endian mark starts with that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
LEGACY = (
    "cp1252", "cp1251", "koi8_r", "koi8_u", "gb18030", "big5hkscs", "cp932", "euc_jp", "cp949", "johab",
    "cp1250", "iso8859_2", "cp1253", "cp1254", "cp1255", "cp1256", "iso8859_6", "cp1257", "cp1258", "cp874",
    "cp866", "mac_roman",
)  # fmt: skip
"""Encodings that a guess may name; where two explain the bytes equally well, the earlier one wins."""

_SAMPLE = 32_768
_NON_ASCII = re.compile(rb"[\x80-\xff]")
_UTF8_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)  # close enough to count valid sequences; decoding itself is Python's


def decode(data: bytes) -> tuple[str, str]:
    """The text of ``data`` and the name of the decoder. Bytes that mean nothing become U+FFFD."""
    return from_marks(data) or _strict(data, "utf-8") or damaged_utf8(data) or guess(data)


def from_marks(data: bytes) -> tuple[str, str] | None:
    """Decode by signs that leave no doubt: a byte-order mark, ISO-2022 escapes, the pattern of NUL bytes."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace"), name
    return _iso_2022(data) or _wide(data)


def guess(data: bytes) -> tuple[str, str]:
    """Decode by statistics; the last resort is cp1252 with U+FFFD for what it does not define."""
    for name, _ in ranked(data):
        decoded = _strict(data, name)
        if decoded is not None:
            return decoded
        # A sample cannot show a broken byte elsewhere: one in a thousand is damage, more is a wrong guess.
        text = data.decode(name, "replace")
        if text.count("\ufffd") * 1000 <= len(text):
            return text, name
    return euc_tw.decode(data) or (data.decode("cp1252", "replace"), "cp1252")


def ranked(data: bytes) -> list[tuple[str, float]]:
    """Legacy encodings that explain a sample of ``data`` with their chaos in [0, 1], the likeliest first."""
    from charset_normalizer import from_bytes

    matches = from_bytes(_sample(data), cp_isolation=list(LEGACY), preemptive_behaviour=False, enable_fallback=False)
    found = [
        (round(match.chaos, 2), -round(match.coherence, 1), LEGACY.index(name), name)
        for match in matches
        for name in match.could_be_from_charset  # several encodings may read the sample alike
        if name in LEGACY
    ]
    return [(name, chaos) for chaos, _, _, name in sorted(found)]


def damaged_utf8(data: bytes) -> tuple[str, str] | None:
    """UTF-8 with a few broken bytes: at most one for every twenty good sequences."""
    good = sum(1 for _ in _UTF8_SEQUENCE.finditer(data))
    if good < 20:
        return None
    text = data.decode("utf-8", "replace")
    return (text, "utf-8") if text.count("\ufffd") * 20 <= good else None


def _strict(data: bytes, name: str) -> tuple[str, str] | None:
    try:
        return data.decode(name), name
    except UnicodeDecodeError:
        return None


def _iso_2022(data: bytes) -> tuple[str, str] | None:
    if b"\x1b$" not in data and b"\x1b(" not in data:
        return None
    for name in ("iso2022_jp", "iso2022_kr", "iso2022_jp_2", "iso2022_jp_3"):
        decoded = _strict(data, name)
        if decoded is not None and not decoded[0].isascii():
            return decoded
    return None


def _wide(data: bytes) -> tuple[str, str] | None:
    """UTF-16 or UTF-32 without a mark: NUL bytes keep to the high half of the units."""
    head = data[:_SAMPLE]
    if 0 not in head or len(data) < 4:
        return None
    lanes = [head[lane::4].count(0) * 4 / len(head) for lane in range(4)]
    if len(data) % 4 == 0 and lanes[2] > 0.9 and lanes[3] > 0.9 and lanes[0] < 0.2:
        return _strict(data, "utf-32-le")
    if len(data) % 4 == 0 and lanes[0] > 0.9 and lanes[1] > 0.9 and lanes[3] < 0.2:
        return _strict(data, "utf-32-be")
    even, odd = lanes[0] + lanes[2], lanes[1] + lanes[3]
    if max(even, odd) > 0.02 and min(even, odd) <= max(even, odd) / 10:
        decoded = _strict(data[: len(data) // 2 * 2], "utf-16-le" if odd > even else "utf-16-be")
        if decoded is not None and _plausible(decoded[0]):
            return decoded
    return None


def _plausible(text: str) -> bool:
    sample = text[:_SAMPLE]
    return sum(char.isprintable() or char.isspace() for char in sample) >= 0.95 * len(sample)


def _sample(data: bytes) -> bytes:
    """A bounded piece around the first byte that is not ASCII, cut where no multi-byte character is."""
    found = _NON_ASCII.search(data)
    first = found.start() if found else 0
    sample = data[max(0, first - 200) : first + _SAMPLE]
    if first + _SAMPLE < len(data):
        # No legacy encoding uses bytes below 0x30 inside a character.
        cut = next((i for i in range(len(sample) - 1, len(sample) // 2, -1) if sample[i] < 0x30), len(sample))
        sample = sample[:cut]
    return sample
