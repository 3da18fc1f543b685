"""The Open Inference Protocol, version 2, over gRPC: the same models and the same refusals as over HTTP.

Imported when the first client speaks HTTP/2: a server that nobody asks that way does not pay for it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import grpc  # type: ignore[import-not-found,import-untyped,unused-ignore]
import grpc.aio  # type: ignore[import-not-found,import-untyped,unused-ignore]
import numpy as np  # type: ignore[import-not-found,unused-ignore]

from ... import __version__
from ...errors import ApiError, BadRequest
from ..metrics import CLIENT_GONE
from ..models import Model, Models
from ..signature import Arrays, Signature, Tensor
from ..tensors import check_names, wanted
from .datatypes import check, described, from_bytes, named, to_bytes
from .messages import messages

SERVICE = "inference.GRPCInferenceService"
TENSOR = "name 1 string, datatype 2 string, shape 3 int64*"
MESSAGES = messages(
    "inference",
    {
        "ServerLiveRequest": "",
        "ServerLiveResponse": "live 1 bool",
        "ServerReadyRequest": "",
        "ServerReadyResponse": "ready 1 bool",
        "ModelReadyRequest": "name 1 string, version 2 string",
        "ModelReadyResponse": "ready 1 bool",
        "ServerMetadataRequest": "",
        "ServerMetadataResponse": "name 1 string, version 2 string, extensions 3 string*",
        "ModelMetadataRequest": "name 1 string, version 2 string",
        "TensorMetadata": TENSOR,
        "ModelMetadataResponse": "name 1 string, versions 2 string*, platform 3 string, "
        "inputs 4 .TensorMetadata*, outputs 5 .TensorMetadata*",
        "InferTensorContents": "bool_contents 1 bool*, int_contents 2 int32*, int64_contents 3 int64*, "
        "uint_contents 4 uint32*, uint64_contents 5 uint64*, fp32_contents 6 float*, fp64_contents 7 double*",
        "InferInputTensor": f"{TENSOR}, contents 5 .InferTensorContents",
        "InferRequestedOutputTensor": "name 1 string",
        "ModelInferRequest": "model_name 1 string, model_version 2 string, id 3 string, "
        "inputs 5 .InferInputTensor*, outputs 6 .InferRequestedOutputTensor*, raw_input_contents 7 bytes*",
        "InferOutputTensor": TENSOR,
        "ModelInferResponse": "model_name 1 string, model_version 2 string, id 3 string, "
        "outputs 5 .InferOutputTensor*, raw_output_contents 6 bytes*",
    },
)
CONTENTS = {
    "BOOL": "bool_contents", "INT8": "int_contents", "INT16": "int_contents", "INT32": "int_contents",
    "INT64": "int64_contents", "UINT8": "uint_contents", "UINT16": "uint_contents", "UINT32": "uint_contents",
    "UINT64": "uint64_contents", "FP32": "fp32_contents", "FP64": "fp64_contents",
}  # fmt: skip
CODES = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    404: grpc.StatusCode.NOT_FOUND,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    503: grpc.StatusCode.UNAVAILABLE,
}
LONGEST = 64 << 20
Method = Callable[[Any], Awaitable[Any]]


class GrpcService:
    """The methods, each a message in and a message out."""

    def __init__(self, models: Models) -> None:
        self.models = models

    async def server_live(self, _: Any) -> Any:
        return MESSAGES["ServerLiveResponse"](live=True)

    async def server_ready(self, _: Any) -> Any:
        return MESSAGES["ServerReadyResponse"](ready=self.models.ready)

    async def model_ready(self, request: Any) -> Any:
        return MESSAGES["ModelReadyResponse"](ready=request.name in self.models.loaded)

    async def server_metadata(self, _: Any) -> Any:
        return MESSAGES["ServerMetadataResponse"](name="paddlecloud", version=__version__)

    async def model_metadata(self, request: Any) -> Any:
        model = self.models.named(request.name)
        return MESSAGES["ModelMetadataResponse"](
            name=model.name,
            versions=["1"],
            platform=model.platform,
            inputs=[described(t) for t in model.signature.inputs],
            outputs=[described(t) for t in model.signature.outputs],
        )

    async def model_infer(self, request: Any) -> Any:
        model = self.models.named(request.model_name)
        began, status = time.perf_counter(), 500
        try:
            arrays = arrays_of(request, model.signature)
            names = wanted([o.name for o in request.outputs], model.signature, "outputs")
            answer = answer_of(request, model, await model.infer(arrays, names))
            status = 200
            return answer
        except ApiError as error:
            status = error.status
            raise
        except asyncio.CancelledError:
            status = CLIENT_GONE
            raise
        finally:
            model.metrics.count("grpc", status, time.perf_counter() - began)


def arrays_of(request: Any, signature: Signature) -> Arrays:
    """Raises `BadRequest`."""
    check_names({i.name: None for i in request.inputs}, signature, "inputs")
    raw = request.raw_input_contents
    if raw and len(raw) != len(request.inputs):
        raise BadRequest(f"raw_input_contents has {len(raw)} entries for {len(request.inputs)} inputs")
    known = {t.name: t for t in signature.inputs}
    arrays = {}
    for number, given in enumerate(request.inputs):
        field, tensor = f"inputs[{number}]", known[given.name]
        shape = check(tensor, given.datatype, list(given.shape), field, signature)
        if raw:
            arrays[tensor.name] = from_bytes(raw[number], tensor, shape, f"raw_input_contents[{number}]")
        else:
            arrays[tensor.name] = typed(given, tensor, shape, field)
    return arrays


def typed(given: Any, tensor: Tensor, shape: tuple[int, ...], field: str) -> Any:
    name = CONTENTS.get(given.datatype)
    if name is None:
        raise BadRequest(f"{field}.datatype {given.datatype} goes as raw_input_contents only")
    array = np.array(getattr(given.contents, name), tensor.dtype)
    if array.size != int(np.prod(shape)):
        raise BadRequest(f"{field}.contents.{name} has {array.size} values for the shape {list(shape)}")
    return array.reshape(shape)


def answer_of(request: Any, model: Model, outputs: Arrays) -> Any:
    return MESSAGES["ModelInferResponse"](
        model_name=model.name,
        model_version="1",
        id=request.id,
        outputs=[
            {"name": name, "datatype": named(str(array.dtype)), "shape": list(array.shape)}
            for name, array in outputs.items()
        ],
        raw_output_contents=[to_bytes(array) for array in outputs.values()],
    )


async def started(models: Models, address: str) -> Any:
    """A gRPC server at *address* (`unix:PATH` or `HOST:PORT`), which its caller stops."""
    service = GrpcService(models)
    methods: dict[str, Method] = {
        "ServerLive": service.server_live,
        "ServerReady": service.server_ready,
        "ModelReady": service.model_ready,
        "ServerMetadata": service.server_metadata,
        "ModelMetadata": service.model_metadata,
        "ModelInfer": service.model_infer,
    }
    options = [("grpc.max_receive_message_length", LONGEST), ("grpc.max_send_message_length", LONGEST)]
    server = grpc.aio.server(options=options)
    handlers = {
        name: grpc.unary_unary_rpc_method_handler(
            with_status(method),
            request_deserializer=MESSAGES[f"{name}Request"].FromString,
            response_serializer=MESSAGES[f"{name}Response"].SerializeToString,
        )
        for name, method in methods.items()
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    server.add_insecure_port(address)
    await server.start()
    return server


def with_status(method: Method) -> Callable[[Any, Any], Awaitable[Any]]:
    """Our errors in the words of gRPC."""

    async def answered(request: Any, context: Any) -> Any:
        try:
            return await method(request)
        except ApiError as error:
            await context.abort(CODES.get(error.status, grpc.StatusCode.INTERNAL), error.message)

    return answered
