"""Guard 3: what no stage may do, found in the syntax tree with the standard library alone.

Import contracts see imports between modules. This guard also sees imports that are not statements, names
taken from ``ports``, who makes ``RerankedPassages``, and who reads the environment.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

STAGES = frozenset(
    {
        "analyze",
        "chunk",
        "conformance",
        "embed",
        "evaluation",
        "generate",
        "ingest",
        "rerank",
        "retrieve",
        "store",
        "verify",
    }
)
CONTRACTS = frozenset({"errors", "fingerprint", "folding", "ports", "types"})
GENERATION_PORTS = frozenset({"Generator", "SentenceScorer", "SentenceSplitter", "SupportChecker", "TokenCounter"})
MINT = PurePosixPath("rerank/mint.py")
SEALED = PurePosixPath("types/retrieval.py")
SETTINGS = PurePosixPath("settings.py")
PARSER_CHILD = PurePosixPath("ingest/child.py")
DYNAMIC_MODULES = frozenset({"imp", "importlib", "pkgutil", "runpy", "zipimport"})
HARMLESS_IMPORTLIB = ("importlib.metadata", "importlib.resources")
DYNAMIC_CALLS = frozenset({"__import__", "compile", "eval", "exec", "import_module"})
ENTRY_POINTS = frozenset({"EntryPoint", "EntryPoints", "entry_points"})
ENVIRONMENT = frozenset({"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"})


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """One finding; prints as ``path:line rule: message``."""

    path: PurePosixPath
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.rule}: {self.message}"


@dataclass(frozen=True, slots=True)
class Imported:
    """One imported name: ``from module import name as alias``, or ``import module as alias`` (no name)."""

    line: int
    module: str
    name: str | None
    alias: str
    runtime: bool

    @property
    def full(self) -> str:
        return self.module if self.name is None else f"{self.module}.{self.name}"


class Source:
    """A parsed module of the package, with its imports resolved to absolute names."""

    def __init__(self, path: PurePosixPath, text: str) -> None:
        self.path = path
        self.tree = ast.parse(text)
        self.part = path.parts[0].removesuffix(".py")
        self.imports = list(self._imports())

    @property
    def stage(self) -> str | None:
        return self.part if self.part in STAGES else None

    def aliases(self, name: str) -> set[str]:
        """What a name that was imported from anywhere is called in this module."""
        return {name} | {item.alias for item in self.imports if item.name == name}

    def _imports(self) -> Iterator[Imported]:
        typing_only = {
            id(inner)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
            for statement in node.body
            for inner in ast.walk(statement)
        }
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for item in node.names:
                    yield Imported(node.lineno, item.name, None, item.asname or item.name, id(node) not in typing_only)
            elif isinstance(node, ast.ImportFrom):
                module = self._absolute(node)
                for item in node.names:
                    yield Imported(
                        node.lineno, module, item.name, item.asname or item.name, id(node) not in typing_only
                    )

    def _absolute(self, node: ast.ImportFrom) -> str:
        if node.level == 0:
            return node.module or ""
        package = ["seamline", *self.path.parts[:-1]]
        kept = package[: len(package) - (node.level - 1)]
        return ".".join([*kept, *([node.module] if node.module else [])])


def check_source(path: str, text: str) -> list[Violation]:
    """Violations in one module; ``path`` is relative to the package, as ``generate/answer.py``."""
    source = Source(PurePosixPath(path), text)
    found = [
        Violation(source.path, line, rule.__name__.replace("_", "-"), message)
        for rule in RULES
        for line, message in rule(source)
    ]
    return sorted(found)


def check_tree(package: Path) -> list[Violation]:
    """Violations in every module below the package's folder."""
    files = sorted(package.rglob("*.py"))
    if not files:
        raise FileNotFoundError(f"no Python files below {package}")
    return [
        violation
        for file in files
        for violation in check_source(file.relative_to(package).as_posix(), file.read_text(encoding="utf-8"))
    ]


Findings = Iterator[tuple[int, str]]


def stage_import(source: Source) -> Findings:
    """A stage imports the contracts and itself."""
    if source.stage is None:
        return
    for item in source.imports:
        parts = item.full.split(".")
        if parts[0] != "seamline":
            continue
        target = parts[1] if len(parts) > 1 else "the package root"
        if target != source.stage and target not in CONTRACTS:
            yield item.line, f"{source.stage} imports {target}"


