"""Files and folders as a source: a complete, ordered listing, or an error that says why there is none."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seamline.errors import IdCollisionError, IngestError, ListingError, TransientIngestError
from seamline.ingest.ignore import IgnoreRules
from seamline.types import DocumentId, SourceEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingLimits:
    """Guards against a wrong path. Sizes are bytes; ``max_depth`` counts folders below a root."""

    max_files: int
    max_file_bytes: int
    max_total_bytes: int
    max_depth: int

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> ListingLimits:
        """Pick the settings of the same names."""
        names = ("max_files", "max_file_bytes", "max_total_bytes", "max_depth")
        return cls(**{name: int(str(settings[name])) for name in names})


@dataclass(frozen=True, slots=True)
class _File:
    id: str
    path: Path
    size: int
    mtime_ns: int


class FolderSource:
    """The files below some directories, and single files.

    A file's id is its path below the directory it was found in, with forward slashes; a single file's id is
    its name. Names that start with a dot are skipped, as is what ``.seamlineignore`` (gitignore syntax) says.
    Symbolic links are followed as long as they stay inside their directory.
    """

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]],
        *,
        name: str | None = None,
        limits: ListingLimits,
        exclude: Path | None = None,
    ) -> None:
        """Remember the resolved paths. ``name`` defaults to them, joined by the platform's path separator.

        ``exclude`` is a folder that is never entered: the home, which would otherwise index itself.
        """
        self._exclude = exclude.resolve() if exclude is not None else None
        self._roots = [Path(path).expanduser().resolve() for path in paths]
        self._name = name or os.pathsep.join(map(str, self._roots))
        self._limits = limits
        self._paths: dict[str, Path] = {}

    @property
    def name(self) -> str:
        """The name under which the kb remembers this source's entries."""
        return self._name

    def entries(self) -> Iterator[SourceEntry]:
        """Every file, ordered by id; nothing is yielded before the listing is complete.

        Raises ``ListingError`` when a folder cannot be read, ``IdCollisionError`` when two files claim one id,
        and ``IngestError`` when a limit is passed.
        """
        found: dict[str, _File] = {}
        total = 0
        for file in self._listing():
            if file.id in found:
                raise IdCollisionError(
                    f"two files claim the document id {file.id!r}: {found[file.id].path} and {file.path}",
                    hint="index their common parent folder, or index them under two --source-name",
                )
            found[file.id] = file
            total += file.size
            self._check_totals(len(found), total)
        self._paths = {id_: file.path for id_, file in found.items()}
        for id_ in sorted(found):
            file = found[id_]
            yield SourceEntry(
                id=DocumentId(id_),
                uri=file.path.as_uri(),
                revision=f"{file.size}-{file.mtime_ns}",
                size=file.size,
            )

    def read(self, entry: SourceEntry) -> bytes:
        """The bytes of one listed file.

        Raises ``IngestError`` for a file over ``max_file_bytes``, and a retryable one when the file vanished,
        became something else, or changed while it was read.
        """
        path = self._paths.get(entry.id)
        if path is None:
            raise IngestError(f"{entry.id}: not listed by the source {self._name}", hint="list the entries first")
        try:
            return self._read(path)
        except OSError as error:
            raise TransientIngestError(
                f"{path}: cannot be read ({error.strerror})", hint="check its permissions, then index again"
            ) from error

    def _read(self, path: Path) -> bytes:
        # The path was resolved when it was listed: a link at its end now was put there since.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags), "rb") as file:
            before = os.fstat(file.fileno())
            if not stat.S_ISREG(before.st_mode):
                raise TransientIngestError(f"{path}: is no longer a regular file", hint="index again")
            if before.st_size > self._limits.max_file_bytes:
                raise IngestError(
                    f"{path}: {before.st_size} bytes, over the limit of {self._limits.max_file_bytes}",
                    hint="raise max_file_bytes, or exclude the file in .seamlineignore",
                )
            data = file.read(before.st_size + 1)
            after = os.fstat(file.fileno())
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(data) != before.st_size:
            raise TransientIngestError(f"{path}: changed while it was read", hint="index again when it is complete")
        return data

    def _check_totals(self, files: int, size: int) -> None:
        for name, value, limit in (
            ("max_files", files, self._limits.max_files),
            ("max_total_bytes", size, self._limits.max_total_bytes),
        ):
            if value > limit:
                raise IngestError(
                    f"{self._name}: the listing passes {name} ({limit})",
                    hint=f"check the path, exclude folders in .seamlineignore, or raise {name}",
                )

    def _listing(self) -> Iterator[_File]:
        for root in self._roots:
            if self._exclude in (root, *root.parents):
                raise ListingError(f"{root}: lies in the home of an index", hint="name a folder of documents")
            try:
                status = root.stat()
            except OSError as error:
                raise ListingError(f"{root}: cannot be listed ({error.strerror})", hint="check the path") from error
            if stat.S_ISREG(status.st_mode):
                yield _File(root.name, root, status.st_size, status.st_mtime_ns)
            elif stat.S_ISDIR(status.st_mode):
                yield from self._walk(root)
            else:
                raise ListingError(f"{root}: neither a file nor a folder", hint="check the path")

    def _walk(self, root: Path) -> Iterator[_File]:
        """Depth first, with an explicit stack; a folder reached twice on its own path is a cycle, and is cut."""
        pending: list[tuple[Path, str, IgnoreRules, tuple[Path, ...]]] = [(root, "", IgnoreRules(), (root,))]
        while pending:
            folder, prefix, inherited, trail = pending.pop()
            if len(trail) - 1 > self._limits.max_depth:
                raise IngestError(
                    f"{folder}: deeper than max_depth ({self._limits.max_depth}) below {root}",
                    hint="check for a folder that contains itself, or raise max_depth",
                )
            try:
                rules = inherited.below(folder, prefix)
                children = _children(folder, root)
            except OSError as error:
                raise ListingError(
                    f"{folder}: cannot be listed ({error.strerror})",
                    hint="make it readable or exclude it in .seamlineignore; nothing was removed",
                ) from error
            for name, target, status in children:
                id_ = prefix + name
                if stat.S_ISDIR(status.st_mode):
                    if target not in (*trail, self._exclude) and not rules.ignores(id_ + "/"):
                        pending.append((target, id_ + "/", rules, (*trail, target)))
                elif stat.S_ISREG(status.st_mode) and not rules.ignores(id_):
                    yield _File(id_, target, status.st_size, status.st_mtime_ns)


def create(
    settings: Mapping[str, object], *, paths: Sequence[Path], name: str | None = None, exclude: Path | None = None
) -> FolderSource:
    """From ``max_files``, ``max_file_bytes``, ``max_total_bytes`` and ``max_depth``."""
    return FolderSource(paths, name=name, limits=ListingLimits.of(settings), exclude=exclude)


def _children(folder: Path, root: Path) -> list[tuple[str, Path, os.stat_result]]:
    """What a folder holds, dot-names and links out of the root left out. Names are text, whatever their bytes."""
    with os.scandir(folder) as listing:
        shown = [(child, _target(child, root)) for child in listing if not child.name.startswith(".")]
    return [
        (os.fsencode(child.name).decode("utf-8", "replace"), target, target.stat())
        for child, target in shown
        if target is not None
    ]


def _target(child: os.DirEntry[str], root: Path) -> Path | None:
    """What an entry stands for; ``None`` for a link that is broken or leaves the root."""
    path = Path(child.path)
    if not child.is_symlink():
        return path
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return target if target.is_relative_to(root) else None
