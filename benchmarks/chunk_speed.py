"""Parsing and chunking alone: ``./scripts/bench chunk-speed``. 100 MB of Markdown in files of 1 MB, one at a time.

Megabytes a second of CPU time of this process, parser and structural chunker, without the child's pipe; the parser
alone beside it; the largest resident size. Then a single line of 5 MB by every chunker that needs no embedder.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Iterator

from benchmarks.ingest import words
from benchmarks.results import write
from seamline.chunkers import chunker_for
from seamline.fingerprint import sha256_text
from seamline.ingest.markdown import MarkdownParser
from seamline.kit import shipped
from seamline.types import Document, DocumentId, Provenance, Quality

FILES = 100
BYTES = 1_000_000


def files() -> Iterator[bytes]:
    """Made Markdown with headings, paragraphs, lists and tables."""
    sections = []
    for number in range(60):
        row = f"| {words(number, 3)} | {words(number + 7, 4)} |\n"
        items = "".join(f"- {words(number + n, 12)}\n" for n in range(5))
        sections.append(
            f"## Section {number}\n\n{words(number, 90)}.\n\n{words(number + 3, 120)}.\n\n{items}\n"
            f"| a | b |\n|---|---|\n{row * 6}\n"
        )
    whole = "# Book\n\n" + "".join(sections)
    for number in range(FILES):
        yield f"{number} {whole * (BYTES // len(whole))}".encode()


def document(data: bytes, parser: MarkdownParser) -> Document:
    """As a reader makes it, the language stated."""
    parsed = parser.parse(data, media_type="text/markdown", filename="a.md")
    made = Provenance(source_uri="file:///a.md", content_sha256="0" * 64, parser="markdown", parser_version="1")
    return Document(
        id=DocumentId("a.md"),
        text=parsed.text,
        text_sha256=sha256_text(parsed.text),
        media_type="text/markdown",
        provenance=made,
        quality=Quality(characters=len(parsed.text)),
        language="en",
        blocks=parsed.blocks,
    )


def main() -> int:
    """Measure, and write ``results/chunk-speed.json``; bounds are in matrix.toml."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    parser, chunker = MarkdownParser(), chunker_for(shipped({}))
    size = chunks = 0
    parsing = chunking = 0.0
    for data in files():
        began = time.process_time()
        read = document(data, parser)
        between = time.process_time()
        chunks += len(chunker.chunk(read).children)
        chunking += time.process_time() - between
        parsing += between - began
        size += len(data)
    figures: dict[str, float] = {
        "load": os.getloadavg()[0],
        "megabytes": size / 1e6,
        "chunks": chunks,
        "parse MB/s": size / 1e6 / parsing,
        "parse and chunk MB/s": size / 1e6 / (parsing + chunking),
        "largest MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    line = ("word and word. " * 334_000).encode()
    for name in ("structural", "fixed", "window-1000-200"):
        made = chunker_for(shipped({"chunker": name}))
        whole = document(line, parser)
        began = time.process_time()
        made.chunk(whole)
        figures[f"5 MB line, {name}, s"] = time.process_time() - began
    marks = document(("e" + "\u0301" * 2_500_000).encode(), parser)
    began = time.process_time()
    chunker.chunk(marks)
    figures["5 MB of combining marks, s"] = time.process_time() - began
    for name, value in figures.items():
        print(f"{name}: {value:.2f}")
    write("chunk-speed", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
