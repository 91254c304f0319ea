"""From an answer's text to citations with exact source spans.

Each sentence is checked against each passage that it names. The verdict and the span come from the injected
``SupportChecker``; what no passage supports is reported, and on request removed. Nothing is guessed: a
sentence without a mark gets no citation, and a page is stated only for a span inside its chunk.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from seamline.generate.citations import CitedText, Mark
from seamline.generate.prompt import shown
from seamline.ports import SentenceSplitter, SupportChecker
from seamline.types import Citation, Passage

_MARKS_THEN_WORD = re.compile(r"(?:\[\d+\])*\w")


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the answer: its span with its marks, its words without them, and the passages it names."""

    start: int
    end: int
    words: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """Checked text. ``unsupported`` are the spans of sentences without a citation that holds."""

    text: str
    citations: tuple[Citation, ...]
    unsupported: tuple[tuple[int, int], ...]


def resolve(
    cited: CitedText,
    passages: Sequence[Passage],
    *,
    checker: SupportChecker,
    splitter: SentenceSplitter,
    remove: bool,
) -> Resolution:
    """Check every sentence; ``remove`` deletes the cited ones that no named passage supports."""
    languages = {passage.chunk.language for passage in passages}
    language = languages.pop() if len(languages) == 1 else None
    citations: list[Citation] = []
    unsupported: list[tuple[int, int]] = []
    dropped: list[tuple[int, int]] = []
    for claim in claims(cited, splitter, language):
        found = [_cite(number, passages[number - 1], claim, checker) for number in claim.numbers]
        holds = any(citation.support != "unsupported" for citation in found)
        if remove and found and not holds:
            dropped.append((claim.start, claim.end))
            continue
        citations += found
        if not holds:
            unsupported.append((claim.start, claim.end))
    return _without(dropped, Resolution(cited.text, tuple(citations), tuple(unsupported)))


def claims(cited: CitedText, splitter: SentenceSplitter, language: str | None) -> list[Claim]:
    """The sentences of an answer, each with the marks in it or right after it.

    A mark at the start of a line belongs to the sentence that follows, any other to the one before it.
    """
    plain, origin = _unmarked(cited)
    spans = [(start, end) for start, end in _sentences(plain, origin, cited, splitter, language) if start < end]
    marks: list[list[Mark]] = [[] for _ in spans]
    lone: list[Mark] = []
    for mark in cited.marks:
        index = _owner(mark, spans, plain, origin)
        (lone if index is None else marks[index]).append(mark)
    found = [
        Claim(
            min([origin[start], *(mark.start for mark in own)]),
            max([origin[end - 1] + 1, *(mark.end for mark in own)]),
            plain[start:end],
            tuple(dict.fromkeys(number for mark in own for number in mark.numbers)),
        )
        for (start, end), own in zip(spans, marks, strict=True)
    ]
    found += [Claim(mark.start, mark.end, "", mark.numbers) for mark in lone]
    return sorted(found, key=lambda claim: (claim.start, claim.end))


def _unmarked(cited: CitedText) -> tuple[str, list[int]]:
    """The text without marks and the blanks before them, and where each character came from."""
    kept: list[int] = []
    position = 0
    for mark in cited.marks:
        gap = cited.text[position : mark.start]
        kept += range(position, position + len(gap.rstrip(" \t")))
        # Blanks stay where the mark is followed by a word: they are all that parts it from the one before.
        if _MARKS_THEN_WORD.match(cited.text, mark.end):
            kept += range(position + len(gap.rstrip(" \t")), mark.start)
        position = mark.end
    kept += range(position, len(cited.text))
    return "".join(cited.text[place] for place in kept), kept


def _sentences(
    plain: str, origin: Sequence[int], cited: CitedText, splitter: SentenceSplitter, language: str | None
) -> Iterator[tuple[int, int]]:
    """Sentence spans in the unmarked text; a blank line, or a line that ends in a mark, always ends one."""
    ends = {mark.end for mark in cited.marks}
    start = 0
    for line_end in re.finditer(r"\n\s*|\Z", plain):
        at = line_end.start()
        blank_line = line_end[0].count("\n") > 1
        marked = at < len(plain) and origin[at] in ends
        if blank_line or marked or at == len(plain):
            piece = plain[start:at]
            yield from ((start + left, start + right) for left, right in splitter.sentences(piece, language))
            start = at


def _owner(mark: Mark, spans: Sequence[tuple[int, int]], plain: str, origin: Sequence[int]) -> int | None:
    at = bisect_left(origin, mark.end)
    line_start = not plain[:at].rpartition("\n")[2].strip()
    before = [index for index, (start, _) in enumerate(spans) if start < at]
    following = next((index for index, (start, _) in enumerate(spans) if start >= at), None)
    if line_start and following is not None and "\n" not in plain[at : spans[following][0]]:
        return following
    return before[-1] if before else following


def _cite(number: int, passage: Passage, claim: Claim, checker: SupportChecker) -> Citation:
    text, text_start = shown(passage)
    support, left, right = checker(claim.words, text)
    if not 0 <= left <= right <= len(text):
        raise ValueError(f"the support checker returned span {left}:{right} of a text of {len(text)} characters")
    if left == right:
        # No span supports it: the citation then points at the passage that was named, and says unsupported.
        support, left, right = "unsupported", 0, len(text)
    chunk = passage.chunk
    start, end = text_start + left, text_start + right
    inside = chunk.char_start <= start and end <= chunk.char_end
    return Citation(
        number=number,
        document_id=chunk.document_id,
        chunk_id=chunk.id,
        char_start=start,
        char_end=end,
        quote=text[left:right],
        document_sha256=chunk.document_sha256,
        source_uri=chunk.source_uri,
        title=chunk.title,
        heading_path=chunk.heading_path,
        pages=chunk.pages_of(start, end) if inside else (),
        answer_start=claim.start,
        answer_end=claim.end,
        support=support,
    )


def _without(dropped: Sequence[tuple[int, int]], resolution: Resolution) -> Resolution:
    """Delete spans of the text (ordered) with the blanks before them, and move all other spans along."""
    if not dropped:
        return resolution
    text = resolution.text
    gone: set[int] = set()
    for start, end in dropped:
        while start > 0 and text[start - 1] in " \t":
            start -= 1
        gone.update(range(start, end))
    moved = [0]
    for place in range(len(text)):
        moved.append(moved[-1] + (place not in gone))
    return Resolution(
        "".join(char for place, char in enumerate(text) if place not in gone),
        tuple(
            replace(citation, answer_start=moved[citation.answer_start], answer_end=moved[citation.answer_end])
            for citation in resolution.citations
        ),
        tuple((moved[start], moved[end]) for start, end in resolution.unsupported),
    )
