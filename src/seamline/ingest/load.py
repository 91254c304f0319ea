"""The ingest kit: a folder as documents, with no knowledge base and no extras."""

from __future__ import annotations

import os
from collections.abc import Mapping

from seamline.ingest.folder import FolderSource, ListingLimits
from seamline.ingest.reader import EntryReader
from seamline.ingest.sandbox import ParseLimits
from seamline.types import Document


def load_documents(folder: str | os.PathLike[str], *, settings: Mapping[str, object]) -> list[Document]:
    """Every document of a folder (or the one of a file), ordered by id.

    What cannot be extracted is among them, with its ``status`` and ``status_reason``; a file that cannot be
    read raises ``IngestError``.
    """
    source = FolderSource([folder], limits=ListingLimits.of(settings))
    with EntryReader(ParseLimits.of(settings)) as reader:
        return [reader.read(entry, source.read(entry)) for entry in source.entries()]
