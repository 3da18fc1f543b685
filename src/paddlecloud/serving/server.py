"""The model server: one model, asked over HTTP as Paddle Serving's web service is.

    python -m paddlecloud.serving.server --model DIR --name NAME [--host ADDRESS] [--port PORT]

It listens at once and is ready when the model has answered once; a model that does not load ends it with a
sentence. Inference runs in threads: the loop stays free for health and for other requests.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import uvloop
from aiohttp import web

from ..errors import ApiError, BadRequest, PaddleCloudError, TooLarge, Unavailable
from .engine import OnnxEngine, load
from .metrics import Metrics
from .predict import Tensor, predict

LARGEST_BODY = 64 << 20
SECONDS_TO_FINISH = 10.0
CONCURRENT = 2
OPEN_INFERENCE_TYPES = {"float32": "FP32", "float64": "FP64", "float16": "FP16", "bool": "BOOL"}
Answering = Callable[[web.Request], Awaitable[web.StreamResponse]]


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments, os.environ.get("POD_IP") or "127.0.0.1")
    try:
        uvloop.run(serve(options))
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"cannot listen on {options.host}:{options.port}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def parsed(arguments: list[str] | None, host: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="paddlecloud.serving.server", description="Serve one ONNX model.")
    parser.add_argument("--model", required=True, type=Path, help="folder with model.onnx")
    parser.add_argument("--name", required=True, help="name of the model")
    parser.add_argument("--host", default=host, help="address to listen on; default: POD_IP, else 127.0.0.1")
    parser.add_argument("--port", type=int, default=9393, help="0 takes any free one")
    parser.add_argument("--threads", type=int, default=1, help="threads of one inference")
    return parser.parse_args(arguments)


async def serve(options: argparse.Namespace) -> None:
    """Serve until SIGTERM or SIGINT; requests under way are finished."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = ModelServer(options.name)
    runner = web.AppRunner(server.app(), access_log=None, shutdown_timeout=SECONDS_TO_FINISH)
    await runner.setup()
    try:
        site = web.TCPSite(runner, options.host, options.port)
        await site.start()
        host, port = runner.addresses[0][:2]
        print(f"listening on http://{host}:{port}", flush=True)
        server.engine = await asyncio.to_thread(load, options.model, options.threads)
        print(f"ready: {options.name}; {server.engine.signature}", flush=True)
        await stop.wait()
    finally:
        await runner.cleanup()


class ModelServer:
    """One model behind HTTP; `engine` is set when it is ready."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.engine: OnnxEngine | None = None
        self.metrics = Metrics(name)
        self.threads = ThreadPoolExecutor(CONCURRENT, thread_name_prefix="inference")

    def app(self) -> web.Application:
        app = web.Application(client_max_size=LARGEST_BODY, middlewares=[errors_as_json])
        app.router.add_get("/healthz", self.alive)
        app.router.add_get("/readyz", self.ready)
        app.router.add_get("/metrics", self.measured)
        app.router.add_get(f"/v2/models/{self.name}", self.described)
        app.router.add_post("/{service}/prediction", self.prediction)
        return app

    async def alive(self, _: web.Request) -> web.Response:
        return answer({"status": "ok"})

    async def ready(self, _: web.Request) -> web.Response:
        self.loaded()
        return answer({"status": "ready"})

    async def measured(self, _: web.Request) -> web.Response:
        return web.Response(text=self.metrics.text(), content_type="text/plain", charset="utf-8")

    async def described(self, _: web.Request) -> web.Response:
        signature = self.loaded().signature
        return answer(
            {
                "name": self.name,
                "platform": "onnxruntime_onnx",
                "inputs": [described(t) for t in signature.inputs],
                "outputs": [described(t) for t in signature.outputs],
            }
        )

    async def prediction(self, request: web.Request) -> web.Response:
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge as error:
            raise TooLarge(f"a request may have at most {LARGEST_BODY >> 20} MiB") from error
        began, status = time.perf_counter(), 500
        try:
            engine = self.loaded()
            content = await asyncio.get_running_loop().run_in_executor(self.threads, computed, body, engine)
            status = 200
            return web.Response(body=content, content_type="application/json")
        except ApiError as error:
            status = error.status
            raise
        finally:
            self.metrics.count(status, time.perf_counter() - began)

    def loaded(self) -> OnnxEngine:
        if self.engine is None:
            raise Unavailable(f"the model {self.name} is being loaded")
        return self.engine


def computed(body: bytes, engine: OnnxEngine) -> bytes:
    """JSON to JSON: reading, computing and writing, all off the loop."""
    try:
        asked = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"the body is no JSON: {error}") from error
    return orjson.dumps(predict(asked, engine.signature, engine.run), option=orjson.OPT_SERIALIZE_NUMPY)


def described(tensor: Tensor) -> dict[str, Any]:
    """As the Open Inference Protocol writes it."""
    datatype = OPEN_INFERENCE_TYPES.get(tensor.dtype, tensor.dtype.upper())
    return {"name": tensor.name, "datatype": datatype, "shape": list(tensor.shape)}


def answer(content: Any, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(content), status=status, content_type="application/json")


@web.middleware
async def errors_as_json(request: web.Request, handler: Answering) -> web.StreamResponse:
    try:
        return await handler(request)
    except ApiError as error:
        return answer({"error": error.message}, error.status)
    except web.HTTPException as error:
        return answer({"error": f"{error.reason}: {request.method} {request.path}"}, error.status)


if __name__ == "__main__":
    sys.exit(main())
