"""Clients that never stop, while everything that can happen to a service happens to it.

    python -m benchmarks.rollout [--requests 100000] [--clients 8]

A cluster of its own; a service of a few lines, so that the gateway is the limit and not a model. Meanwhile:
a canary with a quarter of the requests, its promotion, a rollback, a change of the default, a release in
steps, replicas, controllers and the node's agent that are killed. Beside it a second service rests and is
woken by single requests. What is wanted: not one failed request, and a share of the canary within two points
of what was asked for.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import uvloop
from tests.kubernetes.waiting import until
from tests.scenarios.manifests import CORE
from tests.scenarios.pdc_home import PdcHome, fresh_home

from paddlecloud.api.apps import Deployment
from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Key
from paddlecloud.api.paddleservice import PaddleService
from paddlecloud.cli.clusters import state
from paddlecloud.sdk import releasing
from paddlecloud.sdk.client import Client
from paddlecloud.sdk.waiting import wait_for

BUSY, RESTING = Key("default", "busy"), Key("default", "resting")
PATIENCE = 120.0
BODY = b'{"feed":[{"x":1}],"fetch":[]}'
ASKED = 25
SERVER = """
import asyncio, os, signal
ANSWER = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n%s"
BODY = b"{\\"who\\":\\"LABEL\\"}"
class One(asyncio.Protocol):
    def connection_made(self, transport): self.to, self.held = transport, b""
    def data_received(self, data):
        self.held += data
        while True:
            head, ends, rest = self.held.partition(b"\\r\\n\\r\\n")
            if not ends: return
            lines = head.lower().split(b"\\r\\n")
            size = next((int(l[15:]) for l in lines if l.startswith(b"content-length:")), 0)
            if len(rest) < size: return
            self.held = rest[size:]
            self.to.write(ANSWER % (len(BODY), BODY))
async def main():
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    server = await loop.create_server(One, os.environ["POD_IP"], 9292)
    await over.wait()
asyncio.run(main())
"""


def endpoint(label: str) -> dict[str, Any]:
    script = SERVER.replace("LABEL", label)
    return {"containerImage": CORE, "tag": label, "port": 9292, "arg": f"exec python -c '{script}'"}


@dataclass
class Heard:
    """What the clients heard, by who answered; failures in their own words."""

    answers: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    over: bool = False

    @property
    def count(self) -> int:
        return sum(self.answers.values()) + sum(self.failures.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    with fresh_home() as home:
        home.ok("up", "--detach")
        with home.client() as client:
            return uvloop.run(measured(home, client, options))


async def measured(home: PdcHome, client: Client, options: argparse.Namespace) -> int:
    identity = state(home.home).identity
    assert identity is not None
    scaling = {"minScale": 1, "maxScale": 2}
    home.apply(service(BUSY, "rose", scaling), service(RESTING, "rest", {"minScale": 0, "window": "6s"}))
    for key in (BUSY, RESTING):
        await asyncio.to_thread(is_ready, client, key)
    busy, resting = Heard(), Heard()
    tasks = [asyncio.create_task(ask(identity.gateway, BUSY, busy)) for _ in range(options.clients)]
    tasks.append(asyncio.create_task(ask(identity.gateway, RESTING, resting, pause=9.0)))
    began = time.perf_counter()
    try:
        split = await asyncio.to_thread(happen, home, client, busy)
        while busy.count < options.requests:
            await asyncio.sleep(0.2)
    finally:
        busy.over = resting.over = True
        await asyncio.gather(*tasks)
    return report(busy, resting, split, time.perf_counter() - began)


def service(key: Key, label: str, scaling: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "serving.paddlepaddle.org/v1",
        "kind": "PaddleService",
        "metadata": {"name": key.name, "namespace": key.namespace},
        "spec": {"default": endpoint(label), "service": scaling},
    }


def happen(home: PdcHome, client: Client, heard: Heard) -> float:
    """Everything, one after the other; returns the canary's share in percent while it had a fixed one."""
    change = change_of(client)
    step("a canary with a quarter", heard)
    change({"canary": endpoint("lily"), "canaryTrafficPercent": ASKED})
    before = heard.answers.copy()
    until(lambda: sum(heard.answers.values()) - sum(before.values()) > 20_000, what="requests", limit=600)
    seen = heard.answers - before
    split = 100 * seen["lily"] / sum(seen.values())
    step("promotion", heard)
    home.ok("serve", "promote", BUSY.name)
    step("rollback", heard)
    home.ok("serve", "rollback", BUSY.name)
    step("another default", heard)
    change({"default": endpoint("tulip")})
    step("a release in steps", heard)
    change({"canary": endpoint("daisy")})
    home.ok("serve", "canary", BUSY.name, "--steps", "10,50", "--every", "2", "--gate", "errors=1%")
    for _ in range(2):
        step("a replica is killed", heard)
        pods = client.list(Pod, BUSY.namespace, labels={"serving.knative.dev/service": BUSY.name}).items
        client.delete(Pod, next(p.key for p in pods if p.ready), grace=0)
        until(lambda: replicas(client) >= 1, what="a replica")
    step("the controllers are killed", heard)
    killed(home, "controllers")
    change({"default": endpoint("aster")})
    step("the node's agent is killed", heard)
    killed(home, "node")
    home.ok("serve", "rollback", BUSY.name)
    return split


