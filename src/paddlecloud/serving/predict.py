"""Feeds to arrays and arrays to answers, in the form of Paddle Serving's web service.

Pure: the engine is a function of arrays. A feed that does not fit is refused with a sentence that names what
the model takes; nothing reaches the engine that the signature does not allow.

    {"feed": [{var: sample, …}, …], "fetch": [name, …]}     one entry a sample, stacked to a batch
    {"feed": {var: array, …},       "fetch": [name, …]}     one sample, or a whole batch
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]

from ..errors import BadRequest

Arrays = dict[str, Any]
Engine = Callable[[list[str], Arrays], list[Any]]
"""The wanted outputs of these inputs, in the order they were named."""


@dataclass(frozen=True)
class Tensor:
    name: str
    dtype: str
    shape: tuple[int, ...]
    """-1 where any size goes."""

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}{list(self.shape)}"


@dataclass(frozen=True)
class Signature:
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    def __str__(self) -> str:
        takes, gives = (", ".join(map(str, side)) for side in (self.inputs, self.outputs))
        return f"the model takes {takes} and gives {gives}"


def predict(body: Any, signature: Signature, engine: Engine) -> dict[str, Any]:
    """The answer to a request's JSON. Raises `BadRequest`."""
    if not isinstance(body, dict) or "feed" not in body or "fetch" not in body:
        raise BadRequest('the body must be a JSON object with "feed" and "fetch"')
    names = wanted(body["fetch"], signature)
    arrays = fed(body["feed"], signature)
    return {"result": dict(zip(names, engine(names, arrays), strict=True))}


def wanted(fetch: Any, signature: Signature) -> list[str]:
    """The outputs asked for; an empty list asks for all."""
    known = [t.name for t in signature.outputs]
    if not isinstance(fetch, list) or not all(isinstance(name, str) for name in fetch):
        raise BadRequest(f'"fetch" must be a list of names; {signature}')
    if unknown := [name for name in fetch if name not in known]:
        raise BadRequest(f'"fetch" names {", ".join(unknown)}, which the model does not give; {signature}')
    return list(dict.fromkeys(fetch)) or known


def fed(feed: Any, signature: Signature) -> Arrays:
    """The arrays of a feed, each fitting the signature."""
    if isinstance(feed, dict):
        check_names(feed, signature, '"feed"')
        return {t.name: whole(feed[t.name], t, signature) for t in signature.inputs}
    if not isinstance(feed, list) or not feed:
        raise BadRequest(f'"feed" must be an object or a list of at least one object; {signature}')
    for number, entry in enumerate(feed):
        check_names(entry, signature, f'"feed"[{number}]')
    return {
        t.name: np.concatenate(
            [sample(entry[t.name], t, signature, f'"feed"[{n}].{t.name}') for n, entry in enumerate(feed)]
        )
        for t in signature.inputs
    }


def check_names(entry: Any, signature: Signature, where: str) -> None:
    known = {t.name for t in signature.inputs}
    if not isinstance(entry, Mapping):
        raise BadRequest(f"{where} must be an object of variables; {signature}")
    if missing := sorted(known - entry.keys()):
        raise BadRequest(f"{where} lacks {', '.join(missing)}; {signature}")
    if unknown := sorted(entry.keys() - known):
        raise BadRequest(f"{where} has {', '.join(unknown)}, which the model does not take; {signature}")


def whole(value: Any, tensor: Tensor, signature: Signature) -> Any:
    """A batch as it was given, or one sample made a batch of one."""
    where = f'"feed".{tensor.name}'
    array = numbers(value, tensor, where)
    if fits(array.shape, tensor.shape):
        return array
    return sample(value, tensor, signature, where)


def sample(value: Any, tensor: Tensor, signature: Signature, where: str) -> Any:
    """One sample as a batch of one; a flat list of the right length is given its shape."""
    array = numbers(value, tensor, where)
    batched = bool(tensor.shape) and tensor.shape[0] in (-1, 1)
    if batched and fits(array.shape, tensor.shape[1:]):
        return array[np.newaxis]
    if fits(array.shape, tensor.shape) and (not batched or array.shape[0] == 1):
        return array
    rest = tensor.shape[1:]
    if batched and -1 not in rest and array.size == prod(rest):
        return array.reshape((1, *rest))
    raise BadRequest(f"{where} has the shape {list(array.shape)}, which does not fit; {signature}")


def fits(shape: tuple[int, ...], allowed: tuple[int, ...]) -> bool:
    return len(shape) == len(allowed) and all(b in (-1, a) for a, b in zip(shape, allowed, strict=True))


def numbers(value: Any, tensor: Tensor, where: str) -> Any:
    """*value* as an array of the tensor's type, without silent loss."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise BadRequest(f"{where} is no array: its rows differ in length") from error
    if array.dtype.kind not in "biuf":
        raise BadRequest(f"{where} must hold numbers only, for {tensor}")
    typed = array.astype(tensor.dtype)
    if typed.dtype.kind in "iub" and not np.array_equal(typed, array):
        raise BadRequest(f"{where} has numbers that are no {tensor.dtype}")
    return typed
