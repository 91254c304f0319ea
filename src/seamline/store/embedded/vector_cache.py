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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LOG = logging.getLogger(__name__)
_FORMAT = "seamline-vectors-1"
_HEADER = 4096
_SHARD = 16 << 20


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


def save(folder: Path, name: str, generation: int, token: bytes, rows: Rows) -> Rows:
    """Write the cache and map it; older ones are deleted. Returns ``rows`` itself where that is not possible."""
    path = folder / f"vectors-{name}-{generation}.f32"
    older = [file for stamp, file in _files(folder, name) if stamp < generation]
    try:
        _write(path, name, generation, token, rows)
        mapped = _map(path, len(rows), rows.matrix.shape[1])
    except (OSError, ValueError) as error:
        _LOG.warning("%s cannot be written, vectors are served from memory: %s", path.name, error)
        return rows
    for file in older:
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


def _write(path: Path, name: str, generation: int, token: bytes, rows: Rows) -> None:
    body: list[NDArray[Any]] = [
        np.ascontiguousarray(rows.ordinals, dtype="<i8"),
        np.ascontiguousarray(rows.norms, dtype="<f8"),
        np.ascontiguousarray(rows.matrix, dtype="<f4"),
    ]
    header = {
        "format": _FORMAT,
        "name": name,
        "generation": generation,
        "token": token.hex(),
        "rows": len(rows),
        "dimension": rows.matrix.shape[1],
        "sha256": _checksum(body),
    }
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(json.dumps(header).encode("ascii").ljust(_HEADER))
            for part in body:
                file.write(part.data.cast("B") if part.size else b"")
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _read(path: Path, name: str, generation: int, token: bytes) -> Rows:
    with path.open("rb") as file:
        header: dict[str, Any] = json.loads(file.read(_HEADER))
    expected = {"format": _FORMAT, "name": name, "generation": generation, "token": token.hex()}
    if any(header[key] != value for key, value in expected.items()):
        raise ValueError("it belongs to another kb or another history")
    rows = _map(path, int(header["rows"]), int(header["dimension"]))
    if _checksum([rows.ordinals, rows.norms, rows.matrix]) != header["sha256"]:
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


def _checksum(parts: list[NDArray[Any]]) -> list[str]:
    """sha256 of each 16 MiB, taken on two threads: hashing is what opening a large cache waits for."""
    shards = [
        view[start : start + _SHARD]
        for view in (part.data.cast("B") for part in parts if part.size)
        for start in range(0, len(view), _SHARD)
    ]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda shard: hashlib.sha256(shard).hexdigest(), shards))
