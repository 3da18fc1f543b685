"""ONNX Runtime behind one function: arrays in, arrays out.

A session is loaded once and may be run from several threads; it is ready only after it has answered once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import onnxruntime  # type: ignore[import-not-found,unused-ignore]

from ..errors import BadRequest, Failed
from .predict import Arrays, Signature, Tensor

DTYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(int16)": "int16",
    "tensor(int8)": "int8",
    "tensor(uint8)": "uint8",
    "tensor(bool)": "bool",
}
ERRORS_ONLY = 3


class OnnxEngine:
    """The model of a folder."""

    def __init__(self, session: Any, signature: Signature) -> None:
        self.session = session
        self.signature = signature

    def run(self, names: list[str], arrays: Arrays) -> list[Any]:
        """Raises `BadRequest` when the model refuses the arrays (sizes that do not go together)."""
        try:
            answers: list[Any] = self.session.run(names, arrays)
        except Exception as error:  # the library's errors share no narrower class
            raise BadRequest(f"the model refuses the input: {error}; {self.signature}") from error
        return answers


def load(folder: Path, threads: int) -> OnnxEngine:
    """Load `model.onnx` and let it answer once. Raises `Failed` with the reason."""
    file = folder / "model.onnx"
    if not file.is_file():
        raise Failed(
            f"there is no {file}: this server runs ONNX models only",
            next_step="serve a version whose conversion to ONNX succeeded",
        )
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    settings.log_severity_level = ERRORS_ONLY
    try:
        session = onnxruntime.InferenceSession(str(file), settings, providers=["CPUExecutionProvider"])
        signature = Signature(tensors(session.get_inputs()), tensors(session.get_outputs()))
        engine = OnnxEngine(session, signature)
        session.run(None, {t.name: zeros(t) for t in signature.inputs})
    except Exception as error:
        raise Failed(f"{file} does not load: {error}") from error
    return engine


def tensors(nodes: list[Any]) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(
            node.name,
            DTYPES.get(node.type, node.type),
            tuple(size if isinstance(size, int) and size > 0 else -1 for size in node.shape),
        )
        for node in nodes
    )


def zeros(tensor: Tensor) -> Any:
    return np.zeros([1 if size == -1 else size for size in tensor.shape], tensor.dtype)
