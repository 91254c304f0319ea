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


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentSizes:
    """``target`` is not passed unless one child alone is longer; ``overlap`` is repeated inside long sections."""

    target: int
    overlap: int

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> ParentSizes:
        """Pick ``parent_chars`` and ``parent_overlap``, its share."""
        target = int(str(settings["parent_chars"]))
        return cls(target=target, overlap=round(float(str(settings["parent_overlap"])) * target))
