"""Index generations of one kb: whole stores side by side, one of them live, swapped by renaming one small file.

Generation 1 is the kb's folder itself, generation ``n`` its subfolder ``generations/n``. ``generations.json`` says
which one is live; without the file it is the first. Locks are always taken live first, then the others ascending.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from seamline.errors import NotFoundError, StoreCorruptError, StoreError, UsageError
from seamline.types import Binding, Document, DocumentId, Finding, IngestState

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from seamline.ports import IndexedChunk, Snapshot, Store, Writer

POINTER = "generations.json"
_FIRST = ("kb.sqlite*", "vectors-*", "write.lock")
"""What generation 1 has in the kb's folder, beside what belongs to the kb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """Which generation is live, which were live before (oldest first), and which one is being built."""

    live: int = 1
    previous: tuple[int, ...] = ()
    next: int | None = None

    def others(self) -> list[int]:
        """Every generation but the live one, ascending."""
        return sorted({*self.previous, *([] if self.next is None else [self.next])} - {self.live})


class GenerationalStore:
    """A store that reads and writes the live generation; deletions and access changes reach every generation."""

    def __init__(self, folder: Path, make: Callable[[Path], Store], *, pinned: int | None = None) -> None:
        """``make`` opens the store of one generation's folder; ``pinned`` reads that generation, and only reads."""
        self._folder = folder
        self._make = make
        self._pinned = pinned
        self._stores: dict[int, Store] = {}
        self._closed = False

    @property
    def kb(self) -> str:
        """The knowledge base's name."""
        return self.generation(self._read_number()).kb

    def pointer(self) -> Pointer:
        """What is live now, whichever process made it so; raises ``StoreCorruptError``."""
        try:
            found = json.loads((self._folder / POINTER).read_text(encoding="utf-8"))
            return Pointer(live=found["live"], previous=tuple(found["previous"]), next=found["next"])
        except FileNotFoundError:
            return Pointer()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreCorruptError(
                f"{self._folder / POINTER} is not readable: {error}",
                hint="restore a backup, or write the live generation's number into it",
            ) from error

    def generation(self, number: int) -> Store:
        """The store of one generation, without what the others are owed; raises ``NotFoundError``."""
        if self._closed:
            raise StoreError("the store is closed", hint="open it again")
        pointer = self.pointer()
        if number not in (pointer.live, *pointer.others()):
            raise NotFoundError(
                f"there is no index generation {number}", hint="`seamline generations list` shows those that are there"
            )
        if number not in self._stores:
            self._stores[number] = self._make(self.folder_of(number))
        return self._stores[number]

    def folder_of(self, number: int) -> Path:
        """Where a generation's files are."""
        return self._folder if number == 1 else self._folder / "generations" / str(number)

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        """The last committed state of the live (or the pinned) generation."""
        with self.generation(self._read_number()).read() as snapshot:
            yield snapshot

    @contextmanager
    def write(self, *, timeout: float = 10.0) -> Iterator[GenerationalWriter]:
        """The one writer of the kb. Raises what the generation's store raises, and ``UsageError`` when pinned."""
        if self._pinned is not None:
            raise UsageError("an index generation that was asked for by number is only read", hint="leave it out")
        with ExitStack() as stack:
            number, live = self._enter_live(stack, timeout)
            yield GenerationalWriter(live, lambda: self._other_writers(number, timeout))

    def check(self) -> list[Finding]:
        """The findings of every generation, and folders that belong to none."""
        found = list(self.generation(self._read_number()).check())
        if self._pinned is not None:
            return found
        pointer = self.pointer()
        for number in pointer.others():
            found += [
                replace(finding, message=f"index generation {number}: {finding.message}")
                for finding in self.generation(number).check()
            ]
        orphans = self.orphans()
        if orphans:
            found.append(
                Finding(
                    severity="warning",
                    check="generations",
                    message=f"folders of index generations that are not used any more: {len(orphans)}",
                    remedy="`seamline generations prune` removes them",
                    samples=tuple(path.name for path in orphans),
                )
            )
        return found

    def orphans(self) -> list[Path]:
        """Folders of generations that the pointer does not name: a crash left them."""
        pointer = self.pointer()
        known = {str(number) for number in (pointer.live, *pointer.others())}
        return sorted(path for path in (self._folder / "generations").glob("*") if path.name not in known)

    def capabilities(self) -> Mapping[str, str]:
        """Those of the live generation."""
        return self.generation(self._read_number()).capabilities()

    def close(self) -> None:
        """Close every generation; idempotent."""
        self._closed = True
        for store in self._stores.values():
            store.close()

    # --- building, swapping and forgetting generations ---

    def begin(self) -> int:
        """Name a new generation as the one being built; a former one that was not swapped in is dropped."""
        pointer = self.pointer()
        dropped = pointer.next
        number = max(pointer.live, *pointer.others(), *self._seen(), 1) + 1
        self.point(replace(pointer, next=number))
        if dropped is not None:
            self._forget(dropped)
        return number

    @contextmanager
    def holding_live(self, timeout: float) -> Iterator[tuple[Store, Writer]]:
        """The live generation's store with its write lock held: nobody writes to the kb meanwhile."""
        with ExitStack() as stack:
            number, writer = self._enter_live(stack, timeout)
            yield self.generation(number), writer

    def point(self, pointer: Pointer) -> None:
        """Write the pointer: all readers and writers that come later follow it, in one step."""
        path, draft = self._folder / POINTER, self._folder / f"{POINTER}.new"
        try:
            with draft.open("w", encoding="utf-8") as file:
                json.dump(asdict(pointer), file)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except OSError as error:
            raise StoreError(
                f"{path} cannot be written: {error.strerror}", hint="check free space and permissions of the folder"
            ) from error

    def prune(self) -> list[int]:
        """Forget every generation but the live one and the one being built; their numbers."""
        pointer = self.pointer()
        gone = [number for number in pointer.previous if number not in (pointer.live, pointer.next)]
        self.point(replace(pointer, previous=()))
        for number in gone:
            self._forget(number)
        for folder in self.orphans():
            shutil.rmtree(folder)
        return gone

    def _forget(self, number: int) -> None:
        store = self._stores.pop(number, None)
        if store is not None:
            store.close()
        if number != 1:
            shutil.rmtree(self.folder_of(number), ignore_errors=True)
            return
        for pattern in _FIRST:
            for path in self._folder.glob(pattern):
                path.unlink(missing_ok=True)

    def _seen(self) -> list[int]:
        return [int(path.name) for path in self.orphans() if path.name.isdigit()]

    def _read_number(self) -> int:
        return self._pinned if self._pinned is not None else self.pointer().live

    def _enter_live(self, stack: ExitStack, timeout: float) -> tuple[int, Writer]:
        """Hold the live generation's write lock; another process may swap while we wait for it."""
        while True:
            number = self.pointer().live
            attempt = ExitStack()
            writer = attempt.enter_context(self.generation(number).write(timeout=timeout))
            if self.pointer().live == number:
                stack.push(attempt)
                return number, writer
            attempt.close()

    @contextmanager
    def _other_writers(self, live: int, timeout: float) -> Iterator[list[Writer]]:
        with ExitStack() as stack:
            yield [
                stack.enter_context(self.generation(number).write(timeout=timeout))
                for number in self.pointer().others()
                if number != live
            ]


