"""``.seamlineignore``: which files of a folder are not documents, in gitignore syntax."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from seamline.errors import ListingError

FILE_NAME = ".seamlineignore"


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of a folder and of those above it; where two disagree, the deepest file decides."""

    specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def below(self, folder: Path, prefix: str) -> IgnoreRules:
        """These rules with those of ``folder``, whose ids start with ``prefix``; raises ``ListingError``."""
        file = folder / FILE_NAME
        if not file.is_file():
            return self
        try:
            spec = GitIgnoreSpec.from_lines(file.read_text(encoding="utf-8-sig").splitlines())
        except ValueError as error:  # both a bad encoding and a bad pattern
            raise ListingError(f"{file}: cannot be understood ({error})", hint="it must be UTF-8 gitignore") from error
        return IgnoreRules(((prefix, spec), *self.specs))

    def ignores(self, id_: str) -> bool:
        """Whether an id (a folder's ends in a slash) is excluded."""
        for prefix, spec in self.specs:
            verdict = spec.check_file(id_.removeprefix(prefix)).include
            if verdict is not None:
                return verdict
        return False
