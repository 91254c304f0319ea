"""What why-not says of a target, and what it asks of selection, which it does not know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from seamline.types import Candidate, ChunkId, DocumentId

ADMITTED = "admitted"


class Outcome(Protocol):
    """What selection did with one candidate.

    ``stage`` is ``admitted`` or where it was lost. ``setting`` and ``needed`` are the value that would take it past
    that stage, ``margin`` how far it is off, in the unit of that setting.
    """

    @property
    def stage(self) -> str:
        """``admitted``, ``rerank_candidates``, ``gate``, ``near_duplicate`` or ``limit``."""

    @property
    def rank(self) -> int | None:
        """The passage's rank when admitted, else its position in the last order, from 1, where it is known."""

    @property
    def setting(self) -> str | None:
        """The setting that the stage obeys, where one can help."""

    @property
    def needed(self) -> float | None:
        """The value of that setting that would let the candidate pass this stage."""

    @property
    def margin(self) -> float | None:
        """How much was lacking: score below the gate, places beyond the cut."""

    @property
    def absorbed_by(self) -> ChunkId | None:
        """The better passage that this one is a near-duplicate of."""


Select = Callable[[Sequence[Candidate], Mapping[str, float]], Mapping[ChunkId, Outcome]]
"""``(candidates, overrides) -> outcome of each``; ``overrides`` are selection settings by name, usually none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNotStage:
    """One stage as the target met it. ``rank`` counts from 1 among all chunks of the scope in a leg."""

    name: str
    passed: bool
    detail: str
    rank: int | None = None
    score: float | None = None
    needed_rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """The smallest change of one setting that admits the target; it was tried, not guessed."""

    setting: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot:
    """The stages up to where the target was lost (``lost_at``), or all of them when it is admitted.

    For a document, the chunk that came furthest. ``margin`` is in the unit of the stage that lost it: a score for
    a gate, places for a pool or a cut. ``missing_words`` are the question's words, as written,
    of which the chunk holds no form.
    """

    document_id: DocumentId
    chunk_id: ChunkId | None
    admitted: bool
    lost_at: str | None
    margin: float | None
    suggestion: Suggestion | None
    missing_words: tuple[str, ...]
    stages: tuple[WhyNotStage, ...]
