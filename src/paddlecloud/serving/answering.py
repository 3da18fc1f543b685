"""From a request to its answer: which protocol a path speaks, which model it means, and what went wrong.

Every answer carries the id of its request, the client's own or one made here, and every prediction is
counted once, also one whose client went away.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import Any, TypeVar

from .. import __version__, log
from ..errors import (
    ApiError,
    BadRequest,
    MethodNotAllowed,
    NotFound,
    ServerError,
    TooLarge,
    Unavailable,
    UnsupportedMedia,
)
from .http1 import Request, Response
from .metrics import CLIENT_GONE, text
from .models import Model, Models
from .protocols import brpc, openinference, pipeline, webservice
from .protocols.datatypes import described
from .protocols.dialect import FeedDialect, TensorDialect, dumped, parsed, refused
from .tensors import checked, wanted

LOG = log.logger("model-server")
REQUEST_ID = b"x-request-id"
LONGEST_ID = 128
SMALL_BODY = 32 << 10
"""Bytes that are read on the loop: a thread would cost more than the reading."""
EITHER = 32 + zlib.MAX_WBITS
"""gzip or zlib, as the content says."""
PLAIN = b"text/plain; version=0.0.4; charset=utf-8"
EXTENSIONS = ["binary_tensor_data", "model_repository"]
Result = TypeVar("Result")
Identify = Callable[[], str]


class Answering:
    """Answers the requests of one server."""

    def __init__(self, models: Models, threads: Executor, new_id: Identify, longest_body: int) -> None:
        self.models = models
        self.threads = threads
        self.new_id = new_id
        self.longest_body = longest_body

    async def answer(self, request: Request) -> Response:
        """The answer to any request; never raises but when cancelled."""
        try:
            if encoding := request.headers.get(b"content-encoding"):
                request.body = unpacked(request.body, encoding, self.longest_body)
            response = await self.routed(request)
        except ApiError as error:
            response = refused(error)
        except Exception:
            # A defect in one answer, ours or of a model's own processor, must not end the server.
            LOG.exception("no answer to %s %s", request.method, request.path)
            response = refused(ServerError("the server failed; its log says more"))
        identity = request.headers.get(REQUEST_ID, b"")
        if not acceptable(identity):
            identity = self.new_id().encode()
        response.headers += ((REQUEST_ID, identity),)
        return response

    def refuse(self, status: int, message: str) -> Response:
        return Response(status, dumped({"error": message}), headers=((REQUEST_ID, self.new_id().encode()),))

    def routed(self, request: Request) -> Awaitable[Response]:
        path = request.path
        if path.endswith("/prediction") and path.count("/") == 2:
            needs(request, "POST")
            model = self.models.of_service(path[1 : -len("/prediction")])
            return self.predicted(model, request)
        if path == brpc.PATH:
            needs(request, "POST")
            model = self.models.only()
            return self.counted(model, brpc.DIALECT, self.asked(model, request, brpc.DIALECT))
        if path.startswith("/v2/models/"):
            return self.of_model(request, path.removeprefix("/v2/models/").split("/"))
        return self.told(request)

    def of_model(self, request: Request, parts: list[str]) -> Awaitable[Response]:
        """`NAME[/versions/V][/ready|/infer]`."""
        name, *rest = parts
        if rest[:1] == ["versions"] and len(rest) >= 2:
            rest = rest[2:]
        model = self.models.named(name)
        if rest == ["infer"]:
            needs(request, "POST")
            dialect = openinference.DIALECT
            return self.counted(model, dialect, self.asked(model, request, dialect))
        if rest == []:
            return answered(description(model))
        if rest == ["ready"]:
            return answered({"name": name, "ready": True})
        if rest == ["config"]:
            return answered({"name": name, "platform": model.platform, "max_batch_size": 0})
        raise NotFound(f"Not Found: {request.method} {request.path}")

    async def told(self, request: Request) -> Response:
        """What is no prediction."""
        match request.path:
            case "/healthz":
                return said({"status": "ok"})
            case "/readyz":
                self.need_ready()
                return said({"status": "ready"})
            case "/metrics":
                measured = [(m.metrics, len(m.batcher.queue)) for m in self.models.loaded.values()]
                return Response(200, text(measured).encode(), PLAIN)
            case "/v2/health/live":
                return said({"live": True})
            case "/v2/health/ready":
                self.need_ready()
                return said({"ready": True})
            case "/v2" | "/v2/":
                return said({"name": "paddlecloud", "version": __version__, "extensions": EXTENSIONS})
            case "/v2/repository/index":
                return said(index(self.models))
        raise NotFound(f"Not Found: {request.method} {request.path}")

    def need_ready(self) -> None:
        if not self.models.ready:
            missing = ", ".join(n for n in self.models.folders if n not in self.models.loaded)
            raise Unavailable(f"being loaded: {missing}")

    async def predicted(self, model: Model, request: Request) -> Response:
        """Both forms of Paddle Serving share one path: the fields of the object tell them apart."""
        try:
            body = await self.step(request, parsed, request.body)
        except ApiError as error:
            model.metrics.count(webservice.DIALECT.name, error.status, 0.0)
            raise
        dialect = pipeline.DIALECT if pipeline.is_pipeline(body) else webservice.DIALECT
        return await self.counted(model, dialect, self.fed(model, request, dialect, body))

    async def counted(
        self, model: Model, dialect: FeedDialect | TensorDialect, work: Awaitable[Response]
    ) -> Response:
        began, status = time.perf_counter(), 500
        try:
            response = await work
            status = response.status
            return response
        except ApiError as error:
            status = error.status
            return dialect.refuse(error)
        except asyncio.CancelledError:
            status = CLIENT_GONE
            raise
        finally:
            model.metrics.count(dialect.name, status, time.perf_counter() - began)

    async def asked(self, model: Model, request: Request, dialect: TensorDialect) -> Response:
        asked = await self.step(request, dialect.read, request, model.signature)
        outputs = await model.infer(asked.arrays, asked.wanted)
        return await self.step(request, dialect.write, asked, outputs, model.name)

    async def fed(
        self, model: Model, request: Request, dialect: FeedDialect, body: dict[str, Any]
    ) -> Response:
        fed = dialect.read(body)
        if model.processor is None:
            arrays = await self.step(request, webservice.arrays_of, fed.feed, model.signature)
            result = await model.infer(arrays, wanted(fed.fetch, model.signature, '"fetch"'))
        else:
            loop, feed = asyncio.get_running_loop(), webservice.listed(fed.feed)
            arrays = await loop.run_in_executor(self.threads, model.processor.before, feed)
            names = [t.name for t in model.signature.outputs]
            outputs = await model.infer(checked(arrays, model.signature, "before()"), names)
            result = await loop.run_in_executor(self.threads, model.processor.after, outputs, feed)
        return await self.step(request, dialect.write, fed, result)

    async def step(self, request: Request, work: Callable[..., Result], *arguments: Any) -> Result:
        """Reading or writing: here when it is short, else off the loop."""
        if len(request.body) <= SMALL_BODY:
            return work(*arguments)
        return await asyncio.get_running_loop().run_in_executor(self.threads, work, *arguments)


def needs(request: Request, method: str) -> None:
    if request.method != method:
        raise MethodNotAllowed(f"Method Not Allowed: {request.method} {request.path} wants {method}")


def unpacked(body: bytes, encoding: bytes, most: int) -> bytes:
    """The body that was packed; nothing small is blown up into more than *most* bytes."""
    if encoding.lower() == b"identity":
        return body
    if encoding.lower() not in (b"gzip", b"deflate"):
        raise UnsupportedMedia(
            f"bodies come plain, as gzip or as deflate, not as {encoding.decode('latin-1')}"
        )
    unpacking = zlib.decompressobj(EITHER)
    try:
        content = unpacking.decompress(body, most + 1)
    except zlib.error as error:
        raise BadRequest(f"the body is not what its Content-Encoding says: {error}") from error
    if len(content) > most:
        raise TooLarge(f"a request may have at most {most >> 20} MiB, unpacked as well")
    if not unpacking.eof:
        raise BadRequest("the body is not what its Content-Encoding says: it ends too early")
    return content


def acceptable(identity: bytes) -> bool:
    return 0 < len(identity) <= LONGEST_ID and identity.isascii() and identity.decode().isprintable()


def description(model: Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "versions": ["1"],
        "platform": model.platform,
        "inputs": [described(t) for t in model.signature.inputs],
        "outputs": [described(t) for t in model.signature.outputs],
    }


def index(models: Models) -> list[dict[str, str]]:
    return [
        {"name": name, "version": "1", "state": "READY" if name in models.loaded else "LOADING"}
        for name in models.folders
    ]


def said(content: Any) -> Response:
    return Response(200, dumped(content))


async def answered(content: Any) -> Response:
    return said(content)
