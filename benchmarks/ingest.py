"""How fast files are read and synced, without embedding: ``./scripts/bench ingest``.

PDF: pages of made text through the parser child, its start left out, in pages a second of CPU time of both processes.
Markdown: 10,000 small files synced into the embedded store with the stand-in embedder ``hash``, whose own time is taken
out; then the same again with nothing changed. Bulk: a corpus of larger Markdown files, bytes a second of CPU time.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import seamline
from benchmarks.results import write
from seamline.ingest.reader import EntryReader
from seamline.ingest.sandbox import ParseLimits
from seamline.settings import Settings
from seamline.types import DocumentId, SourceEntry

WORDS = tuple(
    [
        "harbour",
        "pump",
        "valve",
        "crane",
        "tide",
        "night",
        "limit",
        "knots",
        "boat",
        "gate",
        "rope",
        "office",
        "hours",
        "notice",
        "fault",
        "seal",
        "litres",
        "second",
        "smaller",
        "larger",
        "north",
        "basin",
        "dock",
        "water",
        "change",
        "every",
        "when",
        "before",
        "after",
        "must",
        "may",
        "never",
        "closed",
        "open",
        "empties",
    ]
)
FILES = 10_000
PAGES = 200
BULK_BYTES = 20_000_000


def words(seed: int, count: int) -> str:
    """A text of that many words, the same for the same seed."""
    return " ".join(WORDS[(seed * 7919 + n * n * 31 + n * 17) % len(WORDS)] for n in range(count))


def cpu() -> float:
    """CPU seconds of this process and its ended children, user and system."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def pdf_pages() -> float:
    """Pages a second of CPU time."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # its maker of PDFs
    from support.ingest import pdf

    lines = ("\n".join(words(page * 40 + line, 10) for line in range(40)) for page in range(PAGES))
    data = pdf(list(lines))
    limits = ParseLimits.of(Settings().mapping())
    entry = SourceEntry(id=DocumentId("a.pdf"), uri="file:///a.pdf", revision="1")
    with EntryReader(limits) as reader:
        reader.read(entry, data)
    idle = _idle_child(limits, entry)
    began = cpu()
    with EntryReader(limits) as reader:
        for _ in range(5):
            document = reader.read(entry, data)
    spent = cpu() - began - idle
    assert len(document.pages) == PAGES
    return 5 * PAGES / spent


def _idle_child(limits: ParseLimits, entry: SourceEntry) -> float:
    """What a child costs that reads next to nothing."""
    began = cpu()
    with EntryReader(limits) as reader:
        reader.read(entry, b"x")
    return cpu() - began


def many_files(folder: Path) -> tuple[float, float]:
    """Seconds of a first sync of small files without the embedder's time, and of a sync that changes nothing."""
    docs = folder / "many"
    for number in range(FILES):
        place = docs / f"{number % 100:02}"
        place.mkdir(parents=True, exist_ok=True)
        text = f"# Notice {number}\n\n{words(number, 60)}.\n\n## Details\n\n{words(number + 1, 60)}.\n"
        (place / f"{number:05}.md").write_text(text, encoding="utf-8")
    with seamline.open(home=folder / "home", settings={"embedding_provider": "hash"}) as kb:
        report = kb.index(docs)
        again = kb.index(docs)
    assert len(report.added) == FILES
    assert len(again.skipped) == FILES
    return report.seconds["total"] - report.seconds.get("embed", 0.0), again.seconds["total"]


def bulk(folder: Path) -> float:
    """Megabytes a second of CPU time: larger files, chunks of 1,000 characters, the embedder's time taken out."""
    docs = folder / "bulk"
    docs.mkdir()
    size = 0
    for number in range(BULK_BYTES // 100_000):
        sections = (f"## Section {n}\n\n{words(number * 100 + n, 150)}.\n" for n in range(100))
        size += (docs / f"{number:03}.md").write_text(f"# Book {number}\n\n" + "\n".join(sections), encoding="utf-8")
    settings = {"embedding_provider": "hash", "chunk_chars": 1000}
    (folder / "first.md").write_text("# First\n\nWhat is loaded once is loaded by this file.\n", encoding="utf-8")
    with seamline.open("warm", home=folder / "home2", settings=settings) as kb:
        kb.index(folder / "first.md")
    began = cpu()
    with seamline.open(home=folder / "home2", settings=settings) as kb:
        report = kb.index(docs)
    spent = cpu() - began - report.seconds.get("embed", 0.0)
    return size / 1e6 / spent


def measured() -> Iterator[tuple[str, float]]:
    """Every figure as it is found."""
    yield "pdf pages/s a core", pdf_pages()
    with tempfile.TemporaryDirectory(prefix="seamline-bench-") as made:
        sync, resync = many_files(Path(made))
        yield "sync s", sync
        yield "resync s", resync
        yield "bulk MB/s a core", bulk(Path(made))


def main() -> int:
    """Measure, and write ``results/ingest.json``; its bounds are in matrix.toml."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    figures = {"load": os.getloadavg()[0]}
    for name, value in measured():
        print(f"{name}: {value:.2f}", flush=True)
        figures[name] = value
    write("ingest", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
