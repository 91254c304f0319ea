"""What stands in the place of a parser whose library is not installed: it says so for each file."""

from __future__ import annotations

from types import FunctionType

from seamline.ports import Parsed, Parser
from seamline.types import ParseStatus


class MissingParser:
    """Knows a format's media types, and what would have to be installed to read it."""

    def __init__(self, name: str, media_types: frozenset[str], package: str) -> None:
        self.name, self.media_types, self._package = name, media_types, package
        self.version = "not installed"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """``unsupported``, with the command that installs it."""
        reason = f'{self.name} needs the package {self._package}: pip install "seamline[formats]"'
        return Parsed(text="", media_type=media_type, status=ParseStatus.UNSUPPORTED, reason=reason)


def missing(create: FunctionType, package: str) -> Parser:
    """The stand-in for the parser that a module's factory would have made."""
    there = create.__globals__
    classes = [item for item in there.values() if isinstance(item, type) and item.__module__ == there["__name__"]]
    parser = next(item for item in classes if hasattr(item, "media_types") and hasattr(item, "name"))
    return MissingParser(parser.name, parser.media_types, package)
