"""The graph builder against the same mathematics written out in numpy."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from seamline.embed import bert
from seamline.embed.quantise import quantise
from seamline.errors import EmbeddingError

if TYPE_CHECKING:
    Array = NDArray[np.float32]

SHAPE = bert.BertShape(layers=2, heads=3, epsilon=1e-12)
HIDDEN, INNER, VOCABULARY, POSITIONS = 12, 20, 50, 16


def random_weights() -> dict[str, Array]:
    random = np.random.default_rng(7)

    def tensor(*shape: int) -> Array:
        return random.normal(0, 0.3, shape).astype(np.float32)

    weights = {
        "embeddings.word_embeddings.weight": tensor(VOCABULARY, HIDDEN),
        "embeddings.position_embeddings.weight": tensor(POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": tensor(2, HIDDEN),
    }
    linears = {"attention.self.query": (HIDDEN, HIDDEN), "attention.self.key": (HIDDEN, HIDDEN)}
    linears |= {"attention.self.value": (HIDDEN, HIDDEN), "attention.output.dense": (HIDDEN, HIDDEN)}
    linears |= {"intermediate.dense": (INNER, HIDDEN), "output.dense": (HIDDEN, INNER)}
    norms = ["embeddings.LayerNorm"]
    for layer in range(SHAPE.layers):
        prefix = f"encoder.layer.{layer}"
        for name, (outputs, inputs) in linears.items():
            weights[f"{prefix}.{name}.weight"] = tensor(outputs, inputs)
            weights[f"{prefix}.{name}.bias"] = tensor(outputs)
        norms += [f"{prefix}.attention.output.LayerNorm", f"{prefix}.output.LayerNorm"]
    for name in norms:
        weights[f"{name}.weight"] = 1 + tensor(HIDDEN)
        weights[f"{name}.bias"] = tensor(HIDDEN)
    return weights


def reference(weights: dict[str, Array], ids: list[int]) -> Array:
    """One text, float64, head by head."""

    def linear(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(x @ weights[f"{name}.weight"].T.astype(np.float64) + weights[f"{name}.bias"])

    def norm(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt(x.var(axis=-1, keepdims=True) + SHAPE.epsilon)
        return np.asarray(scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"])

    x = weights["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm("embeddings.LayerNorm", x + weights["embeddings.token_type_embeddings.weight"][0])
    size = HIDDEN // SHAPE.heads
    for layer in range(SHAPE.layers):
        prefix = f"encoder.layer.{layer}"
        query, key, value = (linear(f"{prefix}.attention.self.{part}", x) for part in ("query", "key", "value"))
        heads = []
        for start in range(0, HIDDEN, size):
            part = slice(start, start + size)
            scores = np.exp(query[:, part] @ key[:, part].T / math.sqrt(size))
            heads.append(scores / scores.sum(axis=1, keepdims=True) @ value[:, part])
        attended = linear(f"{prefix}.attention.output.dense", np.concatenate(heads, axis=1))
        x = norm(f"{prefix}.attention.output.LayerNorm", x + attended)
        inner = linear(f"{prefix}.intermediate.dense", x)
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = norm(f"{prefix}.output.LayerNorm", x + linear(f"{prefix}.output.dense", inner))
    mean = x.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


def run(model: bytes | str, rows: list[list[int]]) -> Array:
    width = max(map(len, rows))
    ids = np.array([row + [0] * (width - len(row)) for row in rows], dtype=np.int64)
    mask = np.array([[1] * len(row) + [0] * (width - len(row)) for row in rows], dtype=np.int64)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})[0])


ROWS = [[1, 4, 9, 16, 25], [3, 2, 1], [7] * 16, [49]]


def test_the_graph_computes_what_the_mathematics_says() -> None:
    weights = random_weights()
    model = bert.build(weights, SHAPE)
    onnx.checker.check_model(model, full_check=True)
    expected = np.stack([reference(weights, row) for row in ROWS])
    for row, wanted in zip(ROWS, expected, strict=True):
        np.testing.assert_allclose(run(model.SerializeToString(), [row])[0], wanted, atol=1e-5)


def test_padding_changes_nothing() -> None:
    model = bert.build(random_weights(), SHAPE).SerializeToString()
    alone = np.concatenate([run(model, [row]) for row in ROWS])
    np.testing.assert_allclose(run(model, ROWS), alone, atol=1e-6)


def test_the_int8_form_is_close_and_logs_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = bert.build(random_weights(), SHAPE)
    with caplog.at_level(logging.DEBUG):
        quantise(model, tmp_path / "int8.onnx")
    exact = run(model.SerializeToString(), ROWS)
    rounded = run(str(tmp_path / "int8.onnx"), ROWS)
    assert (exact * rounded).sum(axis=1).min() > 0.98
    assert not np.array_equal(exact, rounded)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    operators = {node.op_type for node in onnx.load(tmp_path / "int8.onnx").graph.node}
    assert {"MatMulInteger", "DynamicQuantizeLinear"} <= operators


def test_a_missing_tensor_is_named() -> None:
    weights = random_weights()
    del weights["encoder.layer.1.output.dense.bias"]
    with pytest.raises(EmbeddingError, match=r"no tensor 'encoder\.layer\.1\.output\.dense\.bias'"):
        bert.build(weights, SHAPE)


def test_heads_must_divide_the_hidden_size() -> None:
    with pytest.raises(EmbeddingError, match="5 heads do not divide hidden size 12"):
        bert.build(random_weights(), bert.BertShape(layers=2, heads=5, epsilon=1e-12))


def test_weights_are_read_from_safetensors_only(tmp_path: Path) -> None:
    save_file({"a": np.ones(3, np.float32), "ids": np.arange(3)}, tmp_path / "w.safetensors")
    assert list(bert.read_weights(tmp_path / "w.safetensors")) == ["a"]
    (tmp_path / "bad").write_bytes(b"no tensors here")
    with pytest.raises(EmbeddingError, match="cannot be read as safetensors"):
        bert.read_weights(tmp_path / "bad")
