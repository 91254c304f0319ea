"""The scanning cache of vectors: a file beside ``kb.sqlite`` that can be deleted at any time.

It holds the vectors of one name as one commit left them, with that commit's generation and random token (a
generation number alone would match again after a backup was restored), and sha256 sums. A file that is absent,
damaged or of another history is built anew; where it cannot be written, memory serves.

Layout: a header of 4,096 bytes (JSON, padded with spaces), the ordinals (int64, ascending), the norms (float64),
the vectors (float32).
"""

from __future__ import annotations

import hashlib
import json
import logging
import mmap
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seamline.store.embedded.schema import FILE

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LOG = logging.getLogger(__name__)
_FORMAT = "seamline-vectors-1"
_HEADER = 4096
_SHARD = 16 << 20
_ABANDONED_S = 3600.0


@dataclass(frozen=True, slots=True)
class Rows:
    """Stored vectors as float32, shape ``(n, d)``, by ascending ordinal, with their norms, each shape ``(n,)``.

    The norm of a zero vector is given as 1, so that its cosine is 0.
    """

    ordinals: NDArray[np.int64]
    norms: NDArray[np.float64]
    matrix: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.ordinals)


def load(folder: Path, name: str, generation: int, token_of: Callable[[int], bytes | None]) -> Rows | None:
    """The newest usable cache that is not newer than ``generation``; ``None`` when there is none.

    Args:
        folder: of the kb.
        name: of the vectors.
        generation: of the reader's snapshot.
        token_of: gives the token that the kb recorded for a commit, ``None`` for one that it does not know.
    """
    for stamp, path in sorted(_files(folder, name), reverse=True):
        token = token_of(stamp) if stamp <= generation else None
        if token is None:
            continue
        try:
            return _read(path, name, stamp, token)
        except (OSError, ValueError, KeyError, TypeError) as error:
            _LOG.warning("%s is not usable and will be built anew: %s", path.name, error)
    return None


def save(
    folder: Path, name: str, stamp: tuple[int, bytes], shape: tuple[int, int], pages: Iterable[Rows]
) -> Rows | None:
    """Write the cache and map it; older ones are deleted. ``None`` where that is not possible, with a warning.

    Args:
        folder: of the kb.
        name: of the vectors.
        stamp: generation and token of the commit that they belong to.
        shape: how many vectors there are, and their dimension.
        pages: the vectors, in ascending order of ordinal; never held together.
    """
    path = folder / f"vectors-{name}-{stamp[0]}.f32"
    older = [file for generation, file in _files(folder, name) if generation < stamp[0]]
    try:
        _write(path, name, stamp, shape, pages)
        mapped = _map(path, *shape)
    except (OSError, ValueError) as error:
        _LOG.warning("%s cannot be written, vectors are served from memory: %s", path.name, error)
        return None
    for file in [*older, *_abandoned(folder, name)]:
        with suppress(OSError):  # another process may have deleted it, and a leftover does no harm
            file.unlink()
    return mapped


def _files(folder: Path, name: str) -> list[tuple[int, Path]]:
    found = []
    for path in folder.glob(f"vectors-{name}-*.f32"):
        stamp = path.stem.rpartition("-")[2]
        if stamp.isdecimal():
            found.append((int(stamp), path))
    return found


def _abandoned(folder: Path, name: str) -> list[Path]:
    """Unfinished files of processes that died."""
    found = []
    for path in folder.glob(f".vectors-{name}-*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _ABANDONED_S:
                found.append(path)
    return found


def _write(path: Path, name: str, stamp: tuple[int, bytes], shape: tuple[int, int], pages: Iterable[Rows]) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        # Not synced to disk: after a power failure the checksums tell, and the file is built anew.
        with os.fdopen(descriptor, "wb") as file:
            file.seek(_HEADER + 16 * shape[0])
            numbers: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
            for page in pages:
                file.write(np.ascontiguousarray(page.matrix, dtype="<f4").data)
                numbers.append((page.ordinals, page.norms))
            file.seek(_HEADER)
            file.write(np.concatenate([ordinals for ordinals, _ in numbers]).astype("<i8").data)
            file.write(np.concatenate([norms for _, norms in numbers]).astype("<f8").data)
            file.flush()
            header = _identity(name, *stamp) | {
                "rows": shape[0],
                "dimension": shape[1],
                "sha256": _checksum(_map(Path(temporary), *shape)),
            }
            file.seek(0)
            file.write(json.dumps(header).encode("ascii").ljust(_HEADER))
        # As readable as the kb itself, neither more nor less: vectors tell much about their texts.
        Path(temporary).chmod((path.parent / FILE).stat().st_mode & 0o666)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _identity(name: str, generation: int, token: bytes) -> dict[str, object]:
    return {"format": _FORMAT, "name": name, "generation": generation, "token": token.hex()}


def _read(path: Path, name: str, generation: int, token: bytes) -> Rows:
    with path.open("rb") as file:
        header: dict[str, Any] = json.loads(file.read(_HEADER))
    if any(header[key] != value for key, value in _identity(name, generation, token).items()):
        raise ValueError("it belongs to another kb or another history")
    rows = _map(path, int(header["rows"]), int(header["dimension"]))
    if _checksum(rows) != header["sha256"]:
        raise ValueError("its checksum does not match")
    return rows


def _map(path: Path, count: int, dimension: int) -> Rows:
    start = _HEADER + 16 * count
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if count < 1 or size != start + 4 * count * dimension:
            raise ValueError(f"it has {size} bytes, not what its header says")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return Rows(
        np.frombuffer(mapped, dtype="<i8", count=count, offset=_HEADER),
        np.frombuffer(mapped, dtype="<f8", count=count, offset=_HEADER + 8 * count),
        np.frombuffer(mapped, dtype="<f4", count=count * dimension, offset=start).reshape(count, dimension),
    )


def _checksum(rows: Rows) -> list[str]:
    """sha256 of each 16 MiB, taken on two threads: hashing is what opening a large cache waits for."""
    shards = [
        view[start : start + _SHARD]
        for view in (rows.ordinals.data.cast("B"), rows.norms.data.cast("B"), rows.matrix.data.cast("B"))
        for start in range(0, len(view), _SHARD)
    ]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda shard: hashlib.sha256(shard).hexdigest(), shards))
