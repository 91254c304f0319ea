"""int8 weights for a float32 ONNX encoder: dynamic quantisation, one scale per output channel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx


def quantise(model: onnx.ModelProto, target: Path) -> None:
    """Write the int8 form of ``model`` to ``target``.

    ``reduce_range`` keeps weights to 7 bits: without it, products of two 8-bit numbers overflow 16 bits on
    CPUs without VNNI, and the result would depend on the machine. Embedding tables stay float32.
    """
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]

    quantize_dynamic(
        model,
        target,
        op_types_to_quantize=["MatMul"],
        per_channel=True,
        reduce_range=True,
        weight_type=QuantType.QInt8,
        extra_options={"MatMulConstBOnly": True, "DefaultTensorType": TensorProto.FLOAT},
    )
