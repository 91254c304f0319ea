"""Workbooks: the values of each sheet row by row, then what stands in text boxes and comments."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version

from seamline.ingest.archives import Archive, ArchiveError, EncryptedArchiveError
from seamline.ingest.layout import Layout
from seamline.ingest.office import laid_out
from seamline.ingest.package import Package
from seamline.ingest.tables import lay_out_rows
from seamline.ingest.xml_tree import named
from seamline.ports import Parsed
from seamline.types import MetadataValue, ParseStatus

MOST_CELLS = 2_000_000
_ODS = "application/vnd.oasis.opendocument.spreadsheet"
_XLS = "application/vnd.ms-excel"


class SpreadsheetParser:
    """Reads ``.xlsx``, ``.xlsb``, ``.xls`` and ``.ods``; a place of its text is a range of rows of one sheet."""

    name = "spreadsheet"
    media_types = frozenset({"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", _ODS, _XLS})

    def __init__(self) -> None:
        self.version = f"1+calamine-{version('python-calamine')}"

    def parse(self, data: bytes, *, media_type: str, filename: str) -> Parsed:  # noqa: ARG002
        """Extract; values as they were last computed, merged cells in their first one; cut after 2,000,000 cells."""
        import python_calamine as calamine

        try:
            archive = None if media_type == _XLS else Archive(data)
            workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        except (EncryptedArchiveError, calamine.PasswordError) as error:
            return Parsed(text="", media_type=media_type, status=ParseStatus.ENCRYPTED, reason=str(error))
        except (ArchiveError, calamine.CalamineError, OSError) as error:
            return Parsed(text="", media_type=media_type, status=ParseStatus.CORRUPT, reason=str(error)[:300])
        layout = Layout()
        problems: list[str] = []
        cells = 0
        for name in workbook.sheet_names:
            try:
                sheet = workbook.get_sheet_by_name(name)
            except (calamine.CalamineError, OSError) as error:  # a chart sheet, or a damaged one
                if "not found" not in str(error).lower():
                    problems.append(f"sheet {name!r}: {error}")
                continue
            if sheet.height == 0:
                continue
            cells += sheet.height * sheet.width
            layout.add("heading", name, level=1)
            rows: Iterator[Sequence[object]] = sheet.iter_rows()
            if cells > MOST_CELLS:
                keep = max(1, (MOST_CELLS - (cells - sheet.height * sheet.width)) // max(1, sheet.width))
                rows = (row for _, row in zip(range(keep), rows, strict=False))
                problems.append(f"cut after {MOST_CELLS} cells, in sheet {name!r}")
            start = sheet.start[0] + 1 if sheet.start is not None else 1
            if not lay_out_rows(rows, layout, sheet=name, first=start) or cells > MOST_CELLS:
                break
        title, metadata = (None, {}) if archive is None else _beside(archive, layout)
        reason = "; ".join(problems)[:500] or None
        return laid_out(layout, media_type, title=title, metadata=metadata, reason=reason)


def _beside(archive: Archive, layout: Layout) -> tuple[str | None, Mapping[str, MetadataValue]]:
    """What an Office workbook says outside its cells: text boxes, comments, properties."""
    package = Package(archive)
    for part in archive.names:
        if part.startswith(("xl/drawings/drawing", "xl/comments", "xl/threadedComments/")) and part.endswith(".xml"):
            root = package.tree(part)
            for item in named(root, "txBody", "comment", "threadedComment") if root is not None else ():
                paragraphs = list(named(item, "p")) or [item]
                lines = ("".join(text.text or "" for text in named(line, "t", "text")) for line in paragraphs)
                layout.add("quote" if "omments" in part else "paragraph", "\n".join(lines))
    return package.properties()


def create(settings: Mapping[str, object]) -> SpreadsheetParser:  # noqa: ARG001
    """The workbook parser; it has no settings."""
    return SpreadsheetParser()