class GenerationalWriter:
    """Writes to the live generation. A commit first takes deletions and access changes to all the others.

    A crash in between leaves a document deleted elsewhere but not here; the next swap puts it back. The other way
    round it could come back after a revert.
    """

    def __init__(self, live: Writer, others: Callable[[], AbstractContextManager[list[Writer]]]) -> None:
        self._live = live
        self._others = others
        self._removed: set[DocumentId] = set()
        self._access: dict[DocumentId, frozenset[str] | None] = {}

    def put(self, document: Document, chunks: Sequence[IndexedChunk]) -> None:
        """As the store's writer; the other generations keep the older text, with the new access list."""
        self._live.put(document, chunks)
        self._removed.discard(document.id)
        self._access[document.id] = document.readable_by

    def remove(self, ids: Sequence[DocumentId]) -> int:
        """As the store's writer, in every generation."""
        count = self._live.remove(ids)
        self._removed.update(ids)
        for document_id in ids:
            self._access.pop(document_id, None)
        return count

    def record(self, states: Sequence[IngestState]) -> None:
        """As the store's writer; a swap copies the states."""
        self._live.record(states)

    def set_access(self, document_id: DocumentId, readable_by: frozenset[str] | None) -> None:
        """As the store's writer, in every generation."""
        self._live.set_access(document_id, readable_by)
        self._access[document_id] = readable_by

    def bind(self, binding: Binding) -> None:
        """As the store's writer."""
        self._live.bind(binding)

    def commit(self) -> int:
        """As the store's writer. Raises ``StoreBusyError`` when another generation is being written for too long."""
        with self._others() as writers:
            for writer in writers:
                writer.remove(sorted(self._removed))
                for document_id, readable_by in self._access.items():
                    try:
                        writer.set_access(document_id, readable_by)
                    except NotFoundError:
                        continue  # a document that this generation does not have yet
                writer.commit()
            number = self._live.commit()
        self._removed.clear()
        self._access.clear()
        return number
