"""The gateway and the autoscaler: what a way through them costs, and services at rest; how fast these wake.

    python -m benchmarks.gateway [--idle 300] [--woken 100] [--models] [--seconds 5] [--only …]

A cluster of its own, with servers of a few lines, or with `--models` the model server, forked from a process
that has its modules; the first answer of one service after a rest is always the model server's.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvloop
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome, fresh_home

from benchmarks.rollout import BODY, BUSY, answer_of, service
from paddlecloud.api.apps import Deployment
from paddlecloud.api.core import Pod
from paddlecloud.api.knative import KnativeService
from paddlecloud.api.meta import Key
from paddlecloud.api.paddleservice import PaddleService
from paddlecloud.cli.clusters import state
from paddlecloud.sdk import releasing
from paddlecloud.sdk.client import Client
from paddlecloud.sdk.waiting import wait_for

LIMIT = 400.0
ROUNDS = 3
WORDS = b'{"feed":[{"words":"ab"}],"fetch":["word_seg"]}'
TICKS = os.sysconf("SC_CLK_TCK")
WEIGHTED = Path(__file__).parent.parent / "tests" / "serving" / "weighted"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--idle", type=int, default=300)
    parser.add_argument("--woken", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--models", action="store_true", help="What rests and wakes are model servers.")
    parser.add_argument("--only", choices=["way", "cold", "rest"])
    options = parser.parse_args()
    with fresh_home() as home:
        home.ok("up", "--detach")
        with home.client() as client:
            identity = state(home.home).identity
            assert identity is not None
            if options.only in (None, "way"):
                way(home, client, identity.gateway, options.seconds)
            if options.only in (None, "cold"):
                cold(home, client, identity.gateway)
            if options.only in (None, "rest"):
                rest(home, client, identity.gateway, options)


def way(home: PdcHome, client: Client, gateway: str, seconds: float) -> None:
    home.apply(service(BUSY, "rose", {"minScale": 1}))
    wait_for(client, PaddleService, BUSY, releasing.ready, LIMIT)
    pod = client.list(Pod, BUSY.namespace, labels={"serving.knative.dev/service": BUSY.name}).items[0]
    direct = f"http://{pod.ip}:9292"
    for clients in (1, 32):
        pid = home.pid("gateway")
        found = {}
        for name, place in (("direct", direct), ("gateway", gateway)):
            before = processor([pid])
            times = uvloop.run(asked(place, BUSY, clients, seconds))
            found[name] = statistics.median(times) * 1e3
            spent = processor([pid]) - before
            rate = len(times) / seconds
            print(f"{clients:3} clients, {name:8} {rate:8,.0f} /s  p50 {found[name]:6.2f} ms", end="")
            if name == "gateway":
                print(f"  added {found['gateway'] - found['direct']:.2f} ms", end="")
                print(f"  {len(times) / max(spent, 0.01):,.0f} a second of its processor", end="")
            print(flush=True)


async def asked(gateway: str, key: Key, clients: int, seconds: float) -> list[float]:
    end = time.perf_counter() + seconds
    every = await asyncio.gather(*(one(gateway, key, end) for _ in range(clients)))
    return [t for times in every for t in times]


async def one(gateway: str, key: Key, end: float) -> list[float]:
    place, times = urlsplit(gateway), []
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    while (began := time.perf_counter()) < end:
        writer.write(question(key, "/predict", BODY))
        status, body = await answer_of(reader)
        assert status == 200, body
        times.append(time.perf_counter() - began)
    writer.close()
    return times


def question(key: Key, path: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: {key.name}.{key.namespace}.example.com\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def cold(home: PdcHome, client: Client, gateway: str) -> None:
    """From no pod to the first answer, with the model server."""
    numbers = b'{"feed":[{"x":[1,2,3]}],"fetch":[]}'
    cases = [
        ("onnx", "serving", "lac=lac_model", WORDS),
        ("paddle", "serving-paddle", "weighted=/weighted", numbers),
    ]
    for name, suite, model, body in cases:
        key, path = Key("default", f"cold-{name}"), f"/{model.partition('=')[0]}/prediction"
        home.apply(model_server(key, suite, model))
        wait_for(client, KnativeService, key, lambda service: service.ready, LIMIT)
        times = []
        for _ in range(ROUNDS):
            until(partial(resting, client, [key]), what="rest", limit=LIMIT)
            times.append(uvloop.run(first(gateway, key, path, body)))
        shown = ", ".join(f"{t:.2f}" for t in times)
        print(f"from no pod to the first answer, {name}: {shown} s", flush=True)


def model_server(key: Key, suite: str, model: str) -> dict[str, Any]:
    container = {
        "name": "server",
        "image": f"paddlecloud/{suite}",
        "command": ["python", "-m", "paddlecloud.serving.server", "--model", model, "--port", "9292"],
        "ports": [{"containerPort": 9292, "name": "http1"}],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 9292}, "periodSeconds": 1},
        "volumeMounts": [{"name": "weighted", "mountPath": "/weighted"}],
    }
    volumes = [{"name": "weighted", "hostPath": {"path": str(WEIGHTED)}}]
    notes = {"autoscaling.knative.dev/min-scale": "0", "autoscaling.knative.dev/window": "6s"}
    template = {"metadata": {"annotations": notes}, "spec": {"containers": [container], "volumes": volumes}}
    return {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": key.name, "namespace": key.namespace},
        "spec": {"template": template},
    }


async def first(gateway: str, key: Key, path: str, body: bytes) -> float:
    place, began = urlsplit(gateway), time.perf_counter()
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(question(key, path, body))
    status, said = await answer_of(reader)
    assert status == 200, said
    writer.close()
    return time.perf_counter() - began


def rest(home: PdcHome, client: Client, gateway: str, options: argparse.Namespace) -> None:
    keys = [Key("default", f"idle-{n:03}") for n in range(options.idle)]
    for begin in range(0, len(keys), 50):
        home.apply(*(at_rest(key, options.models) for key in keys[begin : begin + 50]))
    for key in keys:
        wait_for(client, KnativeService, key, lambda service: service.ready, LIMIT)
    until(partial(resting, client, keys), what="rest", limit=LIMIT)
    if client.find(PaddleService, *BUSY) is not None:
        client.delete(PaddleService, BUSY)
    time.sleep(10)  # what ends and is removed shall not count
    parts = platform(home)
    before, began = spent(parts), time.perf_counter()
    time.sleep(20)
    seconds = time.perf_counter() - began
    used = {part: 100 * s / seconds for part, s in since(before, spent(parts)).items()}
    shown = ", ".join(f"{part} {value:.2f}" for part, value in used.items())
    print(f"{len(keys)} services at rest: {sum(used.values()):.2f} % of a core ({shown})", flush=True)
    before = spent(parts)
    path, body = ("/lac/prediction", WORDS) if options.models else ("/predict", BODY)
    times = uvloop.run(woken(gateway, keys[: options.woken], path, body))
    shown = ", ".join(f"{part} {value:.1f}" for part, value in since(before, spent(parts)).items())
    middle = statistics.median(times)
    print(
        f"{len(times)} services woken at once: first {min(times):.2f}, half of them {middle:.2f},"
        f" last {max(times):.2f} s; processor seconds: {shown}",
        flush=True,
    )


def at_rest(key: Key, model: bool) -> dict[str, Any]:
    # So little that a small machine has room for all of them at once.
    resources = {"requests": {"cpu": "1m", "memory": "8Mi"}}
    if model:
        made = model_server(key, "serving", "lac=lac_model")
        made["spec"]["template"]["spec"]["containers"][0]["resources"] = resources
        return made
    made = service(key, "idle", {"minScale": 0, "window": "6s"})
    made["spec"]["resources"] = resources
    return made


async def woken(gateway: str, keys: Sequence[Key], path: str, body: bytes) -> list[float]:
    return list(await asyncio.gather(*(first(gateway, key, path, body) for key in keys)))


def resting(client: Client, keys: Sequence[Key]) -> bool:
    """Whether all of them are there, without a pod."""
    names = {key.name for key in keys}
    found = client.list(Deployment, "default").items
    mine = [d for d in found if d.metadata.labels.get("serving.knative.dev/service") in names]
    there = sum(int(d.spec.get("replicas") or 0) + int(d.status.get("replicas") or 0) for d in mine)
    return len(mine) >= len(names) and not there


def platform(home: PdcHome) -> dict[str, int]:
    names = ("api", "controllers", "node", "gateway")
    return {"supervisor": home.supervisor, **{name: pid for name in names if (pid := home.pid(name))}}


def spent(parts: Mapping[str, int]) -> dict[str, float]:
    return {name: processor([pid]) for name, pid in parts.items()}


def since(before: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    return {name: now[name] - seconds for name, seconds in before.items()}


def processor(pids: Sequence[int]) -> float:
    """Seconds of processor time the processes have used so far."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


if __name__ == "__main__":
    main()