def change_of(client: Client) -> Callable[[dict[str, Any]], None]:
    def change(spec: dict[str, Any]) -> None:
        client.patch(PaddleService, BUSY, {"spec": spec})
        is_ready(client, BUSY)

    return change


def is_ready(client: Client, key: Key) -> None:
    wait_for(client, PaddleService, key, releasing.ready, PATIENCE)


def replicas(client: Client) -> int:
    found = client.list(Deployment, BUSY.namespace, labels={"serving.knative.dev/service": BUSY.name}).items
    return sum(int(d.status.get("readyReplicas") or 0) for d in found)


def killed(home: PdcHome, part: str) -> None:
    pid = home.pid(part)
    os.kill(pid, signal.SIGKILL)
    until(lambda: home.pid(part) not in (0, pid), what=f"a new {part}")


def step(what: str, heard: Heard) -> None:
    print(f"  after {heard.count:7,} requests, {sum(heard.failures.values())} failed: {what}", flush=True)


async def ask(gateway: str, key: Key, heard: Heard, pause: float = 0.0) -> None:
    """Ask until it is over; a connection that breaks is a failure, and another one is made."""
    place = urlsplit(gateway)
    head = (
        f"POST /predict HTTP/1.1\r\nHost: {key.name}.{key.namespace}.example.com\r\n"
        f"Content-Type: application/json\r\nIdempotency-Key: same\r\nContent-Length: {len(BODY)}\r\n\r\n"
    )
    question = head.encode() + BODY
    while not heard.over:
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        try:
            while not heard.over:
                began = time.perf_counter()
                writer.write(question)
                status, body = await answer_of(reader)
                if status == 200:
                    heard.answers[body.split(b'"')[3].decode()] += 1
                    heard.times.append(time.perf_counter() - began)
                else:
                    heard.failures[f"{status} {body[:200]!r}"] += 1
                if pause:
                    await asyncio.sleep(pause)
        except (OSError, asyncio.IncompleteReadError) as error:
            heard.failures[type(error).__name__] += 1
        finally:
            writer.close()


async def answer_of(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), None)
    if length is None:
        raise asyncio.IncompleteReadError(head, None)
    return int(head.split(b" ", 2)[1]), await reader.readexactly(length)


def report(busy: Heard, resting: Heard, split: float, seconds: float) -> int:
    failed = sum(busy.failures.values()) + sum(resting.failures.values())
    cuts = statistics.quantiles(busy.times, n=1000)
    print(f"requests          {busy.count:,} in {seconds:.0f} s ({busy.count / seconds:,.0f} a second)")
    print(f"p50, p99, p99.9   {cuts[499] * 1e3:.2f}, {cuts[989] * 1e3:.1f}, {cuts[998] * 1e3:.1f} ms")
    print(f"longest           {max(busy.times):.2f} s")
    print(f"woken from rest   {len(resting.times)} times, longest {max(resting.times, default=0):.2f} s")
    print(f"failed            {failed}   wanted 0: {'met' if not failed else 'MISSED'}")
    for words, count in (busy.failures + resting.failures).most_common(5):
        print(f"    {count} x {words}")
    good = abs(split - ASKED) <= 2
    print(f"share of canary   {split:.2f} % of {ASKED} %   wanted within 2: {'met' if good else 'MISSED'}")
    return 0 if good and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
