"""Comma-separated values and their kin."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from importlib.metadata import version

from seamline.ingest.clean import clean
from seamline.ingest.decode import decode
from seamline.ingest.layout import Layout
from seamline.ingest.office import laid_out
from seamline.ingest.tables import lay_out_rows
from seamline.ports import Parsed

_DELIMITERS = ",;\t|"
_SAMPLE = 64 * 1024


class DelimitedParser:
    """Reads ``.csv`` and ``.tsv``; the dialect is told from the text, a place is a range of rows."""

    name = "delimited"
    media_types = frozenset({"text/csv", "text/tab-separated-values"})

    def __init__(self) -> None:
        self.version = f"1+charset-normalizer-{version('charset-normalizer')}"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract; row numbers count records, also where a record has several lines."""
        decoded, decoder = decode(data)
        text = clean(decoded).text
        # A field may be as long as the file: the file's own size is the bound.
        csv.field_size_limit(max(131_072, len(text)))
        layout = Layout()
        reader = csv.reader(io.StringIO(text, newline=""), dialect=_dialect(text, media_type))
        lay_out_rows(reader, layout, sheet=None)
        return laid_out(layout, media_type, decoder=decoder)


def _dialect(text: str, media_type: str) -> type[csv.Dialect]:
    sample = text[:_SAMPLE]

    class Chosen(csv.excel):
        delimiter = "\t" if media_type == "text/tab-separated-values" else _delimiter(sample)

    return Chosen


def _delimiter(sample: str) -> str:
    """The one that divides most lines into the same number of fields, more than one."""
    best, most = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row]
        if not widths:
            continue
        width = max(set(widths), key=widths.count)
        rank = (widths.count(width) / len(widths), width)
        if width > 1 and rank > most:
            best, most = delimiter, rank
    return best


def create(settings: Mapping[str, object]) -> DelimitedParser:  # noqa: ARG001
    """The parser of delimited text; it has no settings."""
    return DelimitedParser()
