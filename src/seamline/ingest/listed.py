"""The files that a list names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from seamline.errors import ListingError
from seamline.ingest.folder import FolderSource, ListingLimits


def create(
    settings: Mapping[str, object], *, paths: Sequence[Path], name: str | None = None, exclude: Path | None = None
) -> FolderSource:
    """From text files with one path a line, relative to the list; empty lines and those with ``#`` first are skipped.

    Raises ``ListingError`` for a list that cannot be read or names nothing, so that it never empties a kb.
    """
    named: list[Path] = []
    for path in paths:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ListingError(f"{path}: the list cannot be read ({error})", hint="UTF-8, one path a line") from error
        named.extend(path.parent / line.strip() for line in lines if line.strip() and not line.startswith("#"))
    if not named:
        raise ListingError("the list names no file", hint="one path a line")
    own = name or os.pathsep.join(str(path.resolve()) for path in paths)
    return FolderSource(named, name=own, limits=ListingLimits.of(settings), exclude=exclude)
