from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamline.conformance.store_case import binding, document, indexed, state
from seamline.errors import IntegrityError, StoreCorruptError
from seamline.store.records import (
    binding_from_json,
    binding_to_json,
    chunk_from_json,
    chunk_to_json,
    document_from_json,
    document_to_json,
    state_from_json,
    state_to_json,
)
from seamline.types import (
    Binding,
    Block,
    Canary,
    Chunk,
    ChunkId,
    Document,
    DocumentId,
    EmbeddingSpace,
    Fingerprint,
    IngestState,
    IngestStatus,
    Page,
    ParseStatus,
    Provenance,
    Quality,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
MAYBE = st.none() | TEXT
COUNTS = st.integers(0, 2**63)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
PAGES = st.lists(st.builds(Page, index=COUNTS, label=MAYBE, char_start=COUNTS, char_end=COUNTS), max_size=3).map(tuple)
BLOCKS = st.lists(
    st.builds(
        Block,
        kind=st.sampled_from(["heading", "code"]),
        char_start=COUNTS,
        char_end=COUNTS,
        level=st.none() | COUNTS,
        title=MAYBE,
        group=st.none() | COUNTS,
    ),
    max_size=3,
).map(tuple)
DOCUMENTS = st.builds(
    Document,
    id=TEXT.map(DocumentId),
    text=TEXT,
    text_sha256=TEXT,
    media_type=TEXT,
    provenance=st.builds(
        Provenance, source_uri=TEXT, content_sha256=TEXT, parser=TEXT, parser_version=TEXT, decoder=MAYBE
    ),
    quality=st.builds(Quality, characters=COUNTS, failed_pages=COUNTS),
    title=MAYBE,
    language=MAYBE,
    language_confidence=st.none() | FLOATS,
    language_declared=st.booleans(),
    blocks=BLOCKS,
    pages=PAGES,
    readable_by=st.none() | st.frozensets(TEXT, max_size=3),
    metadata=st.dictionaries(TEXT, TEXT | st.integers() | FLOATS | st.booleans(), max_size=4),
    version=MAYBE,
    status=st.sampled_from(ParseStatus),
    status_reason=MAYBE,
)
CHUNKS = st.builds(
    Chunk,
    id=TEXT.map(ChunkId),
    document_id=TEXT.map(DocumentId),
    text=TEXT,
    char_start=COUNTS,
    char_end=COUNTS,
    chunk_index=COUNTS,
    heading_path=st.lists(TEXT, max_size=3).map(tuple),
    title=MAYBE,
    language=MAYBE,
    pages=PAGES,
    parent_id=MAYBE,
    source_uri=MAYBE,
    document_sha256=TEXT,
    context=MAYBE,
)
BINDINGS = st.builds(
    Binding,
    space=st.builds(
        EmbeddingSpace,
        provider=TEXT,
        model=TEXT,
        revision=TEXT,
        dimension=COUNTS,
        window=st.none() | COUNTS,
        languages=st.frozensets(TEXT, max_size=3),
    ),
    space_fingerprint=TEXT.map(Fingerprint),
    chunker_fingerprint=TEXT.map(Fingerprint),
    analyzer_fingerprint=TEXT.map(Fingerprint),
    canaries=st.lists(st.builds(Canary, text=TEXT, vector=st.lists(FLOATS, max_size=3).map(tuple)), max_size=2).map(
        tuple
    ),
)
STATES = st.builds(
    IngestState,
    document_id=TEXT.map(DocumentId),
    source=TEXT,
    status=st.sampled_from(IngestStatus),
    revision=TEXT,
    content_sha256=MAYBE,
    recipe=MAYBE,
    version=MAYBE,
    reason=MAYBE,
    retryable=st.booleans(),
)


def kinds(made: Document) -> dict[str, type]:
    return {key: type(value) for key, value in made.metadata.items()}


@given(DOCUMENTS)
def test_documents_survive(made: Document) -> None:
    back = document_from_json(document_to_json(made))
    assert back == made
    assert kinds(back) == kinds(made)
    assert type(back.status) is ParseStatus
    assert document_to_json(back) == document_to_json(made)


@given(CHUNKS)
def test_chunks_survive(made: Chunk) -> None:
    assert chunk_from_json(chunk_to_json(made)) == made


@given(BINDINGS)
def test_bindings_survive(made: Binding) -> None:
    assert binding_from_json(binding_to_json(made)) == made


@given(STATES)
def test_states_survive(made: IngestState) -> None:
    assert state_from_json(state_to_json(made)) == made


def test_equal_values_have_equal_texts() -> None:
    one = document("d", "x", readable_by=frozenset({"a", "b", "c"}), metadata={"x": 1, "y": 2})
    two = document("d", "x", readable_by=frozenset({"c", "b", "a"}), metadata={"y": 2, "x": 1})
    assert document_to_json(one) == document_to_json(two)
    assert '"readable_by":["a","b","c"]' in document_to_json(one)


@pytest.mark.parametrize(
    "changed",
    [
        {"metadata": {"a": float("inf")}},
        {"metadata": {"a": object()}},
        {"metadata": {"a": {1, 2}}},
        {"text": "lone \ud800 surrogate"},
        {"title": "\udfff"},
    ],
)
def test_what_json_cannot_carry_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match=r"'d' cannot be stored exactly"):
        document_to_json(replace(document("d", "x"), **changed))


def _without(text: str, name: str) -> str:
    value = json.loads(text)
    del value[name]
    return json.dumps(value)


DAMAGED: list[tuple[Callable[[str], object], str]] = [
    (document_from_json, document_to_json(document("d", "x"))[:-1]),
    (document_from_json, _without(document_to_json(document("d", "x")), "pages")),
    (document_from_json, _without(document_to_json(document("d", "x")), "text")),
    (document_from_json, document_to_json(document("d", "x")).replace('"status":"ok"', '"status":"fine"')),
    (document_from_json, "[]"),
    (document_from_json, "null"),
    (chunk_from_json, _without(chunk_to_json(indexed(document("d", "x"))[0].chunk), "id")),
    (chunk_from_json, chunk_to_json(indexed(document("d", "x"))[0].chunk).replace('"text"', '"txt"')),
    (binding_from_json, binding_to_json(binding()).replace('"dimension"', '"dimensions"')),
    (state_from_json, state_to_json(state("d")).replace("committed", "lost")),
]


@pytest.mark.parametrize(("read", "text"), DAMAGED)
def test_a_damaged_record_is_an_error_with_a_remedy(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(StoreCorruptError, match="doctor"):
        read(text)
