"""How long chunks may be, in characters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSizes:
    """``target`` is aimed at; ``overlap`` repeats text where a long block is cut; ``most`` is never passed.

    Pieces under ``least`` are joined to a neighbour. An invalid combination is the settings' to refuse.
    """

    target: int
    overlap: int
    least: int
    most: int

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> ChunkSizes:
        """Pick ``chunk_chars``, ``chunk_overlap_chars`` (else ``child_overlap``), and the two bounds."""
        target = int(str(settings["chunk_chars"]))
        absolute = settings["chunk_overlap_chars"]
        share = float(str(settings["child_overlap"]))
        return cls(
            target=target,
            overlap=round(share * target) if absolute is None else int(str(absolute)),
            least=int(str(settings["min_chunk_chars"])),
            most=int(str(settings["max_chunk_chars"])),
        )

    @property
    def whole(self) -> int:
        """Up to which length a code block or a table is kept whole."""
        return min(self.most, self.target * 3 // 2)
