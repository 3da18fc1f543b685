"""Paddle Inference as an engine. The handles of a predictor are shared state: every run has its own."""

from __future__ import annotations

import os
import queue
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]
import paddle  # type: ignore[import-not-found,unused-ignore]
from paddle import inference  # type: ignore[import-not-found,unused-ignore]

from ..errors import BadRequest
from .engine import Effort
from .modelfiles import Files
from .programs import signature_of
from .signature import Arrays, Signature, Tensor

ONEDNN = "PADDLECLOUD_ONEDNN"
"""Set to 1 where large batches count: it is slower for single samples."""


class PaddleEngine:
    platform = "paddle_inference"

    def __init__(self, predictors: list[Any], signature: Signature) -> None:
        self.signature = signature
        self.free: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for predictor in predictors:
            self.free.put(predictor)

    def run(self, names: list[str], arrays: Arrays) -> list[Any]:
        predictor = self.free.get()
        try:
            for name, array in arrays.items():
                predictor.get_input_handle(name).copy_from_cpu(np.ascontiguousarray(array))
            predictor.run()
            return [predictor.get_output_handle(name).copy_to_cpu() for name in names]
        except Exception as error:  # the library's errors share no narrower class
            raise BadRequest(f"the model refuses the input: {reason(error)}; {self.signature}") from error
        finally:
            self.free.put(predictor)


def reason(error: Exception) -> str:
    """The one line of Paddle's report that says what is wrong; its call stacks help nobody here."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith("(") or "Error: " in line]
    return next(iter(telling or lines[-1:]), type(error).__name__)


def open_model(files: Files, effort: Effort) -> PaddleEngine:
    signature = signature_of(files.program)
    # It takes SIGTERM for a crash, and ends the process with a report instead of finishing requests.
    paddle.disable_signal_handler()
    config = inference.Config(str(files.program), str(files.parameters))
    config.disable_gpu()
    config.disable_glog_info()
    config.set_cpu_math_library_num_threads(effort.threads)
    if os.environ.get(ONEDNN) != "1":
        config.disable_mkldnn()
    first = inference.create_predictor(config)
    predictors = [first, *(first.clone() for _ in range(effort.concurrent - 1))]
    return PaddleEngine(predictors, settled(first, signature))


def settled(predictor: Any, signature: Signature) -> Signature:
    """The signature of the file under the names the predictor uses."""
    return Signature(
        renamed(signature.inputs, predictor.get_input_names()),
        renamed(signature.outputs, predictor.get_output_names()),
    )


def renamed(tensors: tuple[Tensor, ...], names: list[str]) -> tuple[Tensor, ...]:
    if {t.name for t in tensors} == set(names) or len(tensors) != len(names):
        return tensors
    return tuple(Tensor(name, t.dtype, t.shape) for t, name in zip(tensors, names, strict=True))
