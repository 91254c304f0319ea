"""Finds the retrieval system that ``--system`` names: a service behind a URL, or a Python object."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seamline.errors import UsageError
from seamline.evaluation.systems import HttpSystem

if TYPE_CHECKING:
    from seamline.ports import SystemUnderTest


def load_system(target: str) -> SystemUnderTest:
    """The system that a target names: a URL, or ``module:attribute`` from the working directory or installed.

    The attribute is an object with the two methods of ``SystemUnderTest``, or a callable without arguments that
    makes one. Raises ``UsageError`` for anything else.
    """
    if "://" in target:
        return HttpSystem(target)
    module, colon, attribute = target.partition(":")
    if not colon or not module or not attribute:
        raise UsageError(f"{target!r} names no system", hint="a URL, or module:attribute")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{target!r} cannot be loaded: {error}", hint="module:attribute") from error
    finally:
        sys.path.remove(here)
    if isinstance(found, type) or not hasattr(found, "retrieve"):
        found = found() if callable(found) else found
    missing = [name for name in ("retrieve", "info") if not callable(getattr(found, name, None))]
    if missing:
        raise UsageError(
            f"{target!r} is no retrieval system: it has no {' and no '.join(missing)}()",
            hint="retrieve(query, *, top_k) gives hits with a document_id, best first; info() gives JSON values",
        )
    system: SystemUnderTest = found
    return system
