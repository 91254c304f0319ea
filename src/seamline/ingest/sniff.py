"""What a file is: by its content first, by its name only where the content is plain text."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePosixPath

from seamline.ingest import ole

SOURCE_CODE = "text/x-source"
UNKNOWN = "application/octet-stream"
OOXML = "application/vnd.openxmlformats-officedocument"

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "application/pdf"),
    (b"{\\rtf", "application/rtf"),
    (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"\x7fELF", "application/x-executable"),
)
_BY_NAME = {
    "markdown": "text/markdown", "md": "text/markdown", "mdown": "text/markdown", "mkd": "text/markdown",
    "html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml", "mhtml": "multipart/related",
    "mht": "multipart/related", "csv": "text/csv", "tsv": "text/tab-separated-values", "json": "application/json",
    "jsonl": "application/jsonl", "ndjson": "application/jsonl", "ipynb": "application/x-ipynb+json",
    "xml": "application/xml", "yaml": "application/yaml", "yml": "application/yaml", "eml": "message/rfc822",
    "rtf": "application/rtf",
}  # fmt: skip
_CODE = frozenset(
    {
        "asm", "awk", "bash", "bat", "c", "cc", "clj", "cmake", "cpp", "cs", "css", "cxx", "dart", "ex", "erl", "f90",
        "fs", "go", "gradle", "groovy", "h", "hpp", "hs", "java", "jl", "js", "jsx", "kt", "lisp", "lua", "m", "mjs",
        "ml", "nim", "php", "pl", "pm", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "sass", "scala", "scss", "sh",
        "sql", "svelte", "swift", "tcl", "tf", "ts", "tsx", "v", "vb", "vhdl", "vue", "zig",
    }
)  # fmt: skip
_HTML = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|title)\b", re.IGNORECASE | re.DOTALL)
_XML = re.compile(rb"\s*<\?xml\b", re.IGNORECASE)
_MAIL = re.compile(
    rb"(?:(?:Return-Path|Received|From|Date|Message-ID|MIME-Version|Delivered-To|Subject): ?[^\n]*\r?\n"
    rb"(?:[ \t][^\n]*\n)*){2}",
    re.IGNORECASE,
)
_CONTROLS = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]+")
_HEAD = 4096


def sniff(data: bytes, filename: str, declared: str | None = None) -> str:
    """The media type of a file.

    A binary format is known by its bytes, whatever its name. Text is told apart by its markers, then by
    ``declared`` (what a server said), then by the extension of ``filename``.
    """
    head = data[:_HEAD]
    if head.startswith(ole.MAGIC):
        return ole.sniff_ole(data)
    for magic, media_type in _MAGIC:
        if head.startswith(magic):
            return media_type
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zipped(data)
    if head[:4] == b"RIFF":
        return {b"WAVE": "audio/wav", b"WEBP": "image/webp"}.get(head[8:12], UNKNOWN)
    if b"%PDF-" in head[:1024]:
        return "application/pdf"
    # Markers are ASCII; without NULs they are found in UTF-16 and UTF-32 too.
    plain = head.removeprefix(b"\xef\xbb\xbf").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff").replace(b"\0", b"")
    if _binary(head) and not _HTML.match(plain):
        return UNKNOWN
    return _textual(plain, filename, declared)


def _textual(plain: bytes, filename: str, declared: str | None) -> str:
    suffix = PurePosixPath(filename).suffix.lower().removeprefix(".")
    if suffix in _CODE:
        return SOURCE_CODE
    by_name = _BY_NAME.get(suffix)
    if by_name == "text/markdown":
        return by_name
    if _HTML.match(plain) or (by_name is not None and "html" in by_name and not _XML.match(plain)):
        return by_name if by_name == "multipart/related" else "text/html"
    if _XML.match(plain):
        return "application/xhtml+xml" if b"<html" in plain else "application/xml"
    if by_name is not None:
        return by_name
    if declared is not None and declared.startswith("text/"):
        return declared
    return "message/rfc822" if not suffix and _MAIL.match(plain) else "text/plain"


def _binary(head: bytes) -> bool:
    """Control bytes that no text has so many of, unless they are the high halves of UTF-16 or UTF-32 units."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        return False
    nuls = [head[lane::4].count(0) for lane in range(4)]
    if sum(nuls) <= 0.01 * len(head):
        return 0.05 * len(head) < sum(len(run) for run in _CONTROLS.findall(head))
    even, odd = nuls[0] + nuls[2], nuls[1] + nuls[3]
    wide32 = max(nuls) >= 0.2 * len(head) and min(nuls) <= 0.05 * len(head)
    return not wide32 and min(even, odd) > max(even, odd) / 10


def _zipped(data: bytes) -> str:
    """The kind of a zip by the names in its directory; nothing is expanded but a short ``mimetype``."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist()[:10_000])
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                return archive.read("mimetype").decode("ascii", "replace").strip()
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError, EOFError):
        return "application/zip"
    for name, kind in (("word/", "wordprocessingml.document"), ("ppt/", "presentationml.presentation"),
                       ("xl/", "spreadsheetml.sheet")):  # fmt: skip
        if "[Content_Types].xml" in names and any(entry.startswith(name) for entry in names):
            return f"{OOXML}.{kind}"
    return "application/zip"
