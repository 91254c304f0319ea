"""A BERT encoder as an ONNX graph, built from its safetensors without torch.

The graph takes ``input_ids`` and ``attention_mask`` (int64, both ``(batch, length)``) and gives ``embedding``
(float32, ``(batch, hidden)``): the mean of the token states under the mask, L2-normalised. Architecture:
Devlin et al. 2018, post-layer-norm encoder with exact (erf) GELU; token type 0 throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seamline.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    import onnx
    from numpy.typing import NDArray

    Weights = Mapping[str, NDArray[np.float32]]

BUILDER_VERSION = 1
"""Raised whenever the graph's output could change; part of every built model's name."""

OPSET = 20  # the first with Gelu
IR_VERSION = 10  # read by every onnxruntime that knows opset 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BertShape:
    """What the tensors' own shapes do not tell."""

    layers: int
    heads: int
    epsilon: float


MINILM_L6 = BertShape(layers=6, heads=12, epsilon=1e-12)


def build(weights: Weights, shape: BertShape) -> onnx.ModelProto:
    """The graph. Raises ``EmbeddingError`` when a tensor is missing or the heads do not divide the hidden size."""
    from onnx import TensorProto, helper

    word = _tensor(weights, "embeddings.word_embeddings.weight")
    hidden = word.shape[1]
    if hidden % shape.heads:
        raise EmbeddingError(f"cannot build the encoder: {shape.heads} heads do not divide hidden size {hidden}")
    graph = _Graph(weights, shape, hidden)
    states = graph.embeddings()
    bias = graph.mask_bias()
    for layer in range(shape.layers):
        states = graph.layer(f"encoder.layer.{layer}", states, bias)
    graph.pool(states)
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "encoder",
            [
                helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
                for name in ("input_ids", "attention_mask")
            ],
            [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", hidden])],
            graph.initializers,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="seamline",
    )
    model.ir_version = IR_VERSION
    # The quantiser's own mark for "nothing left to fold": it would otherwise log a warning for the application.
    helper.set_model_props(model, {"onnx.quant.pre_process": "onnxruntime.quant"})
    return model


def read_weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """All float32 tensors of a safetensors file; raises ``EmbeddingError`` when it is not one."""
    import numpy as np
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return {name: tensor for name, tensor in load_file(path).items() if tensor.dtype == np.float32}
    except (SafetensorError, OSError) as error:
        raise EmbeddingError(f"{path}: cannot be read as safetensors ({error})") from error


def _tensor(weights: Weights, name: str) -> NDArray[np.float32]:
    if name not in weights:
        raise EmbeddingError(f"the weights hold no tensor {name!r}: not a BERT encoder")
    return weights[name]


