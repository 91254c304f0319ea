"""Derive the chunk sets that rag-connector 0.2.0a1 and 0.2.0a2 ship, and compare them byte for byte.

usage: scripts/frozen-acceptance   (needs a package index; environments go to .cache/acceptance)

Each version is installed into an environment of its own. For each: our code chunks its corpus and prints sha256,
bytes and lines; the bytes equal the published file; our reader reads that file back; and on made documents full of
odd line separators our spans equal those of the installed chunker. The exit code is 1 at the first difference.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from seamline.compat import published_chunks, published_from_jsonl, published_to_jsonl
from seamline.fingerprint import sha256_bytes

ROOT = Path(__file__).resolve().parents[1]
EXPECTED = {
    "0.2.0a1": ("290ca86076d9b878e54bdd2d5c1a1c870c4ab20c57edd1a013983e8782ba11fc", 857_219, 605),
    "0.2.0a2": ("5638e7143fe4b664e874d00aa8722cafaf97972debd1fce8b2d1c1914a0548b4", 613_818, 426),
}
FIND = """
import rag_connector.ingest as kit
with kit.bundled_corpus_path(kit.DEFAULT_BUNDLED_CORPUS) as corpus, kit.bundled_chunks_path(kit.DEFAULT_BUNDLED_CORPUS) as chunks:
    print(corpus); print(chunks)
"""
CHUNK = """
import json, sys
import rag_connector.ingest as kit
for chunk in kit.chunk_loaded_documents(kit.load_documents(sys.argv[1]), chunk_size=1000, chunk_overlap=200):
    print(json.dumps([chunk.chunk_id, chunk.char_start, chunk.char_end, chunk.text]))
"""
PIECES = [
    "word ",
    "a",
    ". ",
    "? ",
    "! ",
    "\n",
    "\n\n",
    " ",
    "\t",
    "文",
    "\u2028",
    "\u2029",
    "\u0085",
    "\x0c",
    "\x1c",
    "👩‍👩‍👧",
]
DOCUMENTS = 200


def main() -> int:
    """Check both versions; the exit code says whether everything is equal."""
    return 0 if all([check(version) for version in EXPECTED]) else 1


def check(version: str) -> bool:
    """One version: install, derive, compare, and compare the chunkers on made documents."""
    python = installed(version)
    corpus, frozen = map(Path, run(python, FIND).split("\n")[:2])
    records = published_chunks(corpus)
    data = "".join(published_to_jsonl(records)).encode("utf-8")
    figures = (sha256_bytes(data), len(data), data.count(b"\n"))
    print(*figures)
    results = {
        "the expected figures": figures == EXPECTED[version],
        "the published bytes": data == frozen.read_bytes(),
        "read back": list(published_from_jsonl(frozen)) == records,
        f"spans of {DOCUMENTS} made documents": same_spans(python),
    }
    for name, equal in results.items():
        print(f"{'ok  ' if equal else 'DIFF'} rag-connector {version}: {name}")
    return all(results.values())


def installed(version: str) -> Path:
    """The interpreter of an environment that holds this version."""
    folder = ROOT / ".cache" / "acceptance" / version
    python = folder / "bin" / "python"
    uv = [sys.executable, "-m", "uv"]
    if not python.exists():
        subprocess.run([*uv, "venv", "-q", "--python", sys.executable, folder], check=True)
    subprocess.run([*uv, "pip", "install", "-q", "--python", python, f"rag-connector=={version}"], check=True)
    return python


def same_spans(python: Path) -> bool:
    """Whether the installed chunker and ours agree, ids and texts included; ours also survives its own file."""
    seed = random.Random(20)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(DOCUMENTS):
            text = "".join(seed.choices(PIECES, weights=[30, 30, *[1] * (len(PIECES) - 2)], k=seed.randint(0, 3000)))
            Path(folder, f"{number:04}.txt").write_bytes(text.encode())
        theirs = [json.loads(line) for line in run(python, CHUNK, folder).split("\n") if line]
        records = published_chunks(folder)
    ours = [[r["chunk_id"], r["char_start"], r["char_end"], r["text"]] for r in records]
    back = list(published_from_jsonl("".join(published_to_jsonl(records)).split("\n")))
    return len(ours) > DOCUMENTS and ours == theirs and back == records


def run(python: Path, code: str, *arguments: str) -> str:
    """What a program prints under that interpreter."""
    return subprocess.run([python, "-c", code, *arguments], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
