"""From a folder to an engine that has answered.

A model is ready only after it has answered once, and its rows may share a batch only after it has shown that
they do not influence each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]

from ..errors import ApiError, Failed
from .engine import Effort, Engine
from .layout import aliased
from .modelfiles import Files, find
from .signature import Arrays, Signature, Tensor

UNKNOWN_SIZES = (1, 8, 32, 224)
"""Tried in turn for axes of any size: some networks halve their input several times."""
TOLERANCE = 1e-4
Opening = Callable[[Files, Effort], Engine]


@dataclass(frozen=True)
class Loaded:
    engine: Engine
    rows_independent: bool
    """Whether requests may be computed together."""


def load(folder: Path, effort: Effort) -> Loaded:
    """Open the model of *folder* and let it answer once. Raises `Failed` with the reason."""
    files = find(folder)
    try:
        engine = aliased(opening(files)(files, effort), folder)
        size = answered_once(engine)
        return Loaded(engine, rows_independent(engine, size))
    except Failed:
        raise
    except Exception as error:  # the libraries' errors share no narrower class
        raise Failed(f"{files.program} does not load: {error}") from error


def opening(files: Files) -> Opening:
    # Each library is imported only where its models are served: Paddle alone takes seconds.
    if files.program.suffix == ".onnx":
        from .engine_onnx import open_model as open_onnx

        return open_onnx
    try:
        from .engine_paddle import open_model as open_paddle
    except ImportError as error:
        raise Failed(
            f"{files.program} needs Paddle Inference, which this environment has not ({error})",
            next_step="serve it with the suite serving-paddle, or convert it to ONNX",
        ) from error
    return open_paddle


def answered_once(engine: Engine) -> int:
    """The size for open axes with which the engine answered. Raises what the last attempt raised."""
    names = [t.name for t in engine.signature.outputs]
    open_axes = any(-1 in t.shape[1:] for t in engine.signature.inputs)
    *first, last = UNKNOWN_SIZES if open_axes else UNKNOWN_SIZES[:1]
    for size in first:
        try:
            engine.run(names, rows(engine.signature, (0,), size))
            return size
        except ApiError:
            continue
    engine.run(names, rows(engine.signature, (0,), last))
    return last


def rows_independent(engine: Engine, size: int) -> bool:
    """Whether two rows give together what they give apart."""
    signature = engine.signature
    if not all(t.shape and t.shape[0] == -1 for t in (*signature.inputs, *signature.outputs)):
        return False
    names = [t.name for t in signature.outputs]
    try:
        apart = [engine.run(names, rows(signature, (row,), size)) for row in (0, 1)]
        together = engine.run(names, rows(signature, (0, 1), size))
    except ApiError:
        return False
    return all(
        both.shape[0] == 2
        and a.shape[0] == b.shape[0] == 1
        and both.shape[1:] == a.shape[1:] == b.shape[1:]
        and np.allclose(both, np.concatenate([a, b]), rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
        for both, a, b in zip(together, *apart, strict=True)
    )


def rows(signature: Signature, values: tuple[int, ...], size: int) -> Arrays:
    """A batch with one row filled with each of *values*: zero and one are ids that every table has."""

    def filled(tensor: Tensor) -> Any:
        rest = [size if axis == -1 else axis for axis in tensor.shape[1:]]
        if not tensor.shape or tensor.shape[0] != -1:
            return np.zeros([*tensor.shape[:1], *rest], tensor.dtype)
        return np.stack([np.full(rest, value, tensor.dtype) for value in values])

    return {t.name: filled(t) for t in signature.inputs}
