"""Citation marks in a streamed answer: found, checked, and rewritten to one canonical form.

``[1]``, ``[1, 2]``, ``[1-3]``, ``[1][2]`` and their full-width forms become ``[1]``, ``[1][2]``... Numbers that
name no passage are removed and counted. Code spans and fenced code pass as they are: nothing in them is a
citation. The outcome does not depend on how the text was cut into pieces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LONGEST_MARK = 200
"""Characters; a bracket that stays open for longer is ordinary text."""

_OPEN, _CLOSE = r"\[［【", r"\]］】"
_NUMBER = r"[^\S\n]*\d+[^\S\n]*"
_BODY = rf"{_NUMBER}(?:[,，、;；–-]{_NUMBER})*"
MARK = re.compile(rf"[{_OPEN}](?P<body>{_BODY})[{_CLOSE}]")
"""A complete citation mark."""

_PARTIAL = re.compile(rf"[{_OPEN}](?:[\d,，、;；–-]|[^\S\n])*\Z")
_LOOSE_MARK = re.compile(rf"(?P<blanks>[^\S\n]*){MARK.pattern}")
_SPACE = re.compile(r"[^\S\n]+")
_PLAIN = re.compile(rf"[^{_OPEN}`~\s]+|\n")
_FENCE_OPEN = re.compile(r" {0,3}(?P<run>`{3,}(?=[^`\n]*(?:\n|\Z))|~{3,})[^\n]*(?:\n|\Z)")
_MAYBE_FENCE = re.compile(r" {0,3}(?:`{0,3}|~{0,3})\Z")
_ELISION = "…"


@dataclass(frozen=True, slots=True)
class Mark:
    """A canonical mark at ``start:end`` of the answer's text, naming existing passages (from 1)."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CitedText:
    """Text with its marks in order; ``removed`` counts the numbers that named no passage."""

    text: str
    marks: tuple[Mark, ...]
    code: tuple[tuple[int, int], ...]
    removed: int


@dataclass(slots=True)
class CitationParser:
    """Reads an answer piece by piece and never lets part of a mark through. ``passages`` is how many exist."""

    passages: int
    _buffer: str = ""
    _fence: str = ""
    _line_start: bool = True
    _length: int = 0
    _tail: str = ""
    _removed: int = 0
    _parts: list[str] = field(default_factory=list)
    _marks: list[Mark] = field(default_factory=list)
    _code: list[tuple[int, int]] = field(default_factory=list)

    def feed(self, text: str) -> str:
        """Take a piece; return the text that is now certain (maybe none)."""
        self._buffer += text
        return self._drain(final=False)

    def close(self) -> str:
        """Return what was held back, now that no more text comes."""
        return self._drain(final=True)

    def result(self) -> CitedText:
        """Everything returned so far, with its marks."""
        return CitedText("".join(self._parts), tuple(self._marks), tuple(self._code), self._removed)

    def _drain(self, *, final: bool) -> str:
        first = len(self._parts)
        position = 0
        while position < len(self._buffer):
            taken = self._step(self._buffer, position, final)
            if taken == 0:
                break
            position += taken
        self._buffer = self._buffer[position:]
        return "".join(self._parts[first:])

    def _step(self, text: str, at: int, final: bool) -> int:
        """Consume one token at ``at`` and return its length; 0 when more text is needed to tell."""
        if self._fence:
            return self._fenced_line(text, at, final)
        if self._line_start and (taken := self._open_fence(text, at, final)) is not None:
            return taken
        if plain := _PLAIN.match(text, at):
            return self._emit(plain[0])
        if text[at] == "`":
            return self._inline_code(text, at, final)
        return self._mark(text, at, final)

    def _fenced_line(self, text: str, at: int, final: bool) -> int:
        end = text.find("\n", at) + 1
        if not end:
            if not final:
                return 0
            end = len(text)
        line = text[at:end]
        stripped = line.strip()
        if len(stripped) >= len(self._fence) and set(stripped) == {self._fence[0]} and line[:4].strip():
            self._fence = ""
        return self._emit(line, code=True)

    def _open_fence(self, text: str, at: int, final: bool) -> int | None:
        """Length of an opening fence's line, 0 when undecided, ``None`` when there is no fence here."""
        if not final and "\n" not in text[at:]:
            rest = text[at:].lstrip(" ")
            return 0 if _MAYBE_FENCE.match(text, at) or rest.startswith(("```", "~~~")) else None
        opening = _FENCE_OPEN.match(text, at)
        if opening is None:
            return None
        self._fence = opening["run"]
        return self._emit(opening[0], code=True)

    def _inline_code(self, text: str, at: int, final: bool) -> int:
        line_end = text.find("\n", at)
        stop = len(text) if line_end < 0 else line_end
        run = len(text[at:stop]) - len(text[at:stop].lstrip("`"))
        for closing in re.finditer(r"`+", text[at + run : stop]):
            length = closing.end() - closing.start()
            complete = final or line_end >= 0 or at + run + closing.end() < stop
            if length == run and complete:
                return self._emit(text[at : at + run + closing.end()], code=True)
        if line_end < 0 and not final:
            return 0
        return self._emit(text[at : at + run])

    def _mark(self, text: str, at: int, final: bool) -> int:
        """A mark with the blanks before it; else the blanks, or one character, as ordinary text."""
        found = _LOOSE_MARK.match(text, at)
        if found and len(found["body"]) <= LONGEST_MARK:
            return self._resolve(found)
        blanks = _SPACE.match(text, at)
        after = blanks.end() if blanks else at
        undecided = after == len(text) or (_PARTIAL.match(text, after) and len(text) - after <= LONGEST_MARK + 1)
        if undecided and not final:
            return 0
        return self._emit(blanks[0] if blanks else text[at])

    def _resolve(self, found: re.Match[str]) -> int:
        named = _numbers(found["body"], self.passages)
        valid = tuple(dict.fromkeys(number for number in named if 1 <= number <= self.passages))
        self._removed += len(named) - sum(1 <= number <= self.passages for number in named)
        if valid:
            self._emit(found["blanks"])
            start = self._length
            self._emit("".join(f"[{number}]" for number in valid))
            self._marks.append(Mark(start, self._length, valid))
        elif _PARTIAL.search(self._tail):
            # Closing the gap could join what stands on both sides into a mark that nobody checked.
            self._emit(_ELISION)
        return len(found[0])

    def _emit(self, text: str, *, code: bool = False) -> int:
        """Let text through, except for blanks before the first word; return the length that it had."""
        kept = text if self._length else text.lstrip()
        if kept:
            if code:
                self._code.append((self._length, self._length + len(kept)))
            self._parts.append(kept)
            self._length += len(kept)
            self._tail = (self._tail + kept)[-LONGEST_MARK - 1 :]
        if text:
            self._line_start = text.endswith("\n")
        return len(text)


def parse_citations(text: str, passages: int) -> CitedText:
    """Parse a whole text at once; the same as feeding it in any pieces."""
    parser = CitationParser(passages)
    parser.feed(text)
    parser.close()
    return parser.result()


def _numbers(body: str, passages: int) -> list[int]:
    """The numbers that a mark names; a range is spelled out as far as one number beyond the passages."""
    found: list[int] = []
    for part in re.split(r"[,，、;；]", body):
        ends = [int(number) for number in re.split(r"[–-]", part)]
        first, last = ends[0], ends[-1]
        found.extend(range(first, min(last, max(first, passages + 1)) + 1) if first <= last else ends)
    return found
