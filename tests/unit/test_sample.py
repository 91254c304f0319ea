"""The frozen chunks of the sample corpus and the code that derives them may never drift apart."""

from __future__ import annotations

from collections import Counter

from seamline.kit import load_documents
from seamline.sample import build_bundled_chunks, folder, frozen_bytes, load_bundled_chunks


def test_the_frozen_chunks_are_what_the_code_derives() -> None:
    frozen = (folder() / "corpus.chunks.jsonl").read_bytes()
    assert frozen == frozen_bytes(build_bundled_chunks()), (
        "run: python -m seamline.sample --write evals/corpus.chunks.jsonl, and say in the CHANGELOG what changed"
    )


def test_the_frozen_chunks_are_read_back_exactly() -> None:
    chunks = load_bundled_chunks()
    assert frozen_bytes(chunks) == (folder() / "corpus.chunks.jsonl").read_bytes()


def test_rule_08_frozen_ids_are_unique_and_spans_exact() -> None:
    chunks = load_bundled_chunks()
    assert max(Counter(chunk.id for chunk in chunks).values()) == 1
    texts = {document.id: document.text for document in load_documents(folder() / "corpus")}
    assert len(texts) >= 40
    for chunk in chunks:
        assert texts[chunk.document_id][chunk.char_start : chunk.char_end] == chunk.text
