"""Documents to a chunks artifact: a checked file, a reference to it, and previews in place of its content."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from seamline.chunk.artifacts import Artifact, ArtifactWriter, documents, verify
from seamline.errors import UsageError
from seamline.fingerprint import sha256_bytes, sha256_text
from seamline.indexing import INDEXABLE, chunker_for
from seamline.ingest.clean import clean
from seamline.ingest.folder import FolderSource, ListingLimits
from seamline.ingest.reader import EntryReader
from seamline.ingest.sandbox import ParseLimits
from seamline.kit import shipped
from seamline.ports import Chunker, Embedder
from seamline.settings import home_dir
from seamline.types import Chunk, Document, DocumentId, Failure, Provenance, Quality

PREVIEW_CHUNKS = 3
PREVIEW_CHARS = 2000
INLINE_ID = DocumentId("inline")
HEADER_SETTINGS = (
    "chunker", "chunk_chars", "chunk_overlap_chars", "child_overlap", "parent_chars", "parent_overlap",
    "min_chunk_chars", "max_chunk_chars", "embed_max_chars", "semantic_percentile",
)  # fmt: skip
"""The settings that an artifact's header states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The beginning of a chunk, at most 2,000 characters; ``char_end`` is that of the whole chunk."""

    id: str
    document_id: str
    char_start: int
    char_end: int
    heading_path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkingResult:
    """A reference and bounded previews. ``chunks`` and ``parents`` are lists only with ``legacy_inline_chunks``."""

    chunks_artifact: Artifact
    parent_preview: tuple[Preview, ...]
    child_preview: tuple[Preview, ...]
    preview_truncated: bool
    chunks: list[Chunk] | None = None
    parents: list[Chunk] | None = None


