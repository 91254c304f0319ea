"""Where a citation's quote stands today: a pure function over the text of the document's current version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seamline.fingerprint import sha256_text
from seamline.types import Citation

CitationStatus = Literal["intact", "moved", "changed", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """``start`` and ``end`` are where the quote stands now; ``None`` where it does not.

    ``same_version`` says whether the document's text is the one that was cited; ``None`` when it is gone.
    """

    status: CitationStatus
    start: int | None = None
    end: int | None = None
    same_version: bool | None = None


def resolve(citation: Citation, document_text: str | None) -> Resolved:
    """Look a citation up in the document's normalised text (``None``: the document does not exist).

    ``intact``: the quote stands at its span. ``moved``: the text is a new version and has the quote elsewhere
    (the place nearest to the old one is given). ``changed``: it is not there, or the citation contradicts the
    very version that it names. ``gone``: no document.
    """
    if document_text is None:
        return Resolved(status="gone")
    same = sha256_text(document_text) == citation.document_sha256
    start, end, quote = citation.char_start, citation.char_end, citation.quote
    if quote and 0 <= start < end and document_text[start:end] == quote:
        return Resolved(status="intact", start=start, end=end, same_version=same)
    place = None if same else _nearest(document_text, quote, start)
    if place is None:
        return Resolved(status="changed", same_version=same)
    return Resolved(status="moved", start=place, end=place + len(quote), same_version=same)


def _nearest(text: str, quote: str, wanted: int) -> int | None:
    """The place of the quote that is nearest to where it was."""
    if not quote:
        return None
    before = text.rfind(quote, 0, max(wanted, 0) + len(quote))
    after = text.find(quote, max(wanted, 0))
    places = [place for place in (before, after) if place >= 0]
    return min(places, key=lambda place: (abs(place - wanted), place), default=None)
