"""Reading a folder as the rag-connector package does, for chunk sets that must equal its own byte for byte.

Strict UTF-8 text and Markdown as it stands; the identity of a document is its case-folded path. For all other
purposes read with :class:`~seamline.ingest.folder.FolderSource` and the parsers.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seamline.errors import IdCollisionError, IngestError, ListingError

SUFFIXES = (".txt", ".md")
OTHERS = (".pdf", ".docx", ".rtf")
"""What the package reads too, by parsers whose text this recipe does not reproduce."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedDocument:
    """A file as the recipe sees it. ``fingerprint`` is the sha256 of type, NUL and text."""

    identity: str
    relative_path: str
    filename: str
    file_type: str
    text: str
    fingerprint: str


def published_documents(folder: str | os.PathLike[str]) -> list[PublishedDocument]:
    """The documents of a folder, by path in code-point order, dot-folders left out.

    Raises ``ListingError`` for what is no folder, ``IngestError`` for a file that is not UTF-8 or is of a type that
    the recipe does not cover, and ``IdCollisionError`` for two files of one identity, which the package takes.
    """
    root = Path(folder).resolve()
    if not root.is_dir():
        raise ListingError(f"{root}: not a folder", hint="give the folder that holds the documents")
    found: dict[str, PublishedDocument] = {}
    for path in sorted(_files(root), key=lambda file: file.relative_to(root).as_posix()):
        document = _read(root, path)
        other = found.get(document.identity)
        if other is not None:
            raise IdCollisionError(
                f"{root / other.relative_path} and {path} are one document, {document.identity!r}, in this recipe: "
                "their chunks would have the same ids",
                hint="rename one of them, or chunk with another chunker",
            )
        found[document.identity] = document
    return list(found.values())


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(folder, name) for name in names if Path(name).suffix.lower() in SUFFIXES + OTHERS)


def _refuse(error: OSError) -> None:
    raise ListingError(f"{error.filename}: cannot be listed ({error.strerror})", hint="make the folder readable")


def _read(root: Path, path: Path) -> PublishedDocument:
    suffix = path.suffix.lower()
    if suffix in OTHERS:
        raise IngestError(
            f"{path}: the published recipe is reproduced for {' and '.join(SUFFIXES)} only",
            hint="convert it, or chunk the folder with another chunker",
        )
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise IngestError(f"{path}: not UTF-8 ({error.reason} at byte {error.start})", hint="convert it") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    resolved = path.resolve()
    inside = resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else resolved.name
    return PublishedDocument(
        identity=inside.replace("\\", "/").casefold(),
        relative_path=path.relative_to(root).as_posix(),
        filename=path.name,
        file_type=suffix[1:],
        text=text,
        fingerprint=hashlib.sha256(f"{suffix[1:]}\0{text}".encode()).hexdigest(),
    )
