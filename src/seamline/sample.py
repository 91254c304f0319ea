"""The sample corpus, its golden set, and its frozen chunks.

``python -m seamline.sample`` derives the chunks again and prints their sha256, byte count and line count;
``--write FILE`` writes them. A test fails when the frozen file and the code disagree.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from seamline.chunk.jsonl import chunks_from_jsonl, chunks_to_jsonl
from seamline.errors import NotFoundError
from seamline.fingerprint import sha256_bytes
from seamline.kit import chunk_loaded_documents, load_documents
from seamline.types import Chunk

_PLACES = (Path(__file__).parent / "evals", Path(__file__).parents[2] / "evals")
"""Inside an installed package, and in a checkout."""


def folder() -> Path:
    """The folder with ``corpus/``, ``golden/queries.jsonl`` and ``corpus.chunks.jsonl``."""
    for place in _PLACES:
        if (place / "corpus").is_dir():
            return place
    raise NotFoundError("the sample corpus is not part of this installation", hint="reinstall seamline")


def build_bundled_chunks() -> list[Chunk]:
    """The sample corpus, parsed and chunked with the shipped defaults; its place on disk is left out."""
    chunks = chunk_loaded_documents(load_documents(folder() / "corpus"))
    return [replace(chunk, source_uri=f"corpus/{chunk.document_id}") for chunk in chunks]


def load_bundled_chunks() -> list[Chunk]:
    """The frozen chunks, as they ship."""
    return list(chunks_from_jsonl(folder() / "corpus.chunks.jsonl"))


def frozen_bytes(chunks: list[Chunk]) -> bytes:
    """Chunks as the frozen file holds them: UTF-8, one JSON object a line, each line ended."""
    return "".join(chunks_to_jsonl(chunks)).encode("utf-8")


def main(arguments: list[str]) -> int:
    """Derive, print, and write when asked."""
    data = frozen_bytes(build_bundled_chunks())
    print(sha256_bytes(data), len(data), data.count(b"\n"))
    if arguments[:1] == ["--write"] and len(arguments) == 2:
        Path(arguments[1]).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
