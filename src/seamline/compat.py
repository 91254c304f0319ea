"""The published chunk sets of the rag-connector package, derived by our own code, byte for byte.

``python -m seamline.compat FOLDER`` chunks a folder by the recipe and prints sha256, bytes and lines;
``--write FILE`` writes the lines.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from seamline.chunk.window import OVERLAP, SIZE, WindowChunker, window_id, window_spans
from seamline.errors import IngestError
from seamline.fingerprint import sha256_bytes
from seamline.ingest.published import PublishedDocument, published_documents

REQUIRED = ("chunk_id", "doc_id", "source_file", "doc_chunk_index", "text")
OPTIONAL = ("global_index", "char_start", "char_end", "content_module_id", "embedding", "metadata")


def published_chunks(
    folder: str | os.PathLike[str], *, chunk_size: int = SIZE, chunk_overlap: int = OVERLAP
) -> list[dict[str, Any]]:
    """The chunk records of a folder, keys in the published order.

    Raises ``SettingsError`` for an overlap that is not smaller than the size, and what
    :func:`~seamline.ingest.published.published_documents` raises.
    """
    sizes = WindowChunker(chunk_size, chunk_overlap)
    records: list[dict[str, Any]] = []
    for document in published_documents(folder):
        for number, span in enumerate(window_spans(document.text, sizes.size, sizes.overlap)):
            records.append(_record(document, number, len(records), *span))
    return records


def _record(document: PublishedDocument, number: int, index: int, start: int, end: int) -> dict[str, Any]:
    return {
        "chunk_id": window_id(document.identity, number),
        "doc_id": document.identity,
        "source_file": document.relative_path,
        "doc_chunk_index": number,
        "global_index": index,
        "char_start": start,
        "char_end": end,
        "content_module_id": document.identity,
        "text": document.text[start:end],
        "metadata": {
            "source_identity": document.identity,
            "source_fingerprint": document.fingerprint,
            "relative_path": document.relative_path,
            "filename": document.filename,
            "file_type": document.file_type,
        },
    }


def published_to_jsonl(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """One line a record, ended by LF; no records are one empty line, as the package writes them."""
    empty = True
    for record in records:
        empty = False
        yield json.dumps(record, ensure_ascii=False) + "\n"
    if empty:
        yield "\n"


def published_from_jsonl(source: str | os.PathLike[str] | Iterable[str]) -> Iterator[dict[str, Any]]:
    """Read records from a file's path or from lines; only LF ends a line, so that U+2028 stays inside a text.

    Raises ``IngestError`` naming a line that is not JSON, lacks a required key, or has an unknown one.
    """
    if isinstance(source, str | os.PathLike):
        with Path(source).open(encoding="utf-8", newline="\n") as file:
            yield from _read(file, str(source))
    else:
        yield from _read(source, "chunks")


def _read(lines: Iterable[str], where: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        hint = "write the file with published_to_jsonl, or with the package's own writer"
        try:
            record = json.loads(line)
        except ValueError as error:
            raise IngestError(f"{where}, line {number}: not JSON ({error})", hint=hint) from error
        if not isinstance(record, dict):
            raise IngestError(f"{where}, line {number}: not an object", hint=hint)
        missing = [name for name in REQUIRED if name not in record]
        unknown = sorted(record.keys() - {*REQUIRED, *OPTIONAL})
        if missing or unknown:
            wrong = f"without {', '.join(missing)}" if missing else f"with unknown {', '.join(unknown)}"
            raise IngestError(f"{where}, line {number}: a chunk record {wrong}", hint=hint)
        yield record


def main(arguments: list[str]) -> int:
    """Derive, print, and write when asked."""
    if len(arguments) not in (1, 3) or (len(arguments) == 3 and arguments[1] != "--write"):
        print("usage: python -m seamline.compat FOLDER [--write FILE]", file=sys.stderr)
        return 2
    data = "".join(published_to_jsonl(published_chunks(arguments[0]))).encode("utf-8")
    print(sha256_bytes(data), len(data), data.count(b"\n"))
    if len(arguments) == 3:
        Path(arguments[2]).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
