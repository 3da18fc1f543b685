"""The data runtime of a SampleSet, as the process of a pod.

    python -m paddlecloud.cache.runtime --engine local --root DIR --data DIR --partition I
        --token-file FILE [--keys DIR] [--host ADDRESS] [--port PORT]

It carries out what it is sent (see `serving`).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from .. import log, settings
from ..errors import Failed, PaddleCloudError
from .deeds import Deeds
from .juicefs.client import installed
from .juicefs.engine import JuicefsEngine
from .local.engine import LocalEngine
from .mounted import mounted
from .operations import Ledger
from .running import Operations
from .serving import Told, app
from .sourcewatch import EVERY, SourceWatch

PORT = 7716
MOMENT = 2.0


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments, os.environ.get("POD_IP") or "127.0.0.1")
    log.set_up(settings.value("log_level"), as_json=settings.value("log_format") == "json")
    ledger = Ledger(options.root / "index" / "operations")
    try:
        asyncio.run(run(options, ledger))
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    if ledger.left:
        empty(options.root, options.data)
    return 0


def parsed(arguments: list[str] | None, host: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="paddlecloud.cache.runtime", description="Keep samples in a volume."
    )
    parser.add_argument(
        "--engine", choices=["local", "juicefs"], default="local", help="what holds the samples"
    )
    parser.add_argument(
        "--cache-dir", action="append", default=[], type=Path, help="cache of the engine juicefs"
    )
    parser.add_argument(
        "--root", required=True, type=Path, help="folder of the set; the engine's records are below it"
    )
    parser.add_argument("--data", required=True, type=Path, help="folder of the samples")
    parser.add_argument("--partition", type=int, default=0, help="number of this partition")
    parser.add_argument(
        "--token-file", required=True, type=Path, help="file with the token that callers must have"
    )
    parser.add_argument("--keys", type=Path, help="folder with the Secrets of sources, a folder each")
    parser.add_argument(
        "--source-every",
        type=float,
        default=EVERY,
        help="seconds between two listings of the source; 0: never",
    )
    parser.add_argument("--host", default=host, help="address to listen on; default: POD_IP, else 127.0.0.1")
    parser.add_argument("--port", type=int, default=PORT, help="0 takes any free one")
    return parser.parse_args(arguments)


async def run(options: argparse.Namespace, ledger: Ledger) -> None:
    """Serve until SIGTERM or SIGINT. Raises `Failed` when the port is taken."""
    deeds = deeds_of(options)
    # One runtime of a set is enough to see how its source is.
    watch = SourceWatch(deeds.compared, options.source_every if options.partition == 0 else 0)
    operations = Operations(ledger, deeds.carried_out, deeds.engine.verify, watch=watch)
    told = Told(options.engine, options.partition, options.token_file)
    served = app(operations, deeds.engine, told)
    await serve(served, options, work(operations, options), operations.stop)


async def work(operations: Operations, options: argparse.Namespace) -> None:
    """Carry out operations. Raises `Failed` when the file system under them is dead."""
    tasks = [asyncio.ensure_future(operations.run())]
    if options.engine == "juicefs":
        tasks.append(asyncio.ensure_future(living(options.data)))
    try:
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            task.result()
    finally:
        for task in tasks:
            task.cancel()


async def living(data: Path) -> None:
    """Look every moment whether the mount at *data* answers. Raises `Failed` when its process is gone.

    Nothing heals such a mount from inside: who starts the container again gives it another.
    """
    while True:
        try:
            await asyncio.to_thread(os.statvfs, data)
        except OSError as error:
            if error.errno == errno.ENOTCONN:
                raise Failed(
                    f"the file system at {data} is dead: {error.strerror}",
                    next_step="the runtime begins again with a new mount",
                ) from error
        await asyncio.sleep(MOMENT)


def deeds_of(options: argparse.Namespace) -> Deeds:
    """What the runtime can be told to do, by its engine."""
    keys, partition = mounted(options.keys), options.partition
    if options.engine == "juicefs":
        shared = JuicefsEngine(installed(), options.data, options.root / "index", options.cache_dir)
        return Deeds(shared, options.data, shared.files, keys, partition, whole=False)
    local = LocalEngine(options.data, options.root / "index", keys)
    return Deeds(local, options.data, local.files, keys, partition)


def empty(root: Path, data: Path) -> None:
    """Remove all that is known of a set whose partition has left, unless a file of the set is still here."""
    if data.is_mount() or not any(names for _, _, names in os.walk(data)):
        shutil.rmtree(root / "index", ignore_errors=True)
        for folder in (data, root):
            # A folder that is mounted is removed by whoever mounted it.
            with contextlib.suppress(OSError):
                folder.rmdir()


async def serve(
    served: web.Application, options: argparse.Namespace, work: Awaitable[None], end: Callable[[], None]
) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    task = asyncio.ensure_future(work)
    # A worker that broke ends the process: its pod is started again, and what was begun is begun again.
    task.add_done_callback(lambda done: stop.set() if not done.cancelled() and done.exception() else None)
    runner = web.AppRunner(served, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, options.host, options.port).start()
        except OSError as error:
            raise Failed(f"cannot listen on {options.host}:{options.port}: {error.strerror}") from error
        print(f"listening on http://{options.host}:{runner.addresses[0][1]}", flush=True)
        await stop.wait()
        if task.done():
            task.result()
    finally:
        end()
        task.cancel()
        await runner.cleanup()


if __name__ == "__main__":
    sys.exit(main())
