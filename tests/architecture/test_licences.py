"""What is installed with the package may be shipped with it, and is named in NOTICE."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement

from support.project import ROOT

REFUSED = re.compile(r"(?<!L)\bA?GPL|GNU (Affero )?General Public", re.IGNORECASE)


def runtime_distributions() -> dict[str, Distribution]:
    """The package's own dependencies and theirs, with all extras, as installed here."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement("seamline[all]")]
    while waiting:
        need = waiting.pop()
        extras = need.extras or {""}
        if need.marker is not None and not any(need.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        known = found.setdefault(need.name.lower(), distribution(need.name))
        for text in known.requires or []:
            inner = Requirement(text)
            wanted = inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras)
            inner.marker = None
            if wanted and (inner.name.lower() not in found or inner.extras):
                waiting.append(inner)
    return found


def licence(of: Distribution) -> str:
    said = [of.metadata[key][:200] for key in ("License-Expression", "License") if key in of.metadata]
    return " ".join([*said, *(line for line in of.metadata.get_all("Classifier") or [] if line.startswith("License"))])


def test_no_runtime_dependency_is_gpl() -> None:
    found = runtime_distributions()
    assert {"numpy", "onnxruntime", "openai", "httpx"} <= set(found)
    assert [name for name, of in found.items() if REFUSED.search(licence(of))] == []


def test_rule_25_no_training_framework_is_installed() -> None:
    assert {"jax", "tensorflow", "torch", "transformers"} & set(runtime_distributions()) == set()


def test_the_licence_check_sees_a_gpl_tool() -> None:
    assert REFUSED.search(licence(distribution("codespell")))


def test_the_notice_names_every_direct_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8").lower()
    texts = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    names = {Requirement(text).name.lower() for text in texts} - {"seamline"}
    assert [name for name in sorted(names) if not re.search(rf"^{re.escape(name)}\s", notice, re.MULTILINE)] == []
