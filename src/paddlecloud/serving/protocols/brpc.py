"""The HTTP access of Paddle Serving's C++ server: `POST /GeneralModelService/inference`, tensors as messages.

{"tensor": [{"alias_name", "shape", "float_data"|"int64_data"|"int_data"}], "fetch_var_names": […]}
  →  {"outputs": [{"tensor": […], "engine_name": …}], "err_no": 0, "err_msg": ""}
"""

from __future__ import annotations

from ...errors import ApiError, BadRequest
from ..http1 import Request, Response
from ..signature import Arrays, Signature
from ..tensors import checked, wanted
from .dialect import Asked, TensorDialect, dumped, parsed
from .servingtensors import array_of, tensor_of

PATH = "/GeneralModelService/inference"
REFUSED = 5000


def read(request: Request, signature: Signature) -> Asked:
    body = parsed(request.body)
    tensors = body.get("tensor")
    if not isinstance(tensors, list) or not tensors:
        raise BadRequest(f'"tensor" must be a list of at least one tensor; {signature}')
    arrays = dict(array_of(tensor, f'"tensor"[{number}]') for number, tensor in enumerate(tensors))
    names = wanted(body.get("fetch_var_names") or [], signature, '"fetch_var_names"')
    return Asked(checked(arrays, signature, '"tensor"'), names, body.get("log_id"))


def write(_: Asked, outputs: Arrays, model: str) -> Response:
    tensors = [tensor_of(name, array) for name, array in outputs.items()]
    answer = {"outputs": [{"tensor": tensors, "engine_name": model}], "err_no": 0, "err_msg": ""}
    return Response(200, dumped(answer))


def refuse(error: ApiError) -> Response:
    return Response(error.status, dumped({"outputs": [], "err_no": REFUSED, "err_msg": error.message}))


DIALECT = TensorDialect("brpc", read, write, refuse)
