"""Signals of extraction quality, and the verdict that a text is garbled."""

from __future__ import annotations

import re

from seamline.types import Quality

_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")

GARBLED_SHARE = 0.2
"""Share of visible characters that stand for nothing. Real texts with a few icons or bad bytes stay below."""


def measure(text: str, *, controls: int = 0, failed_pages: int = 0) -> Quality:
    """Count the signals of a cleaned text; ``controls`` are those that cleaning removed."""
    return Quality(
        characters=len(text),
        replacement_characters=text.count("\ufffd"),
        private_use_characters=0 if text.isascii() else len(_PRIVATE.findall(text)),
        control_characters_removed=controls,
        failed_pages=failed_pages,
    )


def garbled(text: str, quality: Quality) -> str | None:
    """Why a text cannot be what its author wrote; ``None`` when nothing speaks against it.

    Only characters that stand for nothing in any script count, so that no script and no code is suspect.
    """
    bad = quality.replacement_characters + quality.private_use_characters + quality.control_characters_removed
    if bad == 0:
        return None
    visible = len("".join(text.split())) + quality.control_characters_removed
    if bad <= GARBLED_SHARE * visible:
        return None
    return (
        f"{bad} of {visible} visible characters are replacement ({quality.replacement_characters}), "
        f"private-use ({quality.private_use_characters}) or control ({quality.control_characters_removed}) characters"
    )
