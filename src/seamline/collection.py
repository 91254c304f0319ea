"""Corpora that are not folders of files: test collections, and another knowledge base's documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from seamline.analyze.text import create as create_analyzer
from seamline.errors import IngestError, NotFoundError
from seamline.evaluation import formats
from seamline.evaluation.beir import BeirDocument
from seamline.fingerprint import sha256_bytes
from seamline.indexing import Indexer, chunker_for
from seamline.ingest.language import detect
from seamline.ingest.records import RecordReader, RecordSource
from seamline.knowledge_base import KnowledgeBase
from seamline.ports import EntryReader, Source
from seamline.types import Document, DocumentId, Progress, SourceEntry, SyncOptions, SyncReport

LANGUAGE_SAMPLE = 50
"""Documents from which the language of a collection is told."""
COMMIT_BATCH = 256
"""Documents a commit, at least: records are short."""


class RecordList:
    """Documents in memory as a ``Source``."""

    def __init__(self, name: str, documents: Iterable[BeirDocument]) -> None:
        self.name = name
        self._lines = {DocumentId(document.id): _line(document) for document in documents}

    def entries(self) -> Iterator[SourceEntry]:
        """Every document, ordered by id."""
        for id_, line in sorted(self._lines.items()):
            yield SourceEntry(id=id_, uri=f"{self.name}#{id_}", revision=sha256_bytes(line)[:32], size=len(line))

    def read(self, entry: SourceEntry) -> bytes:
        """The record's line. Raises ``IngestError`` for an entry that was not listed."""
        if entry.id not in self._lines:
            raise IngestError(f"{self.name}: no record has the id {entry.id!r}")
        return self._lines[entry.id]


class StoredDocuments:
    """The documents of one knowledge base as the source of another: their text is the truth, and not parsed again."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.name = f"kb {kb.name}"
        with kb.read() as snapshot:
            self.documents: dict[DocumentId, Document] = {d.id: d for d in snapshot.documents(kb.scope)}

    def entries(self) -> Iterator[SourceEntry]:
        """Every document, by id."""
        for id_, document in sorted(self.documents.items()):
            yield SourceEntry(id=id_, uri=document.provenance.source_uri, revision=document.text_sha256)

    def read(self, entry: SourceEntry) -> bytes:
        """The document's text in UTF-8."""
        return self.documents[entry.id].text.encode("utf-8", "surrogatepass")


class StoredReader:
    """Gives the documents of a :class:`StoredDocuments` as they are, access lists included."""

    def __init__(self, stored: StoredDocuments) -> None:
        self._stored = stored
        self.recipe: Mapping[str, str] = {"stored": "1"}

    def read(self, entry: SourceEntry, data: bytes) -> Document:  # noqa: ARG002
        """The stored document."""
        return self._stored.documents[entry.id]


def index_golden_corpus(
    kb: KnowledgeBase,
    golden: Path,
    *,
    language: str | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> SyncReport | None:
    """Index the corpus that a golden set brings with it; quick when it already is.

    A knowledge base that holds documents from elsewhere is left as it is. ``language`` is that of the corpus;
    unless stated it is told from the first documents.

    Returns:
        What was done; ``None`` when the golden set brings no corpus, or the kb is not this corpus's.
    """
    documents = formats.corpus(golden)
    if documents is None:
        return None
    source: Source = RecordSource(golden / "corpus.jsonl") if golden.is_dir() else RecordList(str(golden), documents)
    if not holds_only(kb, source.name):
        return None
    return index_records(kb, source, language=language or language_of(golden), progress=progress)


def language_of(golden: Path) -> str | None:
    """The language of a collection's first documents taken together; ``None`` when it cannot be told."""
    documents = islice(formats.corpus(golden) or (), LANGUAGE_SAMPLE)
    return detect("\n".join(document.text for document in documents))[0]


def index_records(
    kb: KnowledgeBase,
    source: Source,
    *,
    language: str | None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> SyncReport:
    """Make a knowledge base equal to a source of records that are all in one language."""
    return _sync(kb, source, RecordReader(language=language), progress)


def copy_documents(kb: KnowledgeBase, into: KnowledgeBase) -> SyncReport:
    """Derive another knowledge base, with its own settings, from the documents of this one."""
    stored = StoredDocuments(kb)
    return _sync(into, stored, StoredReader(stored), lambda _: None)


def holds_only(kb: KnowledgeBase, source: str) -> bool:
    """Whether a knowledge base is absent, empty, or indexed from this source alone."""
    try:
        with kb.read() as snapshot:
            return all(state.source == source for state in snapshot.states(kb.scope).values())
    except NotFoundError:
        return True


def _line(document: BeirDocument) -> bytes:
    record = asdict(document)
    return json.dumps({"_id": record.pop("id"), **record}, ensure_ascii=False).encode()


def _sync(kb: KnowledgeBase, source: Source, reader: EntryReader, progress: Callable[[Progress], None]) -> SyncReport:
    values = kb.settings.values
    kb.create()
    indexer = Indexer(
        kb.store(),
        kb.scope,
        embedder=kb.embedder(),
        analyzer=create_analyzer(values.mapping()),
        chunker=chunker_for(values.mapping(), kb.embedder()),
        reader=reader,
    )
    options = SyncOptions(
        commit_batch=max(values.commit_batch, COMMIT_BATCH),
        mass_delete_share=values.mass_delete_share,
        mass_delete_floor=values.mass_delete_floor,
        write_timeout_s=values.write_timeout_s,
    )
    return indexer.sync(source, options, progress)
