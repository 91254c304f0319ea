"""EUC-TW, for which Python has no codec: CNS 11643 plane 1 in its two-byte form, through Big5.

Planes beyond the first come as U+FFFD and count as such. The ranges are those by which Big5 and CNS 11643
plane 1 list the same characters in the same order (RFC 1922 names the character sets).
"""

from __future__ import annotations

import re

_RANGES = (  # first Big5 code, first and last CNS plane 1 code
    (0xA140, 0x2121, 0x2256), (0xA1F7, 0x2257, 0x2257), (0xA1F6, 0x2258, 0x2258), (0xA1F8, 0x2259, 0x234E),
    (0xA2AF, 0x2421, 0x2570), (0xA3C0, 0x4221, 0x4241), (0xA440, 0x4421, 0x5322), (0xAD40, 0x5323, 0x5752),
    (0xACFE, 0x5753, 0x5753), (0xAFD0, 0x5754, 0x6B4F), (0xBE52, 0x6B50, 0x6B50), (0xBBC8, 0x6B51, 0x6F5B),
    (0xBE53, 0x6F5C, 0x7534), (0xC2CB, 0x7535, 0x7535), (0xC1AB, 0x7536, 0x7736), (0xC2CC, 0x7737, 0x782C),
    (0xC456, 0x782D, 0x782D), (0xC361, 0x782E, 0x7863), (0xC3BA, 0x7864, 0x7864), (0xC3B9, 0x7865, 0x7865),
    (0xC3BB, 0x7866, 0x7961), (0xC457, 0x7962, 0x7D4B),
)  # fmt: skip
_UNIT = re.compile(rb"[\x00-\x7f]+|[\xa1-\xfe]{2}|\x8e[\xa1-\xb0][\xa1-\xfe]{2}|.", re.DOTALL)


def decode(data: bytes) -> tuple[str, str] | None:
    """Text and ``euc_tw``, when at least nine in ten characters beyond ASCII are known to plane 1."""
    parts = [_character(unit.group()) for unit in _UNIT.finditer(data)]
    beyond = [part for part in parts if not part.isascii()]
    if not beyond or beyond.count("\ufffd") * 10 > len(beyond):
        return None
    return "".join(parts), "euc_tw"


def _character(unit: bytes) -> str:
    if unit[0] < 0x80:
        return unit.decode("ascii")
    if unit[0] == 0x8E and len(unit) == 4 and unit[1] == 0xA1:
        unit = unit[2:]
    if len(unit) != 2:
        return "\ufffd"
    code = (unit[0] & 0x7F) << 8 | unit[1] & 0x7F
    for big5, first, last in _RANGES:
        if first <= code <= last:
            return _big5(big5, _ordinal(code) - _ordinal(first))
    return "\ufffd"


def _ordinal(cns: int) -> int:
    return (cns >> 8) * 94 + (cns & 0xFF) - 0x21


def _big5(start: int, offset: int) -> str:
    lead, trail = start >> 8, start & 0xFF
    index = lead * 157 + (trail - 0x40 if trail < 0x80 else trail - 0xA1 + 63) + offset
    lead, column = divmod(index, 157)
    trail = column + 0x40 if column < 63 else column - 63 + 0xA1
    return bytes((lead, trail)).decode("big5", "replace")
