"""JSON values to arrays that fit a signature; a value that does not is refused by the name of its field.

Pure, and without silent loss: a number that the tensor's type cannot hold is an error, not another number.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]

from ..errors import BadRequest
from .signature import Arrays, Signature, Tensor, fits


def wanted(fetch: Any, signature: Signature, field: str) -> list[str]:
    """The outputs asked for, each once; an empty list asks for all."""
    known = [t.name for t in signature.outputs]
    if not isinstance(fetch, list) or not all(isinstance(name, str) for name in fetch):
        raise BadRequest(f"{field} must be a list of names; {signature}")
    if unknown := [name for name in fetch if name not in known]:
        raise BadRequest(f"{field} names {', '.join(unknown)}, which the model does not give; {signature}")
    return list(dict.fromkeys(fetch)) or known


def check_names(entry: Any, signature: Signature, field: str) -> None:
    known = {t.name for t in signature.inputs}
    if not isinstance(entry, Mapping):
        raise BadRequest(f"{field} must be an object of variables; {signature}")
    if entry.keys() == known:
        return
    if missing := sorted(known - entry.keys()):
        raise BadRequest(f"{field} lacks {', '.join(missing)}; {signature}")
    unknown = ", ".join(map(str, sorted(entry.keys() - known)))
    raise BadRequest(f"{field} has {unknown}, which the model does not take; {signature}")


def whole(value: Any, tensor: Tensor, signature: Signature, field: str) -> Any:
    """A batch as it was given, or one sample made a batch of one."""
    array = numbers(value, tensor, field)
    return array if fits(array.shape, tensor.shape) else one(array, tensor, signature, field)


def sample(value: Any, tensor: Tensor, signature: Signature, field: str) -> Any:
    """One sample as a batch of one; a flat list of the right length is given its shape."""
    return one(numbers(value, tensor, field), tensor, signature, field)


def one(array: Any, tensor: Tensor, signature: Signature, field: str) -> Any:
    if tensor.batched and fits(array.shape, tensor.shape[1:]):
        return array[np.newaxis]
    if fits(array.shape, tensor.shape) and (not tensor.batched or array.shape[0] == 1):
        return array
    rest = tensor.shape[1:]
    if tensor.batched and -1 not in rest and array.size == prod(rest):
        return array.reshape((1, *rest))
    raise BadRequest(f"{field} has the shape {list(array.shape)}, which does not fit; {signature}")


def shaped(array: Any, shape: Any, field: str) -> Any:
    """*array* in the *shape* that came with it."""
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise BadRequest(f"{field}.shape must be a list of sizes")
    if prod(shape) != array.size:
        raise BadRequest(f"{field}.shape {shape} needs {prod(shape)} values, there are {array.size}")
    return array.reshape(shape)


def checked(arrays: Arrays, signature: Signature, field: str) -> Arrays:
    """*arrays* in the order of the signature, all of one batch. Raises `BadRequest`."""
    check_names(arrays, signature, field)
    result: Arrays = {}
    for tensor in signature.inputs:
        array = np.asarray(arrays[tensor.name])
        if array.dtype != tensor.dtype:
            array = numbers(array, tensor, f"{field}.{tensor.name}")
        if not fits(array.shape, tensor.shape):
            shape = list(array.shape)
            raise BadRequest(f"{field}.{tensor.name} has the shape {shape}, which does not fit; {signature}")
        result[tensor.name] = array
    return result


def numbers(value: Any, tensor: Tensor, field: str) -> Any:
    """*value* as an array of the tensor's type, without silent loss."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise BadRequest(f"{field} is no array: its rows differ in length") from error
    if array.dtype.kind not in "biuf":
        raise BadRequest(f"{field} must hold numbers only, for {tensor}")
    try:
        with np.errstate(over="raise", invalid="raise"):
            typed = array.astype(tensor.dtype)
    except (FloatingPointError, OverflowError) as error:
        raise BadRequest(f"{field} has numbers that are no {tensor.dtype}") from error
    if typed.dtype.kind in "iub" and array.dtype != typed.dtype and not np.array_equal(typed, array):
        raise BadRequest(f"{field} has numbers that are no {tensor.dtype}")
    return typed
