"""The names the Open Inference Protocol has for types of numbers, and their bytes."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]

from ...errors import BadRequest
from ..signature import Signature, Tensor, fits

NAMES = {
    "bool": "BOOL", "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64",
    "int8": "INT8", "int16": "INT16", "int32": "INT32", "int64": "INT64",
    "float16": "FP16", "float32": "FP32", "float64": "FP64",
}  # fmt: skip


def described(tensor: Tensor) -> dict[str, Any]:
    return {"name": tensor.name, "datatype": named(tensor.dtype), "shape": list(tensor.shape)}


def named(dtype: str) -> str:
    return NAMES.get(dtype, dtype.upper())


def check(tensor: Tensor, datatype: str, shape: Any, field: str, signature: Signature) -> tuple[int, ...]:
    """The shape of an input, when type and shape are those of *tensor*. Raises `BadRequest`."""
    if datatype != named(tensor.dtype):
        raise BadRequest(
            f"{field}.datatype is {datatype}, the model takes {named(tensor.dtype)}; {signature}"
        )
    if not all(type(size) is int and size >= 0 for size in shape):
        raise BadRequest(f"{field}.shape must be a list of sizes")
    sizes = tuple(shape)
    if not fits(sizes, tensor.shape):
        raise BadRequest(f"{field}.shape is {list(sizes)}, which does not fit; {signature}")
    return sizes


def from_bytes(data: Any, tensor: Tensor, shape: tuple[int, ...], field: str) -> Any:
    """The array of little-endian *data*, which is not copied."""
    kind = np.dtype(tensor.dtype).newbyteorder("<")
    needed = prod(shape) * kind.itemsize
    if len(data) != needed:
        raise BadRequest(
            f"{field} has {len(data)} bytes, shape {list(shape)} of {tensor.dtype} needs {needed}"
        )
    return np.frombuffer(data, kind).reshape(shape)


def to_bytes(array: Any) -> bytes:
    content: bytes = np.ascontiguousarray(array).tobytes()
    return content
