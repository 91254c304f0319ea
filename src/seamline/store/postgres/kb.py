"""The row of one kb: what every read of a snapshot needs to know first."""

from __future__ import annotations

from dataclasses import dataclass

from seamline.store.postgres.session import Session
from seamline.store.records import binding_from_json
from seamline.types import Binding


@dataclass(frozen=True, slots=True)
class Kb:
    """The kb's row: ids, statistics of the keyword leg, and what it is bound to."""

    id: int
    workspace: str
    name: str
    generation: int
    binding: Binding | None
    chunks: int
    terms: int


def read_kb(session: Session, workspace: str, name: str) -> Kb | None:
    """The kb's row, or ``None``."""
    rows = session.query(
        "SELECT id, generation, binding, chunk_count, term_count FROM seamline.kbs WHERE workspace = %s AND name = %s",
        (workspace, name),
    )
    if not rows:
        return None
    ((kb, generation, binding, chunks, terms),) = rows
    return Kb(kb, workspace, name, generation, None if binding is None else binding_from_json(binding), chunks, terms)
