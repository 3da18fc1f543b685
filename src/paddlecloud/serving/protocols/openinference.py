"""The Open Inference Protocol, version 2, over HTTP: tensors in JSON, or as bytes behind the JSON.

With the binary extension a header says where the JSON of a body ends; the bytes of its tensors follow in
their order. What came as bytes is not copied before the engine sees it.
"""

from __future__ import annotations

from typing import Any

from ...errors import BadRequest
from ..http1 import Request, Response
from ..signature import Arrays, Signature, Tensor
from ..tensors import check_names, numbers, shaped, wanted
from .datatypes import check, from_bytes, named, to_bytes
from .dialect import Asked, TensorDialect, dumped, parsed

SPLIT = b"inference-header-content-length"
BINARY = b"application/octet-stream"


def read(request: Request, signature: Signature) -> Asked:
    size = split(request)
    body, rest = parsed(request.body[:size]), memoryview(request.body)[size:]
    inputs = objects(body, "inputs")
    check_names({one["name"]: None for one in inputs}, signature, "inputs")
    known = {t.name: t for t in signature.inputs}
    arrays: Arrays = {}
    for number, given in enumerate(inputs):
        field, tensor = f"inputs[{number}]", known[given["name"]]
        length = parameters(given).get("binary_data_size")
        if length is None:
            arrays[tensor.name] = of_json(given, tensor, field, signature)
            continue
        if type(length) is not int or not 0 <= length <= len(rest):
            raise BadRequest(f"{field}.parameters.binary_data_size is {length}, {len(rest)} bytes follow")
        shape = check(tensor, str(given.get("datatype")), given.get("shape") or [], field, signature)
        arrays[tensor.name] = from_bytes(rest[:length], tensor, shape, field)
        rest = rest[length:]
    if len(rest):
        raise BadRequest(f"{len(rest)} bytes follow the last input")
    outputs = objects(body, "outputs") if body.get("outputs") else []
    names = wanted([one["name"] for one in outputs], signature, "outputs")
    every = bool(parameters(body).get("binary_data_output"))
    binary = {one["name"] for one in outputs if parameters(one).get("binary_data", every)}
    if every and not outputs:
        binary = set(names)
    return Asked(arrays, names, (str(body.get("id") or ""), binary))


def split(request: Request) -> int:
    """Where the JSON of the body ends."""
    text = request.headers.get(SPLIT)
    if text is None:
        return len(request.body)
    if not text.isdigit() or int(text) > len(request.body):
        raise BadRequest(
            f"the header Inference-Header-Content-Length does not fit a body of {len(request.body)} bytes"
        )
    return int(text)


def objects(body: dict[str, Any], field: str) -> list[dict[str, Any]]:
    given = body.get(field)
    if not isinstance(given, list) or not given:
        raise BadRequest(f"{field} must be a list of at least one tensor")
    for number, one in enumerate(given):
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            raise BadRequest(f"{field}[{number}] must be an object with a name")
    return given


def parameters(one: dict[str, Any]) -> dict[str, Any]:
    given = one.get("parameters")
    return given if isinstance(given, dict) else {}


def of_json(given: dict[str, Any], tensor: Tensor, field: str, signature: Signature) -> Any:
    if "data" not in given:
        raise BadRequest(f"{field} needs data")
    shape = given.get("shape")
    if not isinstance(shape, list):
        raise BadRequest(f"{field}.shape must be a list of sizes")
    check(tensor, str(given.get("datatype")), shape, field, signature)
    return shaped(numbers(given["data"], tensor, f"{field}.data"), shape, field)


def write(asked: Asked, outputs: Arrays, model: str) -> Response:
    identity, binary = asked.extra
    described, blobs = [], []
    for name, array in outputs.items():
        one: dict[str, Any] = {
            "name": name,
            "datatype": named(str(array.dtype)),
            "shape": list(array.shape),
        }
        if name in binary:
            blobs.append(to_bytes(array))
            one["parameters"] = {"binary_data_size": len(blobs[-1])}
        else:
            one["data"] = array.reshape(-1)
        described.append(one)
    answer = {"model_name": model, "model_version": "1", "outputs": described}
    if identity:
        answer["id"] = identity
    head = dumped(answer)
    if not blobs:
        return Response(200, head)
    return Response(200, b"".join([head, *blobs]), BINARY, ((SPLIT, b"%d" % len(head)),))


DIALECT = TensorDialect("v2", read, write)
