"""Search latency on 100,000 chunks: each leg, retrieval without the model, and ``search`` end to end.

    SEAMLINE_DATA=... python -m benchmarks.latency --chunks 100000

The chunks are made: texts of the English collections, repeated with a fifth of their words exchanged, and
vectors drawn from a model fitted to the real ones (a real vector plus noise with the real covariance). So
the figures are about time, and say nothing about quality.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import seamline
from benchmarks import collection
from benchmarks.results import write
from seamline.analyze.text import create as create_analyzer
from seamline.embed import canary
from seamline.fingerprint import fingerprint, sha256_bytes, sha256_text, space_fingerprint
from seamline.knowledge_base import KnowledgeBase
from seamline.ports import IndexedChunk
from seamline.types import (
    Binding,
    Chunk,
    ChunkId,
    Document,
    DocumentId,
    Principal,
    Provenance,
    Quality,
    Scope,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SETS = ("scifact", "cranfield", "cisi", "time", "nq-utd", "xquad-en")
CHUNK_CHARS = 1000
CHUNKS_A_DOCUMENT = 10
SAMPLE = 1500
SEED = 20260


def main() -> None:
    """Build (once) and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--home", type=Path, default=Path(".cache/bench"))
    parser.add_argument("--rebuild", action="store_true")
    options = parser.parse_args()
    home = options.home / f"latency-{options.chunks}"
    if options.rebuild:
        shutil.rmtree(home, ignore_errors=True)
    texts = list(collection.queries(collection.data_folder() / "scifact").values())[: options.queries]
    figures: dict[str, Any] = {"chunks": options.chunks}
    if not (home / "complete").exists():
        shutil.rmtree(home, ignore_errors=True)
        figures |= build(home, options.chunks)
        (home / "complete").touch()
    figures |= measure(home, texts)
    for name, value in figures.items():
        print(f"{name:34} {value if isinstance(value, int) else f'{value:.3f}'}")
    write(f"latency-{options.chunks}", figures)


