"""Tensors as Paddle Serving's messages carry them: a shape beside one list of numbers named by its type."""

from __future__ import annotations

from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]

from ...errors import BadRequest
from ..tensors import shaped

FIELDS = {
    "float_data": "float32",
    "int64_data": "int64",
    "int_data": "int32",
    "double_data": "float64",
    "uint_data": "uint32",
    "bool_data": "bool",
}
ELEMENT_TYPES = {"int64": 0, "float32": 1, "int32": 2}
"""Numbers of the types; what has none of its own is answered as float32."""


def array_of(tensor: Any, field: str) -> tuple[str, Any]:
    """The name of a tensor and its array. Raises `BadRequest`."""
    if not isinstance(tensor, dict):
        raise BadRequest(f"{field} must be an object")
    name = tensor.get("alias_name") or tensor.get("name")
    if not isinstance(name, str):
        raise BadRequest(f"{field} needs a name or an alias_name")
    present = [key for key in FIELDS if tensor.get(key)]
    if len(present) != 1:
        raise BadRequest(f"{field} needs exactly one list of numbers, of {', '.join(FIELDS)}")
    try:
        array = np.asarray(tensor[present[0]]).astype(FIELDS[present[0]])
    except (ValueError, TypeError, OverflowError) as error:
        raise BadRequest(f"{field}.{present[0]} must be a flat list of numbers") from error
    return name, shaped(array, tensor.get("shape", list(array.shape)), field)


def tensor_of(name: str, array: Any) -> dict[str, Any]:
    kind = str(array.dtype)
    field = next((key for key, dtype in FIELDS.items() if dtype == kind), "float_data")
    if kind not in ELEMENT_TYPES:
        field, array = "float_data", array.astype("float32")
    return {
        field: array.reshape(-1),
        "elem_type": ELEMENT_TYPES.get(kind, 1),
        "shape": list(array.shape),
        "name": name,
        "alias_name": name,
    }
