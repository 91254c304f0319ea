"""The ingest kit: a folder as documents, documents as chunks, with no knowledge base and no extras."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from seamline.chunkers import chunker_for
from seamline.indexing import INDEXABLE
from seamline.ingest.folder import FolderSource, ListingLimits
from seamline.ingest.reader import EntryReader
from seamline.ingest.sandbox import ParseLimits
from seamline.settings import LoadedSettings, Settings
from seamline.types import Chunk, Document


def load_documents(folder: str | os.PathLike[str], **settings: Any) -> list[Document]:  # noqa: ANN401
    """Every document of a folder (or the one of a file), ordered by id.

    What cannot be extracted is among them, with its ``status`` and ``status_reason``. ``settings`` are ingest
    settings by name. Raises ``IngestError`` for a file that cannot be read, ``SettingsError`` for a bad value.
    """
    values = shipped(settings)
    source = FolderSource([folder], limits=ListingLimits.of(values))
    with EntryReader(ParseLimits.of(values)) as reader:
        return [reader.read(entry, source.read(entry)) for entry in source.entries()]


def read_documents(paths: Sequence[str | os.PathLike[str]], settings: Mapping[str, Any]) -> list[Document]:
    """As :func:`load_documents` for several paths and settings as a mapping, files inside files included."""
    source = FolderSource(paths, limits=ListingLimits.of(settings))
    with EntryReader(ParseLimits.of(settings)) as reader:
        return [document for entry in source.entries() for document in reader.read_all(entry, source.read(entry))]


def chunk_loaded_documents(
    documents: Iterable[Document], *, chunk_size: int | None = None, chunk_overlap: int | None = None
) -> list[Chunk]:
    """The chunks of every document whose extraction succeeded, in the order of ``documents``.

    ``chunk_size`` and ``chunk_overlap`` are characters; unset, the shipped settings decide. Raises
    ``SettingsError`` for a size outside its bounds, or an overlap of more than half of it.
    """
    given = {"chunk_chars": chunk_size, "chunk_overlap_chars": chunk_overlap}
    chunker = chunker_for(shipped({name: value for name, value in given.items() if value is not None}))
    return [
        chunk for document in documents if document.status in INDEXABLE for chunk in chunker.chunk(document).children
    ]


def shipped(overrides: Mapping[str, object]) -> dict[str, Any]:
    """The shipped settings with some replaced, whatever the environment says; raises ``SettingsError``."""
    defaults = LoadedSettings(Settings(), dict.fromkeys(Settings.model_fields, "default"))
    return defaults.override(overrides).values.mapping()
