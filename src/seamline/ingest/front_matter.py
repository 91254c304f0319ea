"""Front matter of Markdown files: scalar ``key: value`` lines, as metadata."""

from __future__ import annotations

import re

from seamline.types import MetadataValue

_FENCED = re.compile(r"\A---[ \t]*\n(?P<body>(?:(?!(?:---|\.\.\.)[ \t]*(?:\n|\Z)).*\n)*)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_SCALAR = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(?P<value>.*))?$")
_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})(?P<fraction>\.\d+)?")


def split_front_matter(text: str) -> tuple[dict[str, MetadataValue], str]:
    """The metadata and the rest of a text; the whole text where it does not begin with front matter.

    Nested values and lists are left out: only what is certain without a YAML parser is read.
    """
    fenced = _FENCED.match(text)
    if fenced is None:
        return {}, text
    lines = [line for line in fenced["body"].split("\n") if line.strip() and not line.lstrip().startswith("#")]
    if lines and _SCALAR.match(lines[0]) is None:
        return {}, text  # a thematic break that opens the document
    metadata: dict[str, MetadataValue] = {}
    for line in lines:
        scalar = _SCALAR.match(line)
        if scalar is not None and (value := _value((scalar["value"] or "").strip())) is not None:
            metadata[scalar["key"]] = value
    return metadata, text[fenced.end() :]


def _value(written: str) -> MetadataValue | None:
    if len(written) >= 2 and written[0] == written[-1] and written[0] in "\"'":
        return written[1:-1]
    written = re.split(r"[ \t]#", written, maxsplit=1)[0].rstrip()
    if not written or written[0] in "[{|>&*!%@`" or written in ("null", "~"):
        return None
    if written in ("true", "false"):
        return written == "true"
    number = _NUMBER.fullmatch(written)
    if number is not None:
        return float(written) if number["fraction"] else int(written)
    return written