class _Graph:
    """Nodes and constants as they are added; each method returns the name of the value it computes."""

    def __init__(self, weights: Weights, shape: BertShape, hidden: int) -> None:
        self.weights, self.shape, self.hidden = weights, shape, hidden
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.constants: set[str] = set()

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401 - as onnx has it
        from onnx import helper

        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=f"node_{name}", **attributes))
        return name

    def constant(self, name: str, values: NDArray[np.generic]) -> str:
        from onnx import numpy_helper

        if name not in self.constants:
            self.initializers.append(numpy_helper.from_array(values, name))
            self.constants.add(name)
        return name

    def integers(self, *values: int) -> str:
        import numpy as np

        return self.constant("int_" + "_".join(map(str, values)), np.array(values, dtype=np.int64))

    def weight(self, name: str) -> str:
        return self.constant(name, _tensor(self.weights, name))

    def norm(self, prefix: str, value: str) -> str:
        scale, bias = self.weight(f"{prefix}.weight"), self.weight(f"{prefix}.bias")
        return self.node("LayerNormalization", value, scale, bias, axis=-1, epsilon=self.shape.epsilon)

    def linear(self, value: str, *prefixes: str) -> str:
        """``x W^T + b``; several prefixes are one product with their outputs side by side."""
        import numpy as np

        weight = np.concatenate([_tensor(self.weights, f"{prefix}.weight") for prefix in prefixes])
        bias = np.concatenate([_tensor(self.weights, f"{prefix}.bias") for prefix in prefixes])
        product = self.node("MatMul", value, self.constant(f"{prefixes[0]}.w", np.ascontiguousarray(weight.T)))
        return self.node("Add", product, self.constant(f"{prefixes[0]}.b", bias))

    def embeddings(self) -> str:

        words = self.node("Gather", self.weight("embeddings.word_embeddings.weight"), "input_ids", axis=0)
        positions = _tensor(self.weights, "embeddings.position_embeddings.weight")
        # Token type is always 0, so that its row is added to every position once, here.
        placed = positions + _tensor(self.weights, "embeddings.token_type_embeddings.weight")[0]
        length = self.node("Shape", "input_ids", start=1, end=2)
        used = self.node("Slice", self.constant("positions", placed), self.integers(0), length, self.integers(0))
        return self.norm("embeddings.LayerNorm", self.node("Add", words, used))

    def mask_bias(self) -> str:
        """``(batch, 1, 1, length)``: 0 where there is a token, a large negative number where there is padding."""
        import numpy as np
        from onnx import TensorProto

        mask = self.node("Cast", "attention_mask", to=TensorProto.FLOAT)
        absent = self.node("Sub", self.constant("one", np.array(1.0, dtype=np.float32)), mask)
        bias = self.node("Mul", absent, self.constant("mask_floor", np.array(-1e9, dtype=np.float32)))
        return self.node("Unsqueeze", bias, self.integers(1, 2))

    def layer(self, prefix: str, states: str, bias: str) -> str:
        attended = self.linear(
            self.attention(f"{prefix}.attention.self", states, bias), f"{prefix}.attention.output.dense"
        )
        states = self.norm(f"{prefix}.attention.output.LayerNorm", self.node("Add", attended, states))
        inner = self.node("Gelu", self.linear(states, f"{prefix}.intermediate.dense"))
        output = self.linear(inner, f"{prefix}.output.dense")
        return self.norm(f"{prefix}.output.LayerNorm", self.node("Add", output, states))

    def attention(self, prefix: str, states: str, bias: str) -> str:
        """Scaled dot-product attention over all heads at once."""
        import numpy as np

        heads, size = self.shape.heads, self.hidden // self.shape.heads
        merged = self.linear(states, *(f"{prefix}.{part}" for part in ("query", "key", "value")))
        split = self.node("Reshape", merged, self.integers(0, 0, 3, heads, size))
        stacked = self.node("Transpose", split, perm=[2, 0, 3, 1, 4])
        query, key, value = (
            self.node("Gather", stacked, self.constant(f"part_{part}", np.array(part, dtype=np.int64)), axis=0)
            for part in range(3)
        )
        scores = self.node("MatMul", query, self.node("Transpose", key, perm=[0, 1, 3, 2]))
        scale = self.constant("attention_scale", np.array(size**-0.5, dtype=np.float32))
        shares = self.node("Softmax", self.node("Add", self.node("Mul", scores, scale), bias), axis=-1)
        joined = self.node("Transpose", self.node("MatMul", shares, value), perm=[0, 2, 1, 3])
        return self.node("Reshape", joined, self.integers(0, 0, self.hidden))

    def pool(self, states: str) -> None:
        """Mean under the mask, then length 1, as the output ``embedding``."""
        from onnx import TensorProto, helper

        mask = self.node("Unsqueeze", self.node("Cast", "attention_mask", to=TensorProto.FLOAT), self.integers(2))
        total = self.node("ReduceSum", self.node("Mul", states, mask), self.integers(1), keepdims=0)
        mean = self.node("Div", total, self.node("ReduceSum", mask, self.integers(1), keepdims=0))
        length = self.node("ReduceL2", mean, self.integers(1), keepdims=1)
        self.nodes.append(helper.make_node("Div", [mean, length], ["embedding"], name="node_embedding"))
