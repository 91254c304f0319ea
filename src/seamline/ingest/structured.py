"""JSON, JSON Lines and YAML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

from seamline.ingest.blocks import paragraphs
from seamline.ingest.decode import decode
from seamline.ingest.layout import Layout
from seamline.ingest.office import laid_out
from seamline.ingest.outline import lay_out_value
from seamline.ports import Parsed
from seamline.types import ParseStatus

_LINES = "application/jsonl"
_YAML = "application/yaml"


class StructuredParser:
    """Reads data files; the path of a value is its heading path."""

    name = "structured"
    media_types = frozenset({"application/json", _LINES, _YAML})

    def __init__(self) -> None:
        self.version = f"1+pyyaml-{version('pyyaml')}"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract; a file that is not what its name says is read as plain text, ``truncated`` with the reason."""
        text, decoder = decode(data)
        layout = Layout()
        try:
            values = list(_values(text, media_type))
        except (ValueError, RecursionError) as error:
            return _raw(
                text, media_type, decoder, f"not valid, read as plain text: {' '.join(str(error).split())[:200]}"
            )
        many = len(values) > 1
        for index, value in enumerate(values):
            named = f"[{index}]" if many else ""
            if not lay_out_value(value, layout, name=named, level=1 if many else 0):
                return laid_out(layout, media_type, decoder=decoder, reason="cut at the limit of extracted characters")
        title = values[0].get("title") if len(values) == 1 and isinstance(values[0], dict) else None
        return laid_out(layout, media_type, title=title if isinstance(title, str) else None, decoder=decoder)


def _values(text: str, media_type: str) -> Iterator[Any]:
    if media_type == _YAML:
        import yaml

        try:
            yield from yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.YAMLError as error:
            raise ValueError(str(error)) from error
        return
    if media_type == _LINES:
        yield from (json.loads(line) for line in text.split("\n") if line.strip())
        return
    try:
        yield json.loads(text)
    except json.JSONDecodeError as error:
        if "Extra data" not in error.msg:
            raise
        yield from (json.loads(line) for line in text.split("\n") if line.strip())  # JSON Lines by another name


def _raw(text: str, media_type: str, decoder: str, reason: str) -> Parsed:
    layout = Layout()
    for block in paragraphs(text):
        layout.add("paragraph", text[block.char_start : block.char_end])
    found = laid_out(layout, media_type, decoder=decoder, reason=reason)
    return found if found.text else Parsed(text="", media_type=media_type, status=ParseStatus.CORRUPT, reason=reason)


def create(settings: Mapping[str, object]) -> StructuredParser:  # noqa: ARG001
    """The parser of data files; it has no settings."""
    return StructuredParser()
