"""The API of a home as a process of its own, on the loop it has in production, and nothing beside it.

python -m tests.embedded.lone_api HOME [MODULE.LIMIT=SECONDS…]

A limit that a test cannot wait for is made shorter here, before anything starts.
"""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import uvloop
from tests.kubernetes.processes import Process, running
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until
from tests.servers import Server, answers

from paddlecloud.embedded import identity
from paddlecloud.embedded.server import serve
from paddlecloud.errors import PaddleCloudError
from paddlecloud.settings import Home

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Lone:
    process: Process
    rest: Rest

    @property
    def files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.popen.pid}/fd"))

    @property
    def memory(self) -> int:
        """The bytes that are the process's own."""
        lines = Path(f"/proc/{self.process.popen.pid}/smaps_rollup").read_text().splitlines()
        [pss] = [line for line in lines if line.startswith("Pss:")]
        return int(pss.split()[1]) * 1024


@contextmanager
def lone_api(home: Path, *limits: str, before: Sequence[str] = ()) -> Iterator[Lone]:
    """A running API; *before* are words in front of its command line."""
    command = [*before, sys.executable, "-m", "tests.embedded.lone_api", str(home), *limits]
    with running(
        Path(command[0]), command[1:], home.with_name(f"{home.name}-process"), variables()
    ) as process:
        server = Server(home / "kubeconfig", controllers=False)
        until(lambda: answers(server, process), what=f"an answer of the API (log: {process.log})")
        rest = server.rest()
        try:
            yield Lone(process, rest)
        finally:
            rest.close()


def variables() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}


def tls(rest: Rest) -> ssl.SSLContext:
    """What a client of many connections at once shares among them."""
    context = ssl.create_default_context(cadata=rest.ca)
    if rest.certificate:
        context.load_cert_chain(rest.certificate)
    return context


async def main(home: Home) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with serve.serving(home, identity.establish(home)):
        await stopped.wait()


if __name__ == "__main__":
    for setting in sys.argv[2:]:
        name, _, value = setting.partition("=")
        module, _, limit = name.rpartition(".")
        setattr(import_module(f"paddlecloud.embedded.server.{module}"), limit, float(value))
    try:
        uvloop.run(main(Home(sys.argv[1])))
    except PaddleCloudError as error:
        sys.exit(f"error: {error}")
