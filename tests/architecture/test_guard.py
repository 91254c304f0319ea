"""Guard 3 on the real package, and on planted violations that it must see."""

from __future__ import annotations

import pytest

from architecture.guard import RULES, check_source, check_tree
from support.project import PACKAGE

PLANTED = [
    ("stage-import", "retrieve/dense.py", "from seamline.store.embedded import create"),
    ("stage-import", "retrieve/dense.py", "from seamline import store"),
    ("stage-import", "retrieve/dense.py", "import seamline.settings"),
    ("stage-import", "retrieve/dense.py", "import seamline"),
    ("stage-import", "retrieve/dense.py", "from seamline import build_index"),
    ("stage-import", "retrieve/dense.py", "from ..rerank import mint"),
    ("stage-import", "retrieve/dense.py", "from .. import pipeline"),
    ("stage-import", "store/embedded/schema.py", "from ...ingest import load"),
    ("stage-import", "generate/answer.py", "def late():\n    from seamline.retrieve import modes"),
    ("stage-import", "generate/answer.py", "if TYPE_CHECKING:\n    from seamline.embed.hash import HashEmbedder"),
    ("stage-import", "generate/answer.py", "try:\n    pass\nexcept OSError:\n    import seamline.retrieve"),
    ("stage-import", "generate/answer.py", "match 1:\n    case 1:\n        import seamline.retrieve"),
    ("stage-import", "generate/answer.py", "class Late:\n    import seamline.verify"),
    ("stage-import", "evaluation/run.py", "from seamline.generate.answer import answer"),
    ("stage-import", "conformance/stores.py", "from seamline.store.memory import MemoryStore"),
    ("dynamic-import", "generate/answer.py", "import importlib"),
    ("dynamic-import", "generate/answer.py", "from importlib import import_module"),
    ("dynamic-import", "generate/answer.py", "import importlib.util"),
    ("dynamic-import", "generate/answer.py", "x = __import__('seamline.retrieve')"),
    ("dynamic-import", "generate/answer.py", "import builtins"),
    ("dynamic-import", "generate/answer.py", "exec('import seamline.retrieve')"),
    ("dynamic-import", "generate/answer.py", "run = eval"),
    ("dynamic-import", "generate/answer.py", "import sys\nx = sys.modules['seamline.retrieve']"),
    ("dynamic-import", "embed/weights.py", "from importlib.metadata import entry_points"),
    ("dynamic-import", "embed/weights.py", "from importlib import metadata\nmetadata.entry_points()"),
    ("dynamic-import", "embed/weights.py", "import runpy"),
    ("generation-port", "generate/answer.py", "from seamline.ports import Store"),
    ("generation-port", "generate/answer.py", "from seamline.ports import Generator, Embedder"),
    ("generation-port", "generate/answer.py", "from seamline.ports import *"),
    ("generation-port", "generate/answer.py", "from seamline import ports"),
    ("generation-port", "generate/answer.py", "import seamline.ports as p"),
    ("mint", "pipeline.py", "from seamline.types.retrieval import _SEAL"),
    ("mint", "rerank/select.py", "from seamline.types.retrieval import _SEAL as key"),
    ("mint", "pipeline.py", "from seamline.types import retrieval\nkey = retrieval._SEAL"),
    ("mint", "pipeline.py", "key = getattr(retrieval, '_SEAL')"),
    ("mint", "pipeline.py", "RerankedPassages(found, seal=key)"),
    ("mint", "pipeline.py", "types.RerankedPassages(found, seal=key)"),
    ("mint", "pipeline.py", "from seamline.types import RerankedPassages as R\nR(found, seal=key)"),
    ("mint", "generate/answer.py", "x = cast(RerankedPassages, found)"),
    ("mint", "generate/answer.py", "x = typing.cast('RerankedPassages', found)"),
    ("mint", "generate/answer.py", "x = object.__new__(RerankedPassages)"),
    ("mint", "generate/answer.py", "x = RerankedPassages.__new__(RerankedPassages)"),
    ("mint", "generate/answer.py", "class Mine(RerankedPassages): ..."),
    ("environment", "cli/main.py", "import os\nos.environ['HOME']"),
    ("environment", "embed/local.py", "import os\nos.getenv('HOME')"),
    ("environment", "embed/local.py", "import os as system\nsystem.environ.get('HOME')"),
    ("environment", "embed/local.py", "from os import environ"),
    ("environment", "embed/local.py", "from os import getenv as read"),
    ("standard-library-only", "types/documents.py", "import numpy as np"),
    ("standard-library-only", "errors.py", "from pydantic import BaseModel"),
    ("standard-library-only", "ports.py", "def late():\n    import numpy"),
]

ALLOWED = [
    ("retrieve/dense.py", "from seamline.types import Hit\nfrom seamline.retrieve import fusion\nfrom . import modes"),
    ("retrieve/dense.py", "from seamline import errors"),
    ("generate/answer.py", "from seamline.ports import Generator, SentenceScorer, SupportChecker, TokenCounter"),
    ("generate/answer.py", "import re\nx = re.compile('a')\nok = isinstance(p, RerankedPassages)"),
    ("generate/answer.py", "def answer(passages: RerankedPassages) -> None: ..."),
    ("embed/weights.py", "from importlib.metadata import files\nfrom importlib import resources"),
    ("ingest/child.py", "from importlib.metadata import entry_points"),
    ("registry.py", "from importlib.metadata import entry_points\nimport importlib.util"),
    ("rerank/mint.py", "from seamline.types.retrieval import _SEAL\nRerankedPassages(found, seal=_SEAL)"),
    ("settings.py", "import os\nos.environ"),
    ("store/embedded/lock.py", "import os\nos.getpid()"),
    ("ports.py", "if TYPE_CHECKING:\n    import numpy as np\nimport json"),
]


def test_the_package_has_no_violation() -> None:
    assert [str(violation) for violation in check_tree(PACKAGE)] == []


@pytest.mark.parametrize(("rule", "path", "text"), PLANTED)
def test_a_planted_violation_is_seen(rule: str, path: str, text: str) -> None:
    assert {violation.rule for violation in check_source(path, text)} == {rule}


@pytest.mark.parametrize(("path", "text"), ALLOWED)
def test_what_is_allowed_passes(path: str, text: str) -> None:
    assert check_source(path, text) == []


def test_every_rule_has_a_planted_violation() -> None:
    assert {rule for rule, _, _ in PLANTED} == {rule.__name__.replace("_", "-") for rule in RULES}
