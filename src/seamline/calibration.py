"""``calibration.toml``: settings that were measured for one knowledge base, bound to what they were measured with.

They apply below everything that a person states: defaults < calibration < ``seamline.toml`` < variables < flags.
A calibration of another embedding space, or of another reranker, is refused.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from seamline.errors import CalibrationError
from seamline.settings import LoadedSettings

FILE = "calibration.toml"
FORMAT = "seamline-calibration/1"
HINT = "run `seamline sweep` again, delete the file, or set SEAMLINE_CALIBRATION=off"
Values = Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerCalibration:
    """Settings on one reranker's scale, and the reranker's fingerprint."""

    fingerprint: str
    settings: Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Measured settings. ``rerankers`` are by provider name; ``evidence`` is what they were measured on."""

    space: str
    settings: Values = field(default_factory=dict)
    rerankers: Mapping[str, RerankerCalibration] = field(default_factory=dict)
    evidence: Values = field(default_factory=dict)

    def apply(self, loaded: LoadedSettings, reranker_fingerprint: Callable[[str], str]) -> LoadedSettings:
        """The settings, with calibrated values where nobody stated one.

        Raises ``CalibrationError`` when the configured reranker is not the one that was calibrated.
        """
        values = dict(self.settings)
        provider = str(_effective("rerank_provider", loaded, values))
        if provider in self.rerankers:
            calibrated = self.rerankers[provider]
            found = reranker_fingerprint(provider)
            if found != calibrated.fingerprint:
                raise CalibrationError(
                    f"the reranker {provider!r} was calibrated as {calibrated.fingerprint}, and is now {found}",
                    hint=HINT,
                )
            values |= calibrated.settings
        unstated = {name: value for name, value in values.items() if loaded.sources.get(name, "default") == "default"}
        if not unstated:
            return loaded
        applied = loaded.override(unstated)
        return LoadedSettings(applied.values, {**applied.sources, **dict.fromkeys(unstated, FILE)})


def load(folder: Path | None, space: str | None) -> Calibration | None:
    """The calibration in a knowledge base's folder; ``None`` without one.

    Raises ``CalibrationError`` when it cannot be read, or was made for another space than the kb's.
    """
    path = None if folder is None else folder / FILE
    if path is None or not path.is_file():
        return None
    try:
        body = tomllib.loads(path.read_text(encoding="utf-8"))
        if body["format"] != FORMAT:
            raise CalibrationError(f"{path}: the format is {body['format']!r}, not {FORMAT!r}", hint=HINT)
        found = Calibration(
            space=body["space"],
            settings=body.get("settings", {}),
            rerankers={
                name: RerankerCalibration(fingerprint=table["fingerprint"], settings=table.get("settings", {}))
                for name, table in body.get("rerankers", {}).items()
            },
            evidence=body.get("evidence", {}),
        )
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError) as error:
        raise CalibrationError(f"{path}: not a calibration: {error}", hint=HINT) from error
    if space is not None and found.space != space:
        raise CalibrationError(f"{path} was made for {found.space}, and the knowledge base holds {space}", hint=HINT)
    return found


def save(folder: Path, calibration: Calibration) -> Path:
    """Write a calibration into a knowledge base's folder, whole or not at all."""
    lines = [f"format = {_toml(FORMAT)}", f"space = {_toml(calibration.space)}"]
    lines += _table("settings", calibration.settings)
    for name, reranker in calibration.rerankers.items():
        lines += _table(f"rerankers.{_toml(name)}", {"fingerprint": reranker.fingerprint})
        lines += _table(f"rerankers.{_toml(name)}.settings", reranker.settings)
    lines += _table("evidence", calibration.evidence)
    path = folder / FILE
    unfinished = path.with_suffix(".toml.new")
    unfinished.write_text("\n".join(lines) + "\n", encoding="utf-8")
    unfinished.replace(path)
    return path


def _effective(name: str, loaded: LoadedSettings, calibrated: Mapping[str, object]) -> object:
    stated = loaded.sources.get(name, "default") != "default"
    return getattr(loaded.values, name) if stated or name not in calibrated else calibrated[name]


def _table(name: str, values: Values) -> list[str]:
    return ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in values.items())]


def _toml(value: str | int | float | bool) -> str:
    """A scalar in TOML; its basic strings escape as JSON's do, DEL apart."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
