"""Small real files of every format, made from their parts."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from itertools import pairwise

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT_W = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_NAMES = f'xmlns:w="{_W}" xmlns:r="{_R}" xmlns:a="{_A}" xmlns:p="{_P}" xmlns:mc="{_MC}" xmlns:wps="urn:wps"'


PROPERTIES = '<c xmlns:dc="urn:dc"><dc:title>From the properties</dc:title><dc:creator>A. Writer</dc:creator></c>'


def zipped(entries: Mapping[str, str | bytes]) -> bytes:
    """A zip of these entries, in this order."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return made.getvalue()


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """A relationships part: id to kind and target."""
    rows = "".join(
        f'<Relationship Id="{id_}" Type="{_R}/{kind}" Target="{target}"/>' for id_, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'


def paragraph(text: str, style: str | None = None, properties: str = "") -> str:
    """A ``w:p`` with one run."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


STYLES = (
    f'<w:styles {_NAMES}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Eigene"><w:name w:val="Eigene"/><w:basedOn w:val="berschrift2"/></w:style>'
    '<w:style w:styleId="berschrift2"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    '<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style></w:styles>'
)


def docx(body: str, parts: Mapping[str, tuple[str, str | bytes]] | None = None, *, strict: bool = False) -> bytes:
    """A Word file: the body's XML, and other parts by relationship id (kind, content)."""
    others = {"s": ("styles", STYLES), **(parts or {})}
    document = f"<w:document {_NAMES}><w:body>{body}</w:body></w:document>"
    entries: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations({"d": ("officeDocument", "/word/document.xml"), "c": ("core-properties", "core.xml")}),
        "core.xml": PROPERTIES,
        "word/document.xml": document.replace(_W, _STRICT_W) if strict else document,
        "word/_rels/document.xml.rels": relations({id_: (kind, f"{id_}.part") for id_, (kind, _) in others.items()}),
        **{f"word/{id_}.part": content for id_, (_, content) in others.items()},
    }
    return zipped(entries)


def part(name: str, inner: str) -> str:
    """A WordprocessingML part such as ``footnotes`` or ``hdr``."""
    return f"<w:{name} {_NAMES}>{inner}</w:{name}>"


def shape(text: str, kind: str | None = None) -> str:
    """A ``p:sp``; ``kind`` is its placeholder type."""
    placeholder = f'<p:ph type="{kind}"/>' if kind else ""
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return f"<p:sp><p:nvSpPr><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:txBody>{lines}</p:txBody></p:sp>"


def pptx(slides: Sequence[str], notes: Mapping[int, str] | None = None) -> bytes:
    """A presentation: each slide's shapes as XML; the files are numbered against the order of the slides."""
    count = len(slides)
    listed = "".join(f'<p:sldId id="{256 + n}" r:id="r{n}"/>' for n in range(count))
    entries: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations({"d": ("officeDocument", "ppt/presentation.xml")}),
        "ppt/presentation.xml": f"<p:presentation {_NAMES}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            {f"r{n}": ("slide", f"slides/slide{count - n}.xml") for n in reversed(range(count))}
        ),
    }
    for number, shapes in enumerate(slides):
        tree = f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"
        entries[f"ppt/slides/slide{count - number}.xml"] = f"<p:sld {_NAMES}>{tree}</p:sld>"
        if notes and number in notes:
            entries[f"ppt/slides/_rels/slide{count - number}.xml.rels"] = relations(
                {"n": ("notesSlide", f"../notesSlides/n{number}.xml")}
            )
            said = f"<p:cSld><p:spTree>{shape(notes[number], 'body')}{shape('3', 'sldNum')}</p:spTree></p:cSld>"
            entries[f"ppt/notesSlides/n{number}.xml"] = f"<p:notes {_NAMES}>{said}</p:notes>"
    return zipped(entries)


def xlsx(sheets: Mapping[str, Sequence[Sequence[str | float]]]) -> bytes:
    """A workbook of inline strings and numbers; row numbers begin at 1."""
    listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, start=1))
    entries: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations({"d": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": f'<workbook xmlns="{_S}" xmlns:r="{_R}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            {f"r{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)}
        ),
    }
    for number, rows in enumerate(sheets.values(), start=1):
        lines = []
        for row, cells in enumerate(rows, start=1):
            made = "".join(
                f'<c r="{chr(64 + column)}{row}"><v>{cell}</v></c>'
                if isinstance(cell, int | float)
                else f'<c r="{chr(64 + column)}{row}" t="inlineStr"><is><t>{cell}</t></is></c>'
                for column, cell in enumerate(cells, start=1)
            )
            lines.append(f'<row r="{row}">{made}</row>')
        entries[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{_S}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
        )
    return zipped(entries)


def odt(body: str, *, kind: str = "text", manifest: str = "<m/>") -> bytes:
    """An OpenDocument file: the XML inside ``office:text`` (or another body)."""
    inner = f"<office:{kind}>{body}</office:{kind}>"
    names = 'xmlns:office="urn:o" xmlns:text="urn:t" xmlns:table="urn:b" xmlns:draw="urn:d"'
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:c {names}><office:body>{inner}</office:body></office:c>",
            "meta.xml": PROPERTIES,
            "META-INF/manifest.xml": manifest,
        }
    )