def dynamic_import(source: Source) -> Findings:
    """A stage imports by statement only; the parser child alone may load entry points."""
    if source.stage is None:
        return
    for item in source.imports:
        top = item.module.split(".")[0]
        harmless = item.full.startswith(HARMLESS_IMPORTLIB) and item.name not in ENTRY_POINTS
        if top in DYNAMIC_MODULES and not harmless and source.path != PARSER_CHILD:
            yield item.line, f"{source.stage} imports {item.full}"
        if top == "builtins":
            yield item.line, f"{source.stage} imports builtins"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name) and node.id in DYNAMIC_CALLS:
            yield node.lineno, f"{source.stage} uses {node.id}"
        elif isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            loads = node.attr in ENTRY_POINTS and source.path != PARSER_CHILD
            if loads or dotted == "sys.modules" or node.attr in {"__import__", "import_module"}:
                yield node.lineno, f"{source.stage} uses {dotted}"


def generation_port(source: Source) -> Findings:
    """A generator is never handed a store, a retriever or an embedder."""
    if source.stage != "generate":
        return
    for item in source.imports:
        if item.full == "seamline.ports":
            yield item.line, "generate imports the module ports, and with it every port"
        elif item.module == "seamline.ports" and item.name not in GENERATION_PORTS:
            yield item.line, f"generate imports the port {item.name}"


def mint(source: Source) -> Findings:
    """Only ``rerank/mint.py`` makes what crosses the seam."""
    if source.path in {MINT, SEALED}:
        return
    sealed = source.aliases("RerankedPassages")
    seals = {"_SEAL"}
    for item in source.imports:
        if item.name in seals:
            yield item.line, "_SEAL is imported outside rerank/mint.py"
    for node in ast.walk(source.tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Attribute) and node.attr in seals:
            yield line, "_SEAL is used outside rerank/mint.py"
        elif isinstance(node, ast.Constant) and node.value in seals:
            yield line, "_SEAL is named in a string outside rerank/mint.py"
        elif isinstance(node, ast.ClassDef) and any(_names(base, sealed) for base in node.bases):
            yield line, "RerankedPassages is subclassed outside rerank/mint.py"
        elif isinstance(node, ast.Call) and _makes(node, sealed):
            yield line, "RerankedPassages is made or cast to outside rerank/mint.py"


def environment(source: Source) -> Findings:
    """Only ``settings.py`` reads the environment."""
    if source.path == SETTINGS:
        return
    for item in source.imports:
        if item.module == "os" and item.name in ENVIRONMENT | {"*"}:
            yield item.line, f"os.{item.name} is imported outside settings.py"
    modules = {item.alias for item in source.imports if item.full == "os"} | {"os"}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr in ENVIRONMENT and _names(node.value, modules):
            yield node.lineno, f"os.{node.attr} is used outside settings.py"


def standard_library_only(source: Source) -> Findings:
    """The contracts import nothing that must be installed."""
    if source.part not in CONTRACTS:
        return
    for item in source.imports:
        top = item.module.split(".")[0]
        if item.runtime and top != "seamline" and top not in sys.stdlib_module_names:
            yield item.line, f"{source.part} imports {top}"


RULES: tuple[Callable[[Source], Findings], ...] = (
    stage_import,
    dynamic_import,
    generation_port,
    mint,
    environment,
    standard_library_only,
)


def _names(node: ast.expr, names: set[str]) -> bool:
    """Whether an expression is one of the names: bare, as an attribute, quoted, or subscripted."""
    if isinstance(node, ast.Subscript):
        return _names(node.value, names)
    if isinstance(node, ast.Constant):
        return node.value in names
    return (isinstance(node, ast.Name) and node.id in names) or (isinstance(node, ast.Attribute) and node.attr in names)


def _makes(call: ast.Call, sealed: set[str]) -> bool:
    """``R(...)``, ``cast(R, ...)``, ``R.__new__(...)``, ``object.__new__(R)``."""
    function = call.func
    if _names(function, sealed):
        return True
    if isinstance(function, ast.Attribute) and function.attr == "__new__":
        return _names(function.value, sealed) or any(_names(argument, sealed) for argument in call.args)
    is_cast = _names(function, {"cast"})
    return is_cast and bool(call.args) and _names(call.args[0], sealed)