def build(home: Path, count: int) -> dict[str, float]:
    """Fill a kb with made chunks; how long storing took, model and analysis apart."""
    with seamline.open("bench", home=home, settings={"embedding_provider": "local"}) as kb:
        kb.create()
        embedder, analyzer = kb.embedder(), create_analyzer(kb.settings.values.mapping())
        pieces = real_pieces()
        rng = random.Random(SEED)
        sample = rng.sample(pieces, min(SAMPLE, len(pieces)))
        vectors = fitted_vectors(embedder.embed_passages(sample), count)
        words = [word for text in pieces for word in text.split()]
        chunks = made_chunks(pieces, words, rng)
        stored = 0.0
        with kb.store().write() as writer:
            writer.bind(
                Binding(
                    space=embedder.space,
                    space_fingerprint=space_fingerprint(embedder.space),
                    chunker_fingerprint=fingerprint("recipe", "made chunks"),
                    analyzer_fingerprint=analyzer.fingerprint,
                    canaries=canary.record(embedder),
                )
            )
            for number in range(count // CHUNKS_A_DOCUMENT):
                document, parts = next_document(number, list(islice(chunks, CHUNKS_A_DOCUMENT)))
                row = number * CHUNKS_A_DOCUMENT
                indexed = [
                    IndexedChunk(
                        chunk=part,
                        text_sha256=sha256_text(part.text),
                        terms=analyzer.terms(part.text, "en"),
                        vectors={"child": vectors[row + i]},
                    )
                    for i, part in enumerate(parts)
                ]
                began = time.perf_counter()
                writer.put(document, indexed)
                if number % 500 == 499:
                    writer.commit()
                stored += time.perf_counter() - began
            began = time.perf_counter()
            writer.commit()
            stored += time.perf_counter() - began
        size = sum(path.stat().st_size for path in kb.folder.rglob("*") if path.is_file()) if kb.folder else 0
    return {"stored chunks/s": count / stored, "folder MB": size / 1e6}


def real_pieces() -> list[str]:
    """Texts of the English collections, cut to ``CHUNK_CHARS``."""
    found = []
    for name in SETS:
        for line in (collection.data_folder() / name / "corpus.jsonl").read_text(encoding="utf-8").split("\n"):
            if line.strip():
                text = json.loads(line)["text"]
                found += [text[i : i + CHUNK_CHARS] for i in range(0, len(text), CHUNK_CHARS)]
    return [text for text in found if len(text.split()) > 20]


def made_chunks(pieces: Sequence[str], words: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Endless variations: a fifth of a real text's words exchanged for words of the corpus."""
    while True:
        for piece in pieces:
            parts = piece.split()
            for _ in range(len(parts) // 5):
                parts[rng.randrange(len(parts))] = rng.choice(words)
            yield " ".join(parts)


def fitted_vectors(real: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Unit vectors: a random real one plus Gaussian noise of half the real covariance's scale."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    factor = np.linalg.cholesky(np.cov(real, rowvar=False) + 1e-6 * np.eye(real.shape[1])).astype(np.float32)
    made = np.empty((count, real.shape[1]), dtype=np.float32)
    for start in range(0, count, 10_000):
        size = min(10_000, count - start)
        noise = rng.standard_normal((size, real.shape[1]), dtype=np.float32) @ factor.T
        made[start : start + size] = real[rng.integers(0, len(real), size)] + 0.5 * noise
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def next_document(number: int, texts: Sequence[str]) -> tuple[Document, list[Chunk]]:
    """One document of consecutive chunks; one in a hundred is for a group of its own."""
    id_ = DocumentId(f"made/{number:06}.txt")
    text = "\n".join(texts)
    document = Document(
        id=id_,
        text=text,
        text_sha256=sha256_text(text),
        media_type="text/plain",
        provenance=Provenance(
            source_uri=id_, content_sha256=sha256_bytes(text.encode()), parser="made", parser_version="1"
        ),
        quality=Quality(characters=len(text)),
        language="en",
        readable_by=frozenset({"few"}) if number % 100 == 0 else frozenset({"many"}),
    )
    chunks, start = [], 0
    for index, part in enumerate(texts):
        chunks.append(
            Chunk(
                id=ChunkId(f"{id_}#c{index:016x}"),
                document_id=id_,
                text=part,
                char_start=start,
                char_end=start + len(part),
                chunk_index=index,
                language="en",
                document_sha256=document.text_sha256,
            )
        )
        start += len(part) + 1
    return document, chunks


def measure(home: Path, texts: Sequence[str]) -> dict[str, float]:
    """Latencies in milliseconds, each the median over the queries (and P95, P99 where named)."""
    figures: dict[str, float] = {}
    began = time.perf_counter()
    with seamline.open("bench", home=home, settings={"embedding_provider": "local"}) as kb:
        embedder = kb.embedder()
        vectors = [embedder.embed_query(text) for text in texts]
        figures["load model, embed queries s"] = time.perf_counter() - began
        began = time.perf_counter()
        kb.retrieve(texts[0])
        figures["open and first query ms"] = (time.perf_counter() - began) * 1000
        analyzer = create_analyzer(kb.settings.values.mapping())
        asked = [analyzer.query(text, ["en"]) for text in texts]
        with kb.read() as snapshot:
            few = Scope(principal=Principal(id="x", groups=frozenset({"few"})), kb="bench")
            cold = times(lambda i: snapshot.keyword_pool(kb.scope, asked[i], 100), len(texts))
            warm = times(lambda i: snapshot.keyword_pool(kb.scope, asked[i], 100), len(texts))
            dense = times(lambda i: snapshot.dense_pool(kb.scope, vectors[i], 100), len(texts))
            snapshot.keyword_pool(few, asked[0], 100)
            figures |= spread("keyword cold", cold) | spread("keyword warm", warm) | spread("dense exact", dense)
            filtered = times(lambda i: snapshot.keyword_pool(few, asked[i], 100), len(texts))
            figures |= spread("keyword, 1% access filter", filtered)
            filtered = times(lambda i: snapshot.dense_pool(few, vectors[i], 100), len(texts))
            figures |= spread("dense, 1% access filter", filtered)
        figures |= end_to_end(kb, texts)
    figures["peak RSS MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures["cores"] = os.cpu_count() or 0
    return figures


def end_to_end(kb: KnowledgeBase, texts: Sequence[str]) -> dict[str, float]:
    """``economy`` with the model, as ``seamline search`` runs it, and the query embedding alone."""
    embedder = kb.embedder()
    embed = times(lambda i: embedder.embed_query(texts[i]), len(texts))
    whole = times(lambda i: kb.retrieve(texts[i]), len(texts))
    return spread("embed query", embed) | spread("search end to end", whole)


def times(call: Callable[[int], object], count: int) -> list[float]:
    """Wall milliseconds of ``call(0) ... call(count - 1)``."""
    found = []
    for i in range(count):
        began = time.perf_counter()
        call(i)
        found.append((time.perf_counter() - began) * 1000)
    return found


def spread(name: str, values: Sequence[float]) -> dict[str, float]:
    """Median, P95 and P99."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {f"{name} P50 ms": cuts[49], f"{name} P95 ms": cuts[94], f"{name} P99 ms": cuts[98]}


if __name__ == "__main__":
    main()
