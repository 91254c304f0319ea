"""Makers of documents, PDFs and parser plug-ins for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from seamline.fingerprint import sha256_text
from seamline.ingest.folder import ListingLimits
from seamline.ingest.sandbox import ParseLimits
from seamline.settings import load
from seamline.types import Block, Document, DocumentId, Page, Provenance, Quality, SourceEntry

LISTING = ListingLimits(max_files=1000, max_file_bytes=10_000_000, max_total_bytes=100_000_000, max_depth=20)
PARSING = ParseLimits(timeout_s=10.0, memory_bytes=512 * 1024 * 1024, output_chars=1_000_000)


def settings(**flags: object) -> dict[str, object]:
    """The default settings with some replaced, whatever the environment says."""
    return load(flags, environ={}).values.mapping()


def document(
    text: str,
    blocks: Sequence[Block] = (),
    pages: Sequence[Page] = (),
    *,
    id_: str = "doc.md",
    title: str | None = None,
    language: str | None = None,
) -> Document:
    """A document as a reader would make it."""
    return Document(
        id=DocumentId(id_),
        text=text,
        text_sha256=sha256_text(text),
        media_type="text/plain",
        provenance=Provenance(source_uri=f"file:///{id_}", content_sha256="0" * 64, parser="test", parser_version="1"),
        quality=Quality(characters=len(text)),
        title=title,
        language=language,
        blocks=tuple(blocks),
        pages=tuple(pages),
    )


def entry(id_: str, **fields: object) -> SourceEntry:
    """A listed entry of that id."""
    return SourceEntry(id=DocumentId(id_), uri=f"file:///{id_}", revision="1", **fields)  # type: ignore[arg-type]


def pdf(
    pages: Sequence[str | None],
    *,
    title: str | None = None,
    labels: str | None = None,
    outline: Mapping[str, int] | None = None,
    broken: frozenset[int] = frozenset(),
    image: bool = False,
    encrypt: str | None = None,
) -> bytes:
    """A PDF of one text line per line of each page; ``None`` is a page without content.

    ``labels`` is the body of a /PageLabels number tree; ``outline`` maps titles to page numbers; ``broken``
    pages point to an object that is not a page; ``image`` draws a one-pixel image on pages without text.
    """
    objects: list[bytes] = []

    def add(body: str | bytes) -> int:
        objects.append(body.encode("latin-1") if isinstance(body, str) else body)
        return len(objects)

    catalog, tree = add(""), add("")
    font = add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
    picture = add(
        "<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/Length 1>>\n"
        "stream\n0\nendstream"
    )
    numbers = []
    for index, text in enumerate(pages):
        if index in broken:
            numbers.append(add("<</Type/Font>>"))
            continue
        lines = "".join(f"({_escaped(line)}) Tj 0 -14 Td " for line in (text or "").split("\n"))
        drawn = f"BT /F1 12 Tf 72 700 Td {lines}ET" if text else "q 100 0 0 100 72 72 cm /I Do Q" if image else ""
        content = add(f"<</Length {len(drawn)}>>\nstream\n{drawn}\nendstream")
        numbers.append(
            add(
                f"<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 612 792]/Contents {content} 0 R"
                f"/Resources<</Font<</F1 {font} 0 R>>/XObject<</I {picture} 0 R>>>>>>"
            )
        )
    extra = f"/PageLabels<</Nums[{labels}]>>" if labels else ""
    if outline:
        root = len(objects) + 1
        items = [root + 1 + position for position in range(len(outline))]
        add(f"<</Type/Outlines/First {items[0]} 0 R/Last {items[-1]} 0 R/Count {len(items)}>>")
        for position, (heading, page) in enumerate(outline.items()):
            following = f"/Next {items[position + 1]} 0 R" if position + 1 < len(items) else ""
            add(f"<</Title({_escaped(heading)})/Parent {root} 0 R/Dest[{numbers[page]} 0 R/Fit]{following}>>")
        extra += f"/Outlines {root} 0 R"
    info = add(f"<</Title({_escaped(title)})>>") if title else None
    objects[catalog - 1] = f"<</Type/Catalog/Pages {tree} 0 R{extra}>>".encode()
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects[tree - 1] = f"<</Type/Pages/Kids[{kids}]/Count {len(numbers)}>>".encode()
    trailer = (f"/Info {info} 0 R" if info else "") + (f"/Encrypt {encrypt}/ID[<00><00>]" if encrypt else "")
    return _assembled(objects, trailer)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _assembled(objects: Sequence[bytes], trailer: str) -> bytes:
    output = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(output))
        output += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(output)
    output += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for offset in offsets:
        output += b"%010d 00000 n \n" % offset
    output += b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        trailer.encode(),
        start,
    )
    return bytes(output)


def plugin(folder: Path, source: str, *, name: str = "hostile") -> Path:
    """Install a parser plug-in into ``folder`` (to be put on PYTHONPATH); ``source`` defines ``create``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seamline_{name}.py").write_text(source, encoding="utf-8")
    info = folder / f"seamline_{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: seamline-{name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[seamline.parsers]\n{name} = seamline_{name}:create\n", encoding="utf-8")
    return folder
