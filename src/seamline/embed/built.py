"""Built encoders on disk: made once from the weights, published atomically, named after all that decides them."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from seamline.embed import bert, weights
from seamline.embed.quantise import quantise

Precision = Literal["int8", "float32"]


def built_model(files: weights.ModelFiles, cache_dir: Path, precision: Precision) -> Path:
    """The ONNX file of these (verified) weights, building it when it is not there yet (1 to 3 s).

    Raises ``EmbeddingError`` when the weights are not an encoder that can be built.
    """
    target = cache_dir / "built" / f"{weights.MODEL}-{precision}-{_stamp(precision)}.onnx"
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with _locked(target.with_suffix(".lock")):
        if not target.is_file():  # another process may have built it while this one waited
            _build(files.weights, target, precision)
    return target


def _stamp(precision: Precision) -> str:
    """Changes with the weights, the builder and the libraries that write the file."""
    libraries = ("onnx",) if precision == "float32" else ("onnx", "onnxruntime")
    parts = [weights.REVISION, str(bert.BUILDER_VERSION), precision, *(f"{name} {version(name)}" for name in libraries)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _build(source: Path, target: Path, precision: Precision) -> None:
    import onnx

    model = bert.build(bert.read_weights(source), bert.MINILM_L6)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".build-") as temporary:
        draft = Path(temporary) / target.name
        if precision == "int8":
            quantise(model, draft)
        else:
            onnx.save(model, draft)
        draft.replace(target)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock that ends with the process.

    Windows has no ``flock``; there two processes may build at once, which costs time and is otherwise
    harmless, since publishing is a rename.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
