"""The data runtime of a SampleSet: syncs in the background and says how far it is.

    python -m paddlecloud.cache.runtime --uri URI --data DIR [--host ADDRESS] [--port PORT] [--no-sync]

`GET /status` tells the truth of the moment, `GET /healthz` that the process lives.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import orjson
from aiohttp import web

from .. import log, settings
from ..errors import Failed, PaddleCloudError
from .engine import Usage
from .keeping import Keeper, Wish
from .status import document

PORT = 7716


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments, os.environ.get("POD_IP") or "127.0.0.1")
    log.set_up(settings.value("log_level"), as_json=settings.value("log_format") == "json")
    try:
        asyncio.run(serve(options))
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def parsed(arguments: list[str] | None, host: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="paddlecloud.cache.runtime", description="Keep samples in a volume."
    )
    parser.add_argument("--uri", default="", help="where the samples come from")
    parser.add_argument("--data", required=True, type=Path, help="folder of the volume")
    parser.add_argument("--host", default=host, help="address to listen on; default: POD_IP, else 127.0.0.1")
    parser.add_argument("--port", type=int, default=PORT, help="0 takes any free one")
    parser.add_argument("--no-sync", action="store_true", help="only verify what is in the volume")
    options = parser.parse_args(arguments)
    if not options.uri and not options.no_sync:
        parser.error("--uri is needed unless --no-sync is given")
    return options


async def serve(options: argparse.Namespace) -> None:
    """Serve until SIGTERM or SIGINT. Raises `Failed` when the port is taken."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    keeper = Keeper(Wish(options.uri, options.data, copy=not options.no_sync))
    runner = web.AppRunner(app(keeper), access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, options.host, options.port).start()
        except OSError as error:
            raise Failed(f"cannot listen on {options.host}:{options.port}: {error.strerror}") from error
        print(f"listening on http://{options.host}:{runner.addresses[0][1]}", flush=True)
        work = asyncio.create_task(keeper.run())
        await stop.wait()
        keeper.stop()
        work.cancel()
    finally:
        await runner.cleanup()


def app(keeper: Keeper) -> web.Application:
    async def status(_: web.Request) -> web.Response:
        try:
            usage = await asyncio.to_thread(keeper.engine.usage)
        except Failed:
            # The volume is gone; what the keeper meets on it is in its message.
            usage = Usage(0, 0, 0)
        return web.Response(
            body=orjson.dumps(document(keeper.state, usage, time.monotonic())),
            content_type="application/json",
        )

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    served = web.Application()
    served.router.add_get("/status", status)
    served.router.add_get("/healthz", healthz)
    return served


if __name__ == "__main__":
    sys.exit(main())
