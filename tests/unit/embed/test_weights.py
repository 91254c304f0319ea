"""Where the weights are looked for, and that others are refused."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from seamline.embed import weights
from seamline.errors import ModelMissingError, WeightsMismatchError
from support import embed as support

needs_model = pytest.mark.skipif(not support.MODEL_PRESENT, reason=support.NO_MODEL)


def fake_model(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for name in weights.SHA256:
        (directory / name).write_bytes(b"not the model")
    return directory


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(weights, "files", absent)


def test_the_named_directory_comes_first(tmp_path: Path) -> None:
    named, cache = fake_model(tmp_path / "mine"), tmp_path / "cache"
    fake_model(weights.cached_dir(cache))
    assert weights.locate(named, cache).weights.parent == named
    assert weights.locate(None, cache).weights.parent == weights.cached_dir(cache)


def test_a_named_directory_without_the_files_is_not_replaced_by_another(tmp_path: Path) -> None:
    fake_model(weights.cached_dir(tmp_path))
    with pytest.raises(ModelMissingError, match="does not hold") as caught:
        weights.locate(tmp_path / "nowhere", tmp_path)
    assert "embedding_model_dir" in str(caught.value.hint)


@pytest.mark.usefixtures("no_package")
def test_nowhere_says_where_it_looked_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError) as caught:
        weights.locate(None, tmp_path)
    assert str(weights.cached_dir(tmp_path)) in caught.value.message
    assert weights.PACKAGE in caught.value.message
    assert caught.value.hint == "seamline models pull"
    assert not weights.present({"embedding_model_dir": None, "model_cache_dir": str(tmp_path)})


def test_present_needs_both_files(tmp_path: Path) -> None:
    directory = fake_model(tmp_path / "m")
    settings = {"embedding_model_dir": str(directory), "model_cache_dir": str(tmp_path)}
    assert weights.present(settings)
    (directory / weights.TOKENIZER_FILE).unlink()
    assert not weights.present(settings)


def test_the_cache_directory_must_have_been_resolved() -> None:
    with pytest.raises(ValueError, match="model_cache_dir"):
        weights.directories({"embedding_model_dir": None, "model_cache_dir": None})


def test_other_weights_are_refused(tmp_path: Path) -> None:
    found = weights.locate(fake_model(tmp_path), tmp_path)
    with pytest.raises(WeightsMismatchError, match=weights.SHA256[weights.WEIGHTS_FILE]) as caught:
        found.verify()
    assert "seamline models pull" in str(caught.value.hint)


@needs_model
def test_the_real_weights_are_the_expected_ones() -> None:
    weights.locate(None, support.CACHE_DIR).verify()
    assert weights.SHA256[weights.WEIGHTS_FILE].startswith(weights.REVISION)
