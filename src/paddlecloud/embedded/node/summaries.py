"""What a kubelet answers about itself: health, its pods, what they use; `nodes/NAME/proxy/…` leads here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from ...api.core import Pod
from .measuring import Measured, Measurement, Measuring

Body = dict[str, Any]
PodsOf = Callable[[str], list[Pod]]


class Summaries:
    def __init__(self, measuring: Measuring, pods: PodsOf) -> None:
        self._measuring, self._pods = measuring, pods

    async def answer(self, request: web.Request) -> web.StreamResponse:
        node = request.match_info["node"]
        match request.match_info["path"].strip("/"):
            case "healthz":
                return web.Response(text="ok")
            case "pods" | "runningpods":
                items = [pod.wire() for pod in self._pods(node)]
                return web.json_response(
                    {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}
                )
            case "stats/summary":
                return web.json_response(summary(node, await self._measuring.measured()))
            case "metrics" | "metrics/resource":
                text = exposition(node, await self._measuring.measured())
                return web.Response(text=text, headers={"Content-Type": "text/plain; version=0.0.4"})
        raise web.HTTPNotFound(text="404 page not found")


def summary(node: str, found: Measurement) -> Body:
    """In the words of a kubelet's `stats/summary`."""
    at = moment(found.at)
    mine = [one for one in found.containers if one.record.node == node]
    pods: dict[str, list[Measured]] = {}
    for one in mine:
        pods.setdefault(one.record.uid, []).append(one)
    return {
        "node": {"nodeName": node, **used(mine, at)},
        "window": f"{found.window:.3f}s",
        "pods": [
            {
                "podRef": {
                    "name": ones[0].record.name, "namespace": ones[0].record.namespace, "uid": uid,
                },
                "containers": [{"name": one.container, **used([one], at)} for one in ones],
                **used(ones, at),
            }
            for uid, ones in pods.items()
        ],
    }  # fmt: skip


def used(containers: list[Measured], at: str) -> Body:
    return {
        "cpu": {
            "time": at,
            "usageNanoCores": round(sum(one.cores for one in containers) * 1e9),
            "usageCoreNanoSeconds": round(sum(one.cpu_seconds for one in containers) * 1e9),
        },
        "memory": {"time": at, "workingSetBytes": sum(one.memory_bytes for one in containers)},
    }


def exposition(node: str, found: Measurement) -> str:
    """In the text form of Prometheus."""
    mine = [one for one in found.containers if one.record.node == node]
    lines = ["# TYPE container_cpu_usage_seconds_total counter"]
    lines += [f"container_cpu_usage_seconds_total{labels(one)} {one.cpu_seconds:.6f}" for one in mine]
    lines += ["# TYPE container_memory_working_set_bytes gauge"]
    lines += [f"container_memory_working_set_bytes{labels(one)} {one.memory_bytes}" for one in mine]
    return "\n".join(lines) + "\n"


def labels(one: Measured) -> str:
    record = one.record
    return f'{{container="{one.container}",namespace="{record.namespace}",pod="{record.name}"}}'


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
