"""One generation in memory: rows, documents, lengths and segment directories, but no text and no postings.

Rows number the live chunks in ascending order of chunk id, so that "ties by chunk id" is "ties by row" and every
score is a plain array. An index never changes; the next generation's is built from it and from what changed.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seamline.errors import StoreCorruptError
from seamline.store.embedded import segment_tables
from seamline.store.embedded.masks import Masks
from seamline.store.embedded.schema import LIVE
from seamline.store.embedded.vectors import VectorTable, load_table
from seamline.store.records import binding_from_json
from seamline.types import Binding, ChunkId, DocumentId, VectorName

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seamline.store.embedded.segment_tables import Directory, Query


@dataclass(frozen=True, slots=True)
class Chunks:
    """The live chunks, one a row: ids, ordinals, document numbers, and places in ``languages``."""

    ids: list[str]
    ordinals: NDArray[np.int64]
    documents: NDArray[np.int64]
    language_of: NDArray[np.int32]
    languages: dict[str | None, int]


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents in ascending order of id."""

    ids: list[DocumentId]
    numbers: NDArray[np.int64]
    readable_by: list[str | None]
    metadata: list[str]


class Index:
    """The state that one commit left, as arrays over rows.

    ``segments`` holds each directory with the row of each of its chunks (-1 where it is dead);
    ``lengths`` counts the terms of each row; ``average_length`` is their mean, 0.0 without rows.
    """

    def __init__(
        self,
        stamp: tuple[int, bytes | None],
        binding: Binding | None,
        chunks: Chunks,
        documents: Documents,
        parts: list[Directory],
    ) -> None:
        self.generation, self.token = stamp
        self.binding = binding
        self.chunks = chunks
        self.documents = documents
        self.size = len(chunks.ids)
        self._by_ordinal = np.argsort(chunks.ordinals, kind="stable").astype(np.int32)
        self._sorted_ordinals = chunks.ordinals[self._by_ordinal]
        self.segments = [(part, self.rows_of(part.ordinals)) for part in parts]
        self.has_dead = any(bool((rows < 0).any()) for _, rows in self.segments)
        self.lengths = self._lengths()
        self.average_length = float(self.lengths.sum() / self.size) if self.size else 0.0
        self.document_of_row = self._documents_of_rows()
        self.masks = Masks(self.document, documents.readable_by, documents.metadata, self.document_of_row)
        names: list[str | None] = list(chunks.languages)
        self.language_names = names
        self._tables: dict[VectorName, VectorTable] = {}
        self._before: dict[VectorName, VectorTable] = {}
        self._lock = threading.Lock()

    def rows_of(self, ordinals: NDArray[np.int64]) -> NDArray[np.int32]:
        """The row of each ordinal, -1 where it is not live; same shape."""
        if not self.size:
            return np.full(len(ordinals), -1, dtype=np.int32)
        place = np.searchsorted(self._sorted_ordinals, ordinals)
        place[place == self.size] = 0
        found: NDArray[np.int32] = np.where(self._sorted_ordinals[place] == ordinals, self._by_ordinal[place], -1)
        return found.astype(np.int32, copy=False)

    def row(self, chunk_id: ChunkId) -> int | None:
        """The row of a chunk, or ``None``."""
        place = bisect_left(self.chunks.ids, chunk_id)
        return place if place < self.size and self.chunks.ids[place] == chunk_id else None

    def document(self, document_id: DocumentId) -> int | None:
        """The place of a document among ``documents``, or ``None``."""
        ids = self.documents.ids
        place = bisect_left(ids, document_id)
        return place if place < len(ids) and ids[place] == document_id else None

    def language(self, row: int) -> str | None:
        """The language of a row's chunk."""
        return self.language_names[int(self.chunks.language_of[row])]

    def vectors(self, query: Query, name: VectorName, folder: Path) -> VectorTable | None:
        """The vectors of a name, loaded at first use; ``None`` for a kb that was never bound to a space."""
        if self.binding is None:
            return None
        with self._lock:
            table = self._tables.get(name)
            if table is None:
                before = self._before.pop(name, None)
                table = load_table(
                    query, self, name, folder, before, lambda generation: read_stamp(query, generation)[1]
                )
                self._tables[name] = table
            return table

    def inherit(self, before: Index) -> None:
        """Let vector tables build on those of an earlier generation of the same kb and the same space."""
        if before.binding is not None and before.binding == self.binding:
            self._before = {**before._before, **before._tables}

    def _lengths(self) -> NDArray[np.int32]:
        lengths = np.full(self.size, -1, dtype=np.int32)
        for part, rows in self.segments:
            live = rows >= 0
            lengths[rows[live]] = part.lengths[live]
        if self.size and int(lengths.min()) < 0:
            missing = self.chunks.ids[int(lengths.argmin())]
            raise StoreCorruptError(
                f"chunk {missing!r} is in no segment of the keyword index",
                hint="restore a backup, or index the sources again; `seamline doctor` says more",
            )
        return lengths

    def _documents_of_rows(self) -> NDArray[np.int32]:
        order = np.argsort(self.documents.numbers, kind="stable")
        numbers = self.documents.numbers[order]
        place = np.searchsorted(numbers, self.chunks.documents)
        place[place == len(numbers)] = 0
        if self.size and not (len(numbers) and np.array_equal(numbers[place], self.chunks.documents)):
            raise StoreCorruptError(
                "a chunk belongs to no document", hint="restore a backup, or index the sources again"
            )
        return order[place].astype(np.int32) if self.size else np.zeros(0, np.int32)


