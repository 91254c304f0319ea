"""Embedders behind a network, through every fault of a service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import seamline
from seamline import registry
from seamline.embed.remote import RemoteEmbedder
from seamline.errors import EmbeddingError, ProviderError, SettingsError, TransientProviderError
from seamline.settings import Settings
from support.embedding_server import Service, remote, service

PROVIDERS = ("openai", "tei", "cohere", "voyage", "jina")
INDEXED = ("openai", "voyage", "jina")
TEXTS = ["one text about pumps", "another about tides", "a third about nets"]


@pytest.fixture
def server() -> Iterator[Service]:
    with service() as running:
        yield running


def embedder(server: Service, name: str = "tei", **given: object) -> RemoteEmbedder:
    return remote(server, name, **given)


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_service_is_spoken_to_in_its_own_words(server: Service, name: str) -> None:
    made = embedder(server, name)
    vectors = made.embed_passages(TEXTS)
    assert vectors.shape == (3, 256)
    made.embed_query("Where are the pumps?")
    (path, told), (_, asked) = server.calls[-2:]
    expected = {
        "openai": ("/v1/embeddings", "input", None),
        "tei": ("/embed", "inputs", None),
        "cohere": ("/v2/embed", "texts", ("input_type", "search_document", "search_query")),
        "voyage": ("/v1/embeddings", "input", ("input_type", "document", "query")),
        "jina": ("/v1/embeddings", "input", ("task", "retrieval.passage", "retrieval.query")),
    }[name]
    assert path == expected[0]
    if expected[2] is None:  # the prefix table's words for the family
        assert told[expected[1]][0] == f"passage: {TEXTS[0]}"
        assert asked[expected[1]] == ["query: Where are the pumps"]
    else:
        field, passage, query = expected[2]
        assert (told[field], asked[field]) == (passage, query)
        assert told[expected[1]] == TEXTS
    assert set(server.keys) == {"Bearer planted-key"}


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("fault", ["429", "500", "503", "closes"])
def test_what_may_pass_is_tried_again(server: Service, name: str, fault: str) -> None:
    made = embedder(server, name)
    assert made.space.dimension == 256
    server.fault, server.times = fault, 2
    assert made.embed_passages(TEXTS).shape == (3, 256)
    server.times = -1
    with pytest.raises(TransientProviderError) as caught:
        made.embed_passages(TEXTS)
    assert "SECRET" not in str(caught.value)
    assert "planted-key" not in str(caught.value)
    assert TEXTS[0] not in str(caught.value)


def test_a_silent_service_is_a_timeout(server: Service) -> None:
    made = embedder(server, embedding_timeout_s=0.2, embedding_retries=0)
    server.fault = "silent"
    with pytest.raises(TransientProviderError, match=r"no answer within 0\.2 s"):
        made.embed_query("x")


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("fault", ["401", "404", "truncated"])
def test_what_will_not_pass_is_told_at_once(server: Service, name: str, fault: str) -> None:
    made = embedder(server, name)
    assert made.space.dimension == 256
    server.fault, before = fault, len(server.calls)
    with pytest.raises(ProviderError):
        made.embed_passages(TEXTS)
    if fault != "truncated":  # a body cut short is a lost connection to some clients
        assert len(server.calls) == before + 1


@pytest.mark.parametrize("fault", ["too few", "too many", "other dimension", "ragged", "NaN", "zeros", "text"])
@pytest.mark.parametrize("name", ["tei", "openai"])
def test_wrong_vectors_are_refused(server: Service, name: str, fault: str) -> None:
    made = embedder(server, name)
    assert made.space.dimension == 256
    server.fault = fault
    with pytest.raises(ProviderError):
        made.embed_passages(TEXTS)


@pytest.mark.parametrize("name", INDEXED)
def test_order_is_by_index(server: Service, name: str) -> None:
    made = embedder(server, name)
    right = made.embed_passages(TEXTS)
    server.fault = "wrong order"
    assert np.array_equal(made.embed_passages(TEXTS), right)
    server.fault = "repeated index"
    with pytest.raises(ProviderError):
        made.embed_passages(TEXTS)


def test_a_batch_that_is_too_long_is_halved_and_a_text_that_is_too_long_is_a_dead_letter(server: Service) -> None:
    made = embedder(server)
    assert made.space.dimension == 256
    server.longest = 80
    texts = [f"text {n} " + "x" * (200 if n == 5 else 5) for n in range(20)]
    matrix, dead = made.embed_each(texts)
    assert list(dead) == [5]
    assert not matrix[5].any()
    assert np.allclose(np.linalg.norm(np.delete(matrix, 5, axis=0), axis=1), 1)
    with pytest.raises(EmbeddingError, match="text 5 of 20"):
        made.embed_passages(texts)


def test_a_thousand_chunks_with_a_tenth_dead_end_with_exactly_those_and_heal(server: Service, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(1000):
        (docs / f"{number:04}.txt").write_text(f"Notice number {number} of the harbour office.", encoding="utf-8")
    dead = {f"{number:04}.txt" for number in range(0, 1000, 10)}
    server.dead = lambda text: any(f"number {int(name[:4])} of" in text for name in dead)
    settings = {"embedding_provider": "tei", "embedding_base_url": server.address, "embedding_model": "e5-small-v2"}
    with seamline.open(home=tmp_path / "home", settings=settings) as kb:
        first = kb.index(docs)
        assert {failure.document_id for failure in first.failed} == dead
        assert len(first.added) == 900
        assert all(f.retryable and f.reason.startswith("1 of 1 chunks could not be embedded") for f in first.failed)
        assert "SECRET" not in str(first.failed)
        server.dead = lambda _text: False
        second = kb.index(docs)
        assert (set(second.added), second.failed, second.embedded) == (dead, [], 100)


@pytest.mark.parametrize("name", PROVIDERS)
def test_without_a_key_or_an_address_the_setting_is_named(name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        registry.factory("embedders", name)(Settings().mapping())
    assert "embedding_" in str(caught.value.hint)


def test_two_keys_are_two_embedders(server: Service, tmp_path: Path) -> None:
    settings = {"embedding_provider": "tei", "embedding_base_url": server.address, "embedding_model": "m"}
    for key in ("first-key", "second-key"):
        with seamline.open(home=tmp_path / "home", settings=settings | {"embedding_api_key": key}) as kb:
            kb.embedder().embed_query("x")
        assert server.keys[-1] == f"Bearer {key}"