def chunk_documents(
    content: str | Iterable[Document] | None = None,
    *,
    content_artifact: Artifact | Mapping[str, str] | None = None,
    content_artifact_uri: str | None = None,
    output: str | os.PathLike[str] | None = None,
    embedder: Embedder | None = None,
    legacy_inline_chunks: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> ChunkingResult:
    """Chunk documents into an artifact and return its reference with previews, never the chunks themselves.

    Args:
        content: documents, or one text. Documents are taken one by one, so that memory does not grow with them.
        content_artifact: a reference (``uri`` and ``sha256``) to an artifact whose documents are chunked again. It
            wins over ``content_artifact_uri``, which is believed without a hash, and both win over ``content``.
        content_artifact_uri: a ``file:`` URI or a path.
        output: where the artifact goes, compressed when the name ends with ``.zst``; unset, it is kept under its
            hash in ``artifacts/`` of the home.
        embedder: what the chunkers ``semantic`` and ``hybrid`` divide by.
        legacy_inline_chunks: also return all chunks as lists; warns, because they may be large.
        settings: settings by name, over the shipped ones.

    Raises:
        UsageError: no content was given, or an URI that is no local file.
        ArtifactError: the given artifact is damaged or has another hash than the reference says.
        SettingsError: a bad setting, or no embedder for a chunker that needs one.
    """
    if legacy_inline_chunks:
        warnings.warn(
            "legacy_inline_chunks returns every chunk in memory; read the artifact instead",
            DeprecationWarning,
            stacklevel=2,
        )
    given = _documents(content, content_artifact, content_artifact_uri)
    values = shipped(settings or {})
    chunker = chunker_for(values, embedder)
    collected = _Collected(legacy_inline_chunks)
    header: dict[str, object] = {
        "chunker": chunker.fingerprint,
        "settings": {name: values[name] for name in HEADER_SETTINGS},
    }
    if output is not None:
        return collected.result(_written(Path(output), given, chunker, header, collected))
    folder = home_dir() / "artifacts"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        partial = Path(scratch) / "chunks.jsonl"
        made = _written(partial, given, chunker, header, collected)
        target = partial.replace(folder / f"{made.sha256.removeprefix('sha256:')}.chunks.jsonl")
    return collected.result(replace(made, uri=target.as_uri()))


def folder_documents(
    paths: Iterable[str | os.PathLike[str]], values: Mapping[str, Any], failed: list[Failure]
) -> Iterator[Document]:
    """The documents of folders or files whose extraction succeeded, one by one; the others go to ``failed``."""
    source = FolderSource(list(paths), limits=ListingLimits.of(values))
    with EntryReader(ParseLimits.of(values)) as reader:
        for entry in source.entries():
            document = reader.read(entry, source.read(entry))
            if document.status in INDEXABLE:
                yield document
            else:
                reason = f"{document.status.value}: {document.status_reason or 'no reason given'}"
                failed.append(Failure(document_id=document.id, reason=reason, retryable=False))


class _Collected:
    """What is kept of the chunks while they stream by."""

    def __init__(self, inline: bool) -> None:
        self._inline = inline
        self._chunks: dict[str, list[Chunk]] = {"parents": [], "children": []}
        self._previews: dict[str, list[Preview]] = {"parents": [], "children": []}
        self._truncated = False

    def take(self, kind: str, chunks: Iterable[Chunk]) -> None:
        for chunk in chunks:
            if self._inline:
                self._chunks[kind].append(chunk)
            if len(self._previews[kind]) < PREVIEW_CHUNKS:
                self._previews[kind].append(_preview(chunk))
                self._truncated |= len(chunk.text) > PREVIEW_CHARS
            else:
                self._truncated = True

    def result(self, artifact: Artifact) -> ChunkingResult:
        return ChunkingResult(
            chunks_artifact=artifact,
            parent_preview=tuple(self._previews["parents"]),
            child_preview=tuple(self._previews["children"]),
            preview_truncated=self._truncated,
            chunks=self._chunks["children"] if self._inline else None,
            parents=self._chunks["parents"] if self._inline else None,
        )


def _preview(chunk: Chunk) -> Preview:
    return Preview(
        id=chunk.id,
        document_id=chunk.document_id,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        heading_path=chunk.heading_path,
        text=chunk.text[:PREVIEW_CHARS],
    )


def _written(
    path: Path, given: Iterable[Document], chunker: Chunker, header: Mapping[str, object], collected: _Collected
) -> Artifact:
    with ArtifactWriter(path, header) as writer:
        for document in given:
            made = chunker.chunk(document)
            writer.add(document, made)
            collected.take("parents", made.parents)
            collected.take("children", made.children)
        return writer.close()


def _documents(
    content: str | Iterable[Document] | None, artifact: Artifact | Mapping[str, str] | None, uri: str | None
) -> Iterable[Document]:
    if artifact is not None:
        reference = {"uri": artifact.uri, "sha256": artifact.sha256} if isinstance(artifact, Artifact) else artifact
        if reference.keys() < {"uri", "sha256"}:
            raise UsageError("content_artifact needs uri and sha256", hint="or give content_artifact_uri alone")
        return _of_artifact(reference["uri"], reference["sha256"])
    if uri is not None:
        return _of_artifact(uri, None)
    if content is None:
        raise UsageError("nothing to chunk", hint="give content, content_artifact or content_artifact_uri")
    return [_inline(content)] if isinstance(content, str) else content


def _of_artifact(uri: str, sha256: str | None) -> Iterable[Document]:
    parts = urlsplit(uri)
    if parts.scheme not in ("", "file") or parts.netloc:
        raise UsageError(f"{uri}: only local files are read", hint="download it, then give its path")
    path = Path(unquote(parts.path)) if parts.scheme else Path(uri)
    if not path.is_file():
        raise UsageError(f"{path}: no such artifact", hint="check the URI")
    verify(path, sha256)
    return documents(path)


def _inline(given: str) -> Document:
    text = clean(given).text
    data = given.encode("utf-8", "surrogatepass")
    return Document(
        id=INLINE_ID,
        text=text,
        text_sha256=sha256_text(text),
        media_type="text/plain",
        provenance=Provenance(
            source_uri="inline:", content_sha256=sha256_bytes(data), parser="inline", parser_version="1"
        ),
        quality=Quality(characters=len(text)),
    )
