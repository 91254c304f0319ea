"""A cross-encoder's directory with random weights: the shape of a real one, made in a moment.

Words become random vectors; the score is the dot product of the means of question and text. So it knows nothing of
language, but a text with the question's words scores high, and every input of the graph matters.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

SIZE, WIDTH = 4096, 64
WORDS = "when does the harbour gate open opens at six tariffs for cranes are listed in appendix lunch is served"


def write(folder: Path, *, labels: int = 1, seed: int = 7) -> Path:
    """``model.onnx`` and ``tokenizer.json``; with two labels the first is minus the second."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((SIZE, WIDTH)).astype(np.float32)
    signs = np.array([[(-1.0) ** (labels - 1 - place) for place in range(labels)]], dtype=np.float32)
    made: dict[str, Any] = {
        "table": table,
        "one": np.array(1.0, np.float32),
        "two": np.array([2], np.int64),
        "signs": signs,
    }
    made |= {"last": np.array([1], np.int64), "tiny": np.array(1e-6, np.float32)}

    def node(operator: str, inputs: list[str], output: str, **attributes: Any) -> onnx.NodeProto:  # noqa: ANN401
        return helper.make_node(operator, inputs, [output], **attributes)

    nodes = [
        node("Gather", ["table", "input_ids"], "words", axis=0),
        node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], "second", to=TensorProto.FLOAT),
        node("Sub", ["one", "second"], "first"),
    ]
    for part in ("first", "second"):
        nodes += [
            node("Mul", ["mask", part], f"{part}_mask"),
            node("Unsqueeze", [f"{part}_mask", "two"], f"{part}_wide"),
            node("Mul", ["words", f"{part}_wide"], f"{part}_words"),
            node("ReduceSum", [f"{part}_words", "last"], f"{part}_sum", keepdims=0),
            node("ReduceSum", [f"{part}_mask", "last"], f"{part}_raw", keepdims=1),
            node("Add", [f"{part}_raw", "tiny"], f"{part}_count"),
            node("Div", [f"{part}_sum", f"{part}_count"], f"{part}_mean"),
        ]
    nodes += [
        node("Mul", ["first_mean", "second_mean"], "both"),
        node("ReduceSum", ["both", "last"], "score", keepdims=1),
        node("MatMul", ["score", "signs"], "logits"),
    ]
    names = ("input_ids", "attention_mask", "token_type_ids")
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", labels])],
        [numpy_helper.from_array(value, name) for name, value in made.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, folder / "model.onnx")

    vocabulary = {word: place for place, word in enumerate(("[UNK]", "[CLS]", "[SEP]", *WORDS.split()))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
