"""The model server: models of some folders, asked over HTTP and gRPC.

    python -m paddlecloud.serving.server --model DIR --name NAME [--host ADDRESS] [--port PORT]
    python -m paddlecloud.serving.server --model NAME=DIR --model NAME=DIR …
    python -m paddlecloud.serving.server --models FOLDER

It listens when every model has answered once, for whoever takes an open port for a server that answers; with
`--listen-first` at once, and `/readyz` tells when it is ready. A model that does not load ends it with a
sentence. Inference runs in threads: the loop stays free for health and for other requests.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import uvloop

from ..errors import PaddleCloudError, WrongUse
from .answering import Answering
from .batching import Rule
from .engine import Effort
from .http1 import Limits, Listener
from .http2 import GrpcDoor
from .models import Means, Models

SECONDS_TO_FINISH = 10.0
WAITING = 1024  # connections that may wait to be accepted
CODING = 2  # threads beside those of the engines: large bodies and processors


@dataclass(frozen=True)
class Options:
    folders: Mapping[str, Path]
    host: str
    port: int
    effort: Effort
    rule: Rule
    limits: Limits
    listen_first: bool = False
    """Whether the port opens before the models are loaded."""


def main(arguments: list[str] | None = None) -> int:
    try:
        options = parsed(arguments, os.environ.get("POD_IP") or "127.0.0.1", processors())
        return run(options)
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def run(options: Options) -> int:
    """Serve until SIGTERM or SIGINT. Raises `Failed` for a model that does not load."""
    try:
        uvloop.run(serve(options))
    except OSError as error:
        print(f"cannot listen on {options.host}:{options.port}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def parsed(arguments: list[str] | None, host: str, cores: int) -> Options:
    """Raises `WrongUse`; argparse ends the process for what is no option."""
    parser = argparse.ArgumentParser(prog="paddlecloud.serving.server", description="Serve models.")
    add = parser.add_argument
    add(
        "--model", action="append", default=[], help="folder of a model, or NAME=FOLDER; repeated for several"
    )
    add("--name", help="name of the only model")
    add("--models", type=Path, help="folder whose folders are models, named after them")
    add("--host", default=host, help="address to listen on; default: POD_IP, else 127.0.0.1")
    add("--port", type=int, default=9393, help="0 takes any free one; HTTP and gRPC share it")
    add("--threads", type=int, default=1, help="threads of one inference")
    add("--concurrent", type=int, default=0, help="inferences at a time; 0: one for each core")
    add("--batch", type=int, default=32, help="samples computed together at most; 1 turns it off")
    add("--batch-delay", type=float, default=0.0, help="milliseconds a request may wait for company")
    add("--max-body", type=int, default=64, help="MiB of a request at most")
    add("--head-seconds", type=float, default=10.0, help="for a request's head to arrive")
    add("--body-seconds", type=float, default=30.0, help="for its body, beside one for each MiB")
    add("--listen-first", action="store_true", help="take connections before the models are loaded")
    given = parser.parse_args(arguments)
    for name in ("threads", "batch", "max_body"):
        if getattr(given, name) < 1:
            raise WrongUse(f"--{name.replace('_', '-')} must be at least 1, not {getattr(given, name)}")
    concurrent = given.concurrent or max(1, cores // given.threads)
    return Options(
        folders=folders(given.model, given.name, given.models),
        host=given.host,
        port=given.port,
        effort=Effort(given.threads, concurrent),
        rule=Rule(given.batch, max(0.0, given.batch_delay) / 1000),
        limits=Limits(body=given.max_body << 20, head_time=given.head_seconds, body_time=given.body_seconds),
        listen_first=given.listen_first,
    )


def folders(models: list[str], name: str | None, parent: Path | None) -> dict[str, Path]:
    """The folders of the models by their names. Raises `WrongUse`."""
    result: dict[str, Path] = {}
    for text in models:
        key, equals, folder = text.partition("=")
        if not equals or "/" in key:
            key, folder = name or Path(text).resolve().name, text
        if key in result:
            raise WrongUse(f"two models are called {key}", next_step="give --model NAME=FOLDER for each")
        result[key] = Path(folder)
    if parent is not None:
        try:
            inside = sorted(p for p in parent.iterdir() if p.is_dir() and not p.name.startswith("."))
        except OSError as error:
            raise WrongUse(f"cannot read {parent}: {error.strerror}") from error
        result |= {p.name: p for p in inside}
    if not result:
        raise WrongUse("no model was given", next_step="give --model FOLDER, or --models with folders in it")
    return result


async def serve(options: Options) -> None:
    """Serve until SIGTERM or SIGINT; requests under way are finished."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    listen_for_the_end(loop, stop)
    engines = ThreadPoolExecutor(options.effort.concurrent, thread_name_prefix="inference")
    coders = ThreadPoolExecutor(CODING, thread_name_prefix="coding")
    models = Models(options.folders)
    answering = Answering(models, coders, lambda: uuid.uuid4().hex, options.limits.body)
    door = GrpcDoor(models)
    listener = Listener(answering.answer, answering.refuse, options.limits, door.take)
    # Taken at once in any case: a port that is somebody else's is told before a model is loaded in vain.
    server = await loop.create_server(
        listener.connection, options.host, options.port, backlog=WAITING, start_serving=False
    )
    watching = loop.create_task(listener.watch())
    try:
        if options.listen_first:
            await open_door(server)
        await models.load(Means(options.effort, options.rule, engines))
        # Libraries of engines may have put handlers of their own in place.
        listen_for_the_end(loop, stop)
        for model in models.loaded.values():
            print(f"ready: {model.name}; {model.signature}", flush=True)
        if not options.listen_first:
            await open_door(server)
        await stop.wait()
    finally:
        server.close()
        await listener.drain(SECONDS_TO_FINISH)
        await door.close()
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
        for pool in (engines, coders):
            pool.shutdown(wait=False, cancel_futures=True)


async def open_door(server: asyncio.Server) -> None:
    """Take connections, and only then say where."""
    await server.start_serving()
    host, port = server.sockets[0].getsockname()[:2]
    print(f"listening on http://{host}:{port}", flush=True)


def listen_for_the_end(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main())
