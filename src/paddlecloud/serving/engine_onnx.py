"""ONNX Runtime as an engine. A session may be run from several threads; it is the library that is careful."""

from __future__ import annotations

from typing import Any

import onnxruntime  # type: ignore[import-not-found,unused-ignore]

from ..errors import BadRequest
from .engine import Effort
from .modelfiles import Files
from .signature import Arrays, Signature, Tensor

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
    platform = "onnxruntime_onnx"

    def __init__(self, session: Any) -> None:
        self.session = session
        self.signature = Signature(tensors(session.get_inputs()), tensors(session.get_outputs()))

    def run(self, names: list[str], arrays: Arrays) -> list[Any]:
        try:
            answers: list[Any] = self.session.run(names, arrays)
        except Exception as error:  # the library's errors share no narrower class
            raise BadRequest(f"the model refuses the input: {error}; {self.signature}") from error
        return answers


def open_model(files: Files, effort: Effort) -> OnnxEngine:
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = effort.threads
    settings.inter_op_num_threads = 1
    settings.log_severity_level = ERRORS_ONLY
    return OnnxEngine(
        onnxruntime.InferenceSession(str(files.program), settings, providers=["CPUExecutionProvider"])
    )


def tensors(nodes: list[Any]) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(
            node.name,
            DTYPES.get(node.type, node.type),
            tuple(size if isinstance(size, int) and size > 0 else -1 for size in node.shape),
        )
        for node in nodes
    )
