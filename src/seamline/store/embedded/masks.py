"""Which rows a scope admits, worked out once a generation and scope."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from seamline.types import DocumentId, KbStatistics, Principal, Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEPT = 16
_EVERYONE = Principal(id="", owner=True)
"""So that ``Scope.admits`` decides on metadata alone."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """Boolean masks of shape ``(documents,)`` and ``(rows,)``, and the admitted rows in ascending order."""

    documents: NDArray[np.bool_]
    mask: NDArray[np.bool_]
    rows: NDArray[np.int32]
    counted: list[KbStatistics] = field(default_factory=list)
    """The statistics of the scope, once somebody asked for them."""

    @property
    def everything(self) -> bool:
        """Whether no row is left out."""
        return len(self.rows) == len(self.mask)


class Masks:
    """The masks of one generation; the least recently used scopes are forgotten. Thread-safe.

    ``place`` finds a document among all of them. Access lists and metadata come as stored JSON: equal texts are
    evaluated once.
    """

    def __init__(
        self,
        place: Callable[[DocumentId], int | None],
        readable_by: Sequence[str | None],
        metadata: Sequence[str],
        document_of_row: NDArray[np.int32],
    ) -> None:
        self._place = place
        self._lists, self._list_of = _interned(readable_by)
        self._metadata, self._metadata_of = _interned(metadata)
        self._document_of_row = document_of_row
        self._kept: OrderedDict[object, Admitted] = OrderedDict()
        self._lock = threading.Lock()

    def admitted(self, scope: Scope) -> Admitted:
        """What the scope admits, by the same rules as ``Scope.admits``."""
        metadata = frozenset((key, frozenset(_typed(wanted))) for key, wanted in scope.metadata_filter.items())
        key = (scope.principal, scope.document_filter, metadata)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = self._evaluate(scope)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made

    def _evaluate(self, scope: Scope) -> Admitted:
        may_read = [scope.principal.may_read(_access(text)) for text in self._lists]
        documents = np.array(may_read, dtype=np.bool_)[self._list_of]
        if scope.metadata_filter:
            only = Scope(principal=_EVERYONE, kb=scope.kb, metadata_filter=scope.metadata_filter)
            fits = [only.admits(DocumentId(""), None, json.loads(text)) for text in self._metadata]
            documents &= np.array(fits, dtype=np.bool_)[self._metadata_of]
        if scope.document_filter is not None:
            wanted = np.zeros(len(documents), dtype=np.bool_)
            wanted[[place for place in map(self._place, scope.document_filter) if place is not None]] = True
            documents &= wanted
        mask = documents[self._document_of_row]
        return Admitted(documents, mask, np.flatnonzero(mask).astype(np.int32))


def _typed(values: frozenset[Any]) -> list[tuple[str, Any]]:
    # 1, 1.0 and True are equal as keys; kept apart here whatever Scope.admits makes of them.
    return [(type(value).__name__, value) for value in values]


def _access(text: str | None) -> frozenset[str] | None:
    return None if text is None else frozenset(json.loads(text))


def _interned(values: Sequence[Any]) -> tuple[list[Any], NDArray[np.int32]]:
    places: dict[Any, int] = {}
    numbers = np.fromiter((places.setdefault(value, len(places)) for value in values), np.int32, len(values))
    return list(places), numbers