def load_index(query: Query, before: Index | None) -> Index:
    """The index of the generation that ``query`` reads; builds on ``before``, an earlier one of the same kb."""
    stamp = read_stamp(query, None)
    known = {part.id: part for part, _ in before.segments} if before is not None else {}
    index = Index(
        stamp,
        read_binding(query),
        _chunks(query, before.chunks if before is not None else None),
        _documents(query),
        segment_tables.directories(query, known),
    )
    if before is not None:
        index.inherit(before)
    return index


def read_stamp(query: Query, generation: int | None) -> tuple[int, bytes | None]:
    """A generation (``None`` for the last one) and the random token of its commit, ``None`` if not known."""
    if generation is None:
        ((generation,),) = query("SELECT value FROM counters WHERE name = 'generation'", ())
    rows = query("SELECT token FROM commits WHERE generation = ?", (generation,))
    return int(generation), bytes(rows[0][0]) if rows else None


def read_binding(query: Query) -> Binding | None:
    """What the live index was derived with."""
    rows = query("SELECT payload FROM bindings WHERE index_generation = ?", (LIVE,))
    return binding_from_json(rows[0][0]) if rows else None


def _documents(query: Query) -> Documents:
    rows = query("SELECT id, number, readable_by, metadata FROM documents ORDER BY id", ())
    ids, numbers, readable_by, metadata = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Documents(list(ids), np.array(numbers, dtype=np.int64), list(readable_by), list(metadata))


def _chunks(query: Query, before: Chunks | None) -> Chunks:
    if before is None:
        return _of_rows(
            query("SELECT id, ordinal, document, language FROM chunks WHERE index_generation = ? ORDER BY id", (LIVE,)),
            {},
        )
    live = query("SELECT ordinal FROM chunks WHERE index_generation = ? ORDER BY ordinal", (LIVE,))
    ordinals = np.fromiter((row[0] for row in live), np.int64, len(live))
    last = int(before.ordinals.max()) if len(before.ordinals) else 0
    added = query(
        "SELECT id, ordinal, document, language FROM chunks WHERE index_generation = ? AND ordinal > ? ORDER BY id",
        (LIVE, last),
    )
    kept = np.flatnonzero(np.isin(before.ordinals, ordinals, assume_unique=True))
    return _woven(before, kept, _of_rows(added, before.languages))


def _of_rows(rows: Sequence[tuple[Any, ...]], languages: dict[str | None, int]) -> Chunks:
    places = dict(languages)
    ids, ordinals, documents, tags = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Chunks(
        list(ids),
        np.array(ordinals, dtype=np.int64),
        np.array(documents, dtype=np.int64),
        np.array([places.setdefault(tag, len(places)) for tag in tags], dtype=np.int32),
        places,
    )


def _woven(before: Chunks, kept: NDArray[np.intp], added: Chunks) -> Chunks:
    """The kept rows of ``before`` and the added ones, in order of id."""
    whole = len(kept) == len(before.ids)
    ids = (before.ids if whole else [before.ids[row] for row in kept.tolist()]) + added.ids
    order = sorted(range(len(ids)), key=ids.__getitem__) if added.ids else range(len(ids))
    place = np.fromiter(order, np.intp, len(ids))
    return Chunks(
        [ids[row] for row in order] if added.ids else ids,
        np.concatenate((before.ordinals[kept], added.ordinals))[place],
        np.concatenate((before.documents[kept], added.documents))[place],
        np.concatenate((before.language_of[kept], added.language_of))[place],
        added.languages,
    )
