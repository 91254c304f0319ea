"""The embedded store by itself: commit throughput, file size, opening, both legs, filters, memory.

Synthetic: words drawn from a Zipf law (1,000-character chunks, ten a document), Gaussian vectors. Times are of this
process on this machine; compare figures of one run only. Run: ``python -m benchmarks.store --chunks 100000``
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seamline.fingerprint import sha256_text, space_fingerprint
from seamline.ports import IndexedChunk
from seamline.settings import Settings
from seamline.store import embedded
from seamline.store.embedded.store import EmbeddedStore
from seamline.types import (
    Binding,
    Chunk,
    ChunkId,
    Document,
    DocumentId,
    EmbeddingSpace,
    Fingerprint,
    KeywordQuery,
    Principal,
    Provenance,
    Quality,
    Scope,
)

if TYPE_CHECKING:
    from seamline.ports import Vector

DIMENSION = 384
CHUNKS_A_DOCUMENT = 10
WORDS_A_CHUNK = 155
OWNER = Principal(id="owner", owner=True)


class Words:
    """A vocabulary under a Zipf law: word ``r`` is drawn with probability proportional to ``1 / (r + 3)``."""

    def __init__(self, size: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        letters = np.array(list("etaoinshrdlcumwfgypbvk"))
        lengths = np.minimum(2 + np.log2(np.arange(1, size + 1)) / 1.9, 12).astype(int)
        self._words = ["".join(self._random.choice(letters, length)) + f"{r:x}" for r, length in enumerate(lengths)]
        weights = 1 / (np.arange(size) + 3.0)
        self._cumulated = np.cumsum(weights) / weights.sum()

    def draw(self, count: int) -> list[str]:
        """``count`` words, independent of each other."""
        return [self._words[r] for r in np.searchsorted(self._cumulated, self._random.random(count)).tolist()]

    def question(self) -> tuple[str, ...]:
        """The distinct words of a question of eight words, the twenty commonest (stop words) left out."""
        return tuple(sorted({word for word in self.draw(12) if word not in self._words[:20]}))[:8]


def corpus(chunks: int, words: Words, random: np.random.Generator) -> Iterator[tuple[Document, list[IndexedChunk]]]:
    """Documents with their analysed and embedded chunks; one document in 100 is readable by ``rare`` alone."""
    for number in range(chunks // CHUNKS_A_DOCUMENT):
        terms = [words.draw(WORDS_A_CHUNK) for _ in range(CHUNKS_A_DOCUMENT)]
        texts = [" ".join(drawn)[:1000].ljust(1000, ".") for drawn in terms]
        text = "\n".join(texts)
        vectors = random.standard_normal((CHUNKS_A_DOCUMENT, DIMENSION), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        name = DocumentId(f"docs/{number:06}.md")
        sha = sha256_text(text)
        document = Document(
            id=name,
            text=text,
            text_sha256=sha,
            media_type="text/markdown",
            provenance=Provenance(
                source_uri=f"file:///{name}", content_sha256=sha, parser="markdown", parser_version="1"
            ),
            quality=Quality(characters=len(text)),
            readable_by=frozenset({"rare"}) if number % 100 == 0 else frozenset({"common"}),
        )
        yield (
            document,
            [
                IndexedChunk(
                    chunk=Chunk(
                        id=ChunkId(f"chk_{sha256_text(f'{name}:{place}')[:32]}"),
                        document_id=name,
                        text=part,
                        char_start=1001 * place,
                        char_end=1001 * place + 1000,
                        chunk_index=place,
                        language="en",
                        document_sha256=sha,
                    ),
                    text_sha256=sha256_text(part),
                    terms=terms[place],
                    vectors={"child": vectors[place]},
                )
                for place, part in enumerate(texts)
            ],
        )


def build(folder: Path, chunks: int, batch: int) -> dict[str, float]:
    """Index a corpus; generating it is not counted."""
    space = EmbeddingSpace(provider="bench", model="gaussian", revision="1", dimension=DIMENSION)
    recipe = Fingerprint("recipe:bench")
    bound = Binding(
        space=space,
        space_fingerprint=space_fingerprint(space),
        chunker_fingerprint=recipe,
        analyzer_fingerprint=recipe,
    )
    spent, processor, slowest, pending = 0.0, 0.0, 0.0, 0
    store = opened(folder)
    with store.write() as writer:
        writer.bind(bound)
        for document, items in corpus(chunks, Words(200_000, 1), np.random.default_rng(2)):
            start, used = time.perf_counter(), time.process_time()
            writer.put(document, items)
            pending += len(items)
            if pending >= batch:
                before = time.perf_counter()
                writer.commit()
                pending = 0
                slowest = max(slowest, time.perf_counter() - before)
            spent += time.perf_counter() - start
            processor += time.process_time() - used
        start = time.perf_counter()
        writer.commit()
        spent += time.perf_counter() - start
    store.close()
    return {
        "put + commit, chunks/s": chunks / spent,
        "put + commit, chunks/s of processor time": chunks / processor,
        "slowest commit, s": slowest,
        "kb.sqlite, MB": (folder / "kb.sqlite").stat().st_size / 1e6,
        "peak RSS while indexing, MB": peak_rss(),
    }


def opened(folder: Path, **given: object) -> EmbeddedStore:
    """The store with default settings, but for those that are given."""
    return embedded.create(
        {**Settings.model_validate({}).mapping(), **given}, folder=folder, workspace="default", kb="bench"
    )


def measure(folder: Path, repeats: int) -> dict[str, float]:
    """Reading figures, in a process of their own."""
    random = np.random.default_rng(3)
    words = Words(200_000, 1)
    questions = [KeywordQuery(terms=words.question()) for _ in range(repeats)]
    vectors = random.standard_normal((repeats, DIMENSION)).astype(np.float32)
    everyone = Scope(principal=OWNER, kb="bench")
    rare = Scope(principal=Principal(id="rare"), kb="bench")
    figures: dict[str, float] = {}

    for label in ("open + first query, no vector cache file, ms", "open + first query, ms"):
        start = time.perf_counter()
        store = opened(folder)
        with store.read() as snapshot:
            snapshot.dense_pool(everyone, vectors[0], 100)
            snapshot.keyword_pool(everyone, questions[0], 100)
        figures[label] = 1e3 * (time.perf_counter() - start)
        if label.startswith("open + first query, no"):
            store.close()
    with store.read() as snapshot:

        def median(name: str, run: Callable[[int], object]) -> None:
            figures[name] = 1e3 * statistics.median(timed(run, repeats))

        for _ in range(2):
            median("keyword, warm, P50 ms", lambda i: snapshot.keyword_pool(everyone, questions[i], 100))
        figures["postings cache, MB"] = store._engine.cache.size / 1e6
        with opened(folder, postings_cache_bytes=1).read() as uncached:
            median("keyword, every term cold, P50 ms", lambda i: uncached.keyword_pool(everyone, questions[i], 100))
        median("keyword, 1% filter, P50 ms", lambda i: snapshot.keyword_pool(rare, questions[i], 100))
        median("dense, P50 ms", lambda i: snapshot.dense_pool(everyone, vectors[i], 100))
        median("dense, 1% filter, P50 ms", lambda i: snapshot.dense_pool(rare, vectors[i], 100))

        def beside_the_scan(i: int) -> None:
            found = snapshot.keyword_pool(everyone, questions[i], 100)
            ids = [hit.chunk_id for hit in found]
            snapshot.cosines(everyone, vectors[i], ids)
            snapshot.keyword_scores(everyone, questions[i], ids)
            snapshot.matched_terms(everyone, questions[i], ids)
            snapshot.chunks(everyone, ids[:10])

        median("keyword + completion of 100 + terms + 10 payloads, P50 ms", beside_the_scan)
    figures["peak RSS while reading, MB"] = peak_rss()
    figures |= update(store, everyone, questions[0], vectors[0])
    store.close()
    return figures


def update(store: EmbeddedStore, scope: Scope, question: KeywordQuery, vector: Vector) -> dict[str, float]:
    """One document replaced in the open kb, and the first query of the next snapshot."""
    commits, queries = [], []
    for seed in range(7):
        ((document, items),) = corpus(CHUNKS_A_DOCUMENT, Words(200_000, 1), np.random.default_rng(seed))
        start = time.perf_counter()
        with store.write() as writer:
            writer.put(document, items)
            writer.commit()
        middle = time.perf_counter()
        with store.read() as snapshot:
            snapshot.keyword_pool(scope, question, 100)
            snapshot.dense_pool(scope, vector, 100)
        commits.append(1e3 * (middle - start))
        queries.append(1e3 * (time.perf_counter() - middle))
    return {
        "replace one document (lock, put, commit, checkpoint), P50 ms": statistics.median(commits),
        "first query of the next snapshot, P50 ms": statistics.median(queries),
    }


def timed(run: Callable[[int], object], repeats: int) -> list[float]:
    """Seconds of each run."""
    taken = []
    for place in range(repeats):
        start = time.perf_counter()
        run(place)
        taken.append(time.perf_counter() - start)
    return taken


def peak_rss() -> float:
    """Of this process, in MB; mapped file pages count."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would report the parent's peak after fork and exec
        (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    """Build in this process, read in another one, print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=1000, help="chunks a commit")
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="keep the kb here; one that is there already is only read")
    parser.add_argument("--read-only", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read_only:
        print(json.dumps(measure(given.folder, given.repeats)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = given.folder or Path(temporary)
        figures = {} if (folder / "kb.sqlite").exists() else build(folder, given.chunks, given.batch)
        for cache in folder.glob("vectors-*.f32"):
            cache.unlink()
        command = [sys.executable, "-m", "benchmarks.store", "--read-only", "--folder", str(folder)]
        command += ["--repeats", str(given.repeats)]
        figures |= json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for name, value in figures.items():
        print(f"{name:60} {value:12.2f}")


if __name__ == "__main__":
    main()
