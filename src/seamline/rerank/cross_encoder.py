"""``cross_encoder``: a sequence-classification model from a local directory, run by ONNX Runtime.

The directory holds ``tokenizer.json`` and ``model.onnx`` (or ``onnx/model.onnx``), as model hubs lay them out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from seamline.errors import ModelMissingError, ProviderError, SettingsError, TransientProviderError
from seamline.fingerprint import fingerprint
from seamline.types import Fingerprint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

_BATCH = 8
_MODELS = ("model.onnx", "onnx/model.onnx")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossEncoderOptions:
    """``window`` counts tokens of question and text together; longer texts are cut at their end."""

    folder: Path
    window: int


class CrossEncoder:
    """Scores are the model's logits (of two labels, the second minus the first): unbounded, no probability.

    Loads on first use; safe to call from several threads.
    """

    name = "cross_encoder"
    stand_in = False

    def __init__(self, options: CrossEncoderOptions) -> None:
        """Raises ``ModelMissingError`` when the directory lacks a file."""
        self._options = options
        self._tokenizer_file = options.folder / "tokenizer.json"
        models = [options.folder / name for name in _MODELS if (options.folder / name).is_file()]
        if not models or not self._tokenizer_file.is_file():
            raise ModelMissingError(
                f"{options.folder}: no cross-encoder ({' or '.join(_MODELS)}, and tokenizer.json)",
                hint="point rerank_model_dir at a directory with both; export a model to ONNX where it has none",
            )
        self._model_file = models[0]
        self._lock = Lock()
        self._loaded: tuple[Tokenizer, Any] | None = None
        self._fingerprint: Fingerprint | None = None

    @property
    def fingerprint(self) -> Fingerprint:
        """Hashes of both files, and the window."""
        with self._lock:
            if self._fingerprint is None:
                parts = {"tokenizer": _sha256(self._tokenizer_file), "model": _sha256(self._model_file)}
                self._fingerprint = fingerprint(
                    "policy", {"reranker": self.name, "window": self._options.window, "version": 1} | parts
                )
            return self._fingerprint

    def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """One logit a text.

        Raises:
            TransientProviderError: the deadline passed between two batches.
            ProviderError: the files are not a cross-encoder.
        """
        ends = monotonic() + deadline_s
        tokenizer, session = self._load()
        pairs = [tokenizer.encode(query, text) for text in texts]
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].ids))
        scores = [0.0] * len(pairs)
        for start in range(0, len(order), _BATCH):
            if monotonic() >= ends:
                raise TransientProviderError(
                    f"the cross-encoder scored {start} of {len(texts)} texts in {deadline_s:g} s",
                    hint="raise rerank_timeout_s, or lower rerank_candidates",
                )
            batch = order[start : start + _BATCH]
            for place, score in zip(batch, _logits(session, [pairs[place] for place in batch]), strict=True):
                scores[place] = score
        return scores

    def _load(self) -> tuple[Tokenizer, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = (_tokenizer(self._tokenizer_file, self._options.window), _session(self._model_file))
            return self._loaded


def create(settings: Mapping[str, object]) -> CrossEncoder:
    """From ``rerank_model_dir`` and ``rerank_window``; raises ``SettingsError`` and ``ModelMissingError``."""
    if not settings["rerank_model_dir"]:
        raise SettingsError("the reranker 'cross_encoder' needs a model", hint="set rerank_model_dir")
    folder = Path(str(settings["rerank_model_dir"])).expanduser()
    return CrossEncoder(CrossEncoderOptions(folder=folder, window=cast("int", settings["rerank_window"])))


def _logits(session: Any, pairs: Sequence[Encoding]) -> list[float]:  # noqa: ANN401 - onnxruntime ships no types
    import numpy as np

    width = max(len(pair.ids) for pair in pairs)
    fields: dict[str, NDArray[np.int64]] = {
        name: np.zeros((len(pairs), width), dtype=np.int64)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    }
    for row, pair in enumerate(pairs):
        fields["input_ids"][row, : len(pair.ids)] = pair.ids
        fields["attention_mask"][row, : len(pair.ids)] = 1
        fields["token_type_ids"][row, : len(pair.ids)] = pair.type_ids
    wanted = {item.name for item in session.get_inputs()}
    if not wanted <= fields.keys():
        raise ProviderError(f"the model wants inputs {sorted(wanted)}", hint="it is not a cross-encoder")
    try:
        output = np.asarray(session.run(None, {name: fields[name] for name in wanted})[0], dtype=np.float64)
    except Exception as error:  # onnxruntime raises several unrelated types, all made in C++
        raise ProviderError(
            f"the cross-encoder failed ({type(error).__name__})", hint="lower rerank_window to what the model takes"
        ) from None
    if output.ndim != 2 or output.shape[0] != len(pairs) or output.shape[1] not in (1, 2):
        raise ProviderError(
            f"the model's output has shape {output.shape}", hint="one or two labels a pair are expected"
        )
    return [float(row[-1] - (row[0] if len(row) == 2 else 0.0)) for row in output]


def _tokenizer(path: Path, window: int) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(window, strategy="longest_first")
    return tokenizer


def _session(path: Path) -> Any:  # noqa: ANN401
    import onnxruntime  # type: ignore[import-untyped]

    try:
        return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # as above
        raise ProviderError(f"{path} cannot be loaded by ONNX Runtime", hint="export the model again") from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
