"""Which language a text is in: by its script where that decides, else by py3langid. Deterministic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from seamline.types import Block

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

VERSION = f"2+py3langid-{version('py3langid')}"
MIN_LETTERS = 20
"""Letters below which nothing is claimed. A Han, Kana or Hangul character counts as three."""

_SAMPLE = 20_000
_LETTER = re.compile(r"[^\W\d_]")
_SCRIPTS = {
    "han": re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]"),
    "kana": re.compile("[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]"),
    "hangul": re.compile("[\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3]"),
    "thai": re.compile("[\u0e01-\u0e3a\u0e40-\u0e4e]"),
    "lao": re.compile("[\u0e81-\u0eba\u0ec0-\u0ecd]"),
    "khmer": re.compile("[\u1780-\u17d3]"),
    "burmese": re.compile("[\u1000-\u104f]"),
    "devanagari": re.compile("[\u0900-\u0963]"),
    "bengali": re.compile("[\u0980-\u09e3]"),
    "gurmukhi": re.compile("[\u0a01-\u0a65]"),
    "gujarati": re.compile("[\u0a81-\u0ae3]"),
    "oriya": re.compile("[\u0b01-\u0b63]"),
    "tamil": re.compile("[\u0b82-\u0bd7]"),
    "telugu": re.compile("[\u0c00-\u0c63]"),
    "kannada": re.compile("[\u0c80-\u0ce3]"),
    "malayalam": re.compile("[\u0d00-\u0d63]"),
    "sinhala": re.compile("[\u0d81-\u0df3]"),
    "arabic": re.compile("[\u0620-\u064a\u066e-\u06d3\u0750-\u077f\ufb50-\ufdfb\ufe70-\ufefc]"),
    "hebrew": re.compile("[\u05d0-\u05f2]"),
    "greek": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "cyrillic": re.compile("[\u0400-\u052f]"),
    "georgian": re.compile("[\u10a0-\u10ff]"),
    "armenian": re.compile("[\u0531-\u0587]"),
    "ethiopic": re.compile("[\u1200-\u135a]"),
}
_DENSE = frozenset({"han", "kana", "hangul"})
_ONE_LANGUAGE = {
    "hangul": "ko", "thai": "th", "lao": "lo", "khmer": "km", "burmese": "my", "bengali": "bn", "gurmukhi": "pa",
    "gujarati": "gu", "oriya": "or", "tamil": "ta", "telugu": "te", "kannada": "kn", "malayalam": "ml",
    "sinhala": "si", "hebrew": "he", "greek": "el", "georgian": "ka", "armenian": "hy", "ethiopic": "am",
}  # fmt: skip
_SHARED = {
    "devanagari": ("hi", "mr", "ne"),
    "arabic": ("ar", "fa", "ku", "ps", "ug", "ur"),
    "cyrillic": ("be", "bg", "kk", "ky", "mk", "mn", "ru", "sr", "uk"),
}


def detect(text: str) -> tuple[str | None, float]:
    """The BCP-47 primary tag and a confidence in [0, 1]; ``(None, 0.0)`` for a text too short to tell."""
    sample = text[:_SAMPLE]
    weights = {
        script: len(pattern.findall(sample)) * (3 if script in _DENSE else 1)
        for script, pattern in _SCRIPTS.items()
        if not sample.isascii()
    }
    letters = len(_LETTER.findall(sample))
    total = letters + sum(weights.get(script, 0) * 2 // 3 for script in _DENSE)
    if total < MIN_LETTERS:
        return None, 0.0
    east_asian = weights.get("han", 0) + weights.get("kana", 0)
    if east_asian * 2 > total:
        # Japanese prose is never without kana; a few in a Chinese text are quotations.
        japanese = weights["kana"] * 10 >= east_asian
        return ("ja" if japanese else "zh"), min(1.0, east_asian / total)
    script, weight = max(weights.items(), key=lambda item: item[1], default=("", 0))
    if weight * 2 <= total:
        return _latin(sample)
    if script in _ONE_LANGUAGE:
        return _ONE_LANGUAGE[script], min(1.0, weight / total)
    return _among(sample, script)


def _latin(sample: str) -> tuple[str | None, float]:
    language, confidence = _identifier().classify(_LATIN_NOISE.sub(" ", sample))
    return str(language), float(confidence)


_LATIN_NOISE = re.compile(r"https?://\S+|[\d_]+")


def _among(sample: str, script: str) -> tuple[str | None, float]:
    candidates = _SHARED.get(script)
    if candidates is None:  # Han that is not the larger half
        return _latin(sample)
    scores = {language: float(score) for language, score in _identifier().rank(sample) if language in candidates}
    best = max(scores, key=lambda language: (scores[language], language))
    total = sum(scores.values())
    return best, scores[best] / total if total > 0 else 0.0


WINDOW = 600
"""Characters of neighbouring blocks that are judged together: shorter pieces are told apart by luck."""
SURE = 0.9


def mark_blocks(text: str, blocks: Sequence[Block], language: str | None) -> tuple[Block, ...]:
    """The blocks, those in another language than the document's marked with it.

    Blocks are judged in runs of at least ``WINDOW`` characters that do not cross a heading, and only a confidence of
    ``SURE`` counts; a document of one such run is in its own language.
    """
    if language is None or len(text) < 2 * WINDOW:
        return tuple(blocks)
    marked: list[Block] = []
    for run in _runs(blocks):
        found, confidence = detect("\n".join(text[block.char_start : block.char_end] for block in run))
        other = found if found is not None and found != language and confidence >= SURE else None
        marked.extend(run if other is None else [replace(block, language=other) for block in run])
    return tuple(marked)


def _runs(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    run: list[Block] = []
    size = 0
    for block in blocks:
        if run and (size >= WINDOW or block.kind == "heading"):
            yield run
            run, size = [], 0
        run.append(block)
        size += block.char_end - block.char_start
    if run:
        yield run


@cache
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    # The rarer languages, with tags of three letters, win on noise more often than on their own texts.
    identifier.set_languages([label for label in identifier.labels if len(label) == 2])
    return identifier