def epub(chapters: Mapping[str, str], order: Sequence[str], *, encryption: str | None = None) -> bytes:
    """A book: chapters by file name, and the order of its spine."""
    items = "".join(f'<item id="{name}" href="text/{name}"/>' for name in chapters)
    spine = "".join(f'<itemref idref="{name}"/>' for name in order)
    entries: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<c><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></c>',
        "OEBPS/book.opf": f'<package xmlns:dc="urn:dc"><metadata><dc:title>A Book</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
        **{f"OEBPS/text/{name}": f"<html><body>{text}</body></html>" for name, text in chapters.items()},
    }
    if encryption:
        entries["META-INF/encryption.xml"] = encryption
    return zipped(entries)


def compound(streams: Mapping[str, bytes]) -> bytes:
    """A compound file (version 3): streams by path, all of them under 4096 bytes and so in the short-stream table."""
    storages = sorted({path.rpartition("/")[0] for path in streams if "/" in path})
    entries: list[tuple[str, int, list[int], bytes]] = [("Root Entry", 5, [], b"")]
    places = {"": 0}
    for path in [*storages, *streams]:
        folder, _, name = path.rpartition("/")
        places[path] = len(entries)
        entries[places[folder]][2].append(len(entries))
        entries.append((name, 2 if path in streams else 1, [], streams.get(path, b"")))
    short = b""
    short_table: list[int] = []
    starts: list[int] = []
    for _, _, _, data in entries:
        count = -(-len(data) // 64)
        starts.append(len(short_table) if count else _END)
        short_table += [*range(len(short_table) + 1, len(short_table) + count), _END][:count]
        short += data.ljust(count * 64, b"\0")
    following = {before: after for _, _, children, _ in entries for before, after in pairwise(children)}
    directory = b""
    for number, (name, kind, children, data) in enumerate(entries):
        encoded = (name + "\0").encode("utf-16-le")
        child = children[0] if children else _NONE
        directory += encoded.ljust(64, b"\0")
        directory += struct.pack("<HBBIII", len(encoded), kind, 1, _NONE, following.get(number, _NONE), child)
        size = len(short) if number == 0 else len(data)
        directory += bytes(36) + struct.pack("<IQ", 0 if number == 0 else starts[number], size)
    parts = [short, _sectors(short_table), directory]
    table: list[int] = []
    firsts = []
    for index, data in enumerate(parts):
        parts[index] = data.ljust(max(512, -(-len(data) // 512) * 512), b"\0")
        firsts.append(len(table))
        count = len(parts[index]) // 512
        table += [*range(len(table) + 1, len(table) + count), _END]
    allocation = len(table)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<9I", 0, 1, firsts[2], 0, 4096, firsts[1], len(parts[1]) // 512, _END, 0)
    header += struct.pack("<109I", allocation, *[_NONE] * 108)
    assert allocation < 128
    return header + b"".join(parts) + _sectors([*table, 0xFFFFFFFD])


_END, _NONE = 0xFFFFFFFE, 0xFFFFFFFF


def _sectors(numbers: Sequence[int]) -> bytes:
    filled = [*numbers, *[_NONE] * (-len(numbers) % 128)]
    return struct.pack(f"<{len(filled)}I", *filled)


def msg(subject: str, body: str, attachments: Mapping[str, bytes] | None = None) -> bytes:
    """An Outlook message."""
    streams = {
        "__properties_version1.0": bytes(32),
        "__substg1.0_001A001F": "IPM.Note".encode("utf-16-le"),
        "__substg1.0_0037001F": subject.encode("utf-16-le"),
        "__substg1.0_1000001F": body.encode("utf-16-le"),
        "__substg1.0_0C1A001F": "A. Writer".encode("utf-16-le"),
    }
    for number, (name, data) in enumerate((attachments or {}).items()):
        folder = f"__attach_version1.0_#{number:08X}"
        streams[f"{folder}/__substg1.0_37010102"] = data
        streams[f"{folder}/__substg1.0_3707001F"] = name.encode("utf-16-le")
    return compound(streams)
