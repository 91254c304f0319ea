"""The dense leg: exact numbers however they are computed, and the cache file beside the kb."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numpy as np
import pytest

from seamline.conformance.store_case import DIMENSION, put, remove, scope, vector_of
from seamline.errors import StoreCorruptError
from seamline.store.embedded import vector_cache, vectors
from seamline.store.embedded.vector_cache import Rows
from seamline.types import ChunkId, Hit
from support.embedded import made_up, open_store


def caches(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*vectors-*"))


def asked(folder: Path, **given: object) -> list[Hit]:
    store = open_store(folder, **given)
    with store.read() as snapshot:
        hits = snapshot.dense_pool(scope(), vector_of("asked"), 7)
    store.close()
    return hits


def fill(folder: Path, count: int = 30) -> None:
    store = open_store(folder)
    put(store, *(made_up(f"d{number:02}", number, lines=4) for number in range(count)))
    store.close()


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "MIN_CACHED", 20)


@pytest.mark.usefixtures("_small")
def test_the_cache_is_made_used_and_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    assert caches(tmp_path) == []
    first = asked(tmp_path)
    assert caches(tmp_path) == ["vectors-child-31.f32"]
    monkeypatch.setattr(vector_cache, "_write", None)  # from here on it is used, not made
    assert asked(tmp_path) == first
    monkeypatch.undo()
    monkeypatch.setattr(vectors, "MIN_CACHED", 20)
    store = open_store(tmp_path)
    put(store, *(made_up(f"e{number:02}", number + 900, lines=4) for number in range(30)))
    store.close()
    asked(tmp_path)
    assert caches(tmp_path) == ["vectors-child-62.f32"]


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("damage", ["shorter", "a bit", "another token", "header", "empty"])
def test_a_damaged_cache_is_built_anew(tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    fill(tmp_path)
    expected = asked(tmp_path)
    (path,) = tmp_path.glob("vectors-*")
    good = path.read_bytes()
    flipped = bytearray(good)
    flipped[-5] ^= 1
    token = good.index(b'"token": "') + 10
    path.write_bytes(
        {
            "shorter": good[:-4],
            "a bit": bytes(flipped),
            "another token": good[:token] + b"0" * 32 + good[token + 32 :],
            "header": b"[1, 2]" + good[6:],
            "empty": b"",
        }[damage]
    )
    with caplog.at_level(logging.WARNING):
        assert asked(tmp_path) == expected
    assert "built anew" in caplog.text
    assert path.read_bytes() == good


@pytest.mark.usefixtures("_small")
def test_a_cache_of_another_history_is_not_used(tmp_path: Path) -> None:
    for name in ("one", "two"):
        fill(tmp_path / name)
    store = open_store(tmp_path / "two")
    put(store, made_up("d00", 777, lines=4))  # the other kb went on: same numbers, other vectors
    store.close()
    store = open_store(tmp_path / "one")
    put(store, made_up("d00", 778, lines=4))
    store.close()
    expected = asked(tmp_path / "one")
    asked(tmp_path / "two")
    (path,) = (tmp_path / "two").glob("vectors-*")
    (own,) = (tmp_path / "one").glob("vectors-*")
    assert own.name == path.name
    own.write_bytes(path.read_bytes())
    assert asked(tmp_path / "one") == expected


@pytest.mark.usefixtures("_small")
def test_without_a_place_for_the_cache_memory_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fill(tmp_path)
    expected = asked(tmp_path)
    (path,) = tmp_path.glob("vectors-*")
    path.unlink()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    assert asked(tmp_path) == expected
    assert "served from memory" in caplog.text
    assert caches(tmp_path) == []


@pytest.mark.usefixtures("_small")
def test_rule_05_a_cache_does_not_bring_back_the_deleted(tmp_path: Path) -> None:
    fill(tmp_path)
    store = open_store(tmp_path)
    with store.read() as snapshot:
        gone = snapshot.dense_pool(scope(), vector_of("asked"), 1)[0].chunk_id
    remove(store, gone.split("#")[0])
    put(store, made_up("new", 5000, lines=2))
    store.close()
    assert caches(tmp_path) == ["vectors-child-31.f32"]
    for _ in range(2):
        store = open_store(tmp_path)
        with store.read() as snapshot:
            found = [hit.chunk_id for hit in snapshot.dense_pool(scope(), vector_of("asked"), None)]
        store.close()
        assert gone not in found
        assert {"new#0", "new#1"} < set(found)
        assert len(found) == 29 * 4 + 2


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_scores_do_not_depend_on_how_the_scan_is_split(tmp_path: Path, threads: int) -> None:
    fill(tmp_path)
    store = open_store(tmp_path, scan_threads=threads)
    with store.read() as snapshot:
        every = snapshot.dense_pool(scope(), vector_of("asked"), None)
        ids = [hit.chunk_id for hit in every]
        for depth in (1, 5, 50):
            assert snapshot.dense_pool(scope(), vector_of("asked"), depth) == every[:depth]
        assert snapshot.cosines(scope(), vector_of("asked"), ids) == [hit.score for hit in every]
        for place, hit in enumerate(every):
            assert snapshot.cosines(scope(), vector_of("asked"), [ChunkId(hit.chunk_id)]) == [every[place].score]
        narrow = scope(documents=["d03", "d07"])
        kept = [hit for hit in every if hit.chunk_id[:3] in ("d03", "d07")]
        assert snapshot.dense_pool(narrow, vector_of("asked"), 5) == kept[:5]
    store.close()


def test_very_long_and_short_vectors_keep_their_angle() -> None:
    plain = np.random.default_rng(1).standard_normal((3, DIMENSION)).astype(np.float32)
    scaled = plain * np.array([[2.0**100], [2.0**-100], [0.0]], dtype=np.float32)
    rows = vectors._measured([1, 2, 3], scaled.copy())
    assert np.isfinite(rows.norms).all()
    units = rows.matrix[:2] / rows.norms[:2, None]
    assert np.allclose(units, plain[:2] / np.linalg.norm(plain[:2], axis=1, keepdims=True), atol=1e-6)
    assert rows.norms[2] == 1.0


def test_vectors_of_both_precisions_are_read(tmp_path: Path) -> None:
    for dtype, number in (("float16", 1), ("float32", 2)):
        store = open_store(tmp_path, vector_dtype=dtype)
        put(store, made_up(f"d{number}", number, lines=3))
        store.close()
    assert len(asked(tmp_path)) == 6
    with pytest.raises(StoreCorruptError, match="16 numbers"):
        vectors.decoded([b"123"], 16)


def test_a_cache_file_survives_its_round_trip(tmp_path: Path) -> None:
    (tmp_path / "kb.sqlite").touch()
    (tmp_path / "kb.sqlite").chmod(0o640)
    abandoned = tmp_path / ".vectors-child-3.f32.dead"
    abandoned.touch()
    os.utime(abandoned, (0, 0))
    random = np.random.default_rng(4)
    matrix = random.standard_normal((10, 3)).astype(np.float32)
    pages = [Rows(np.arange(5) + 5 * part, np.ones(5), matrix[5 * part : 5 * part + 5]) for part in range(2)]
    assert vector_cache.save(tmp_path, "child", (7, b"token"), (10, 3), pages) is not None
    assert not abandoned.exists()
    assert (tmp_path / "vectors-child-7.f32").stat().st_mode & 0o777 == 0o640
    for generation, token in ((7, b"token"), (9, b"token")):
        found = vector_cache.load(tmp_path, "child", generation, lambda _, token=token: token)  # type: ignore[misc]
        assert found is not None
        assert found.ordinals.tolist() == list(range(10))
        assert np.array_equal(found.matrix, matrix)
    assert vector_cache.load(tmp_path, "child", 6, lambda _: b"token") is None
    assert vector_cache.load(tmp_path, "parent", 7, lambda _: b"token") is None
    assert vector_cache.load(tmp_path, "child", 7, lambda _: None) is None
