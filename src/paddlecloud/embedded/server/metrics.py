"""`metrics.k8s.io`: what nodes and pods use right now, measured when asked; nothing is stored."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
from aiohttp import web

from ...errors import Unavailable
from ..store import Entry
from . import refusals
from .answers import as_json
from .kinds import MEASURED, Kind
from .listing import query_of
from .objects import Objects
from .paths import Target
from .selectors import outline
from .streams import NodeStreams

Body = dict[str, Any]
NODES, PODS = MEASURED
GROUP = NODES.group


class Metrics:
    def __init__(self, objects: Objects, streams: NodeStreams) -> None:
        self._objects, self._streams = objects, streams

    async def answer(self, request: web.Request, kind: Kind, target: Target) -> web.StreamResponse:
        """One object's metrics or those of all that are selected; read only."""
        subjects = self._subjects(request, kind, target)
        summaries = await self._summaries()
        make = node_metrics if kind.plural == "nodes" else pod_metrics
        found = [body for entry in subjects if (body := make(entry.load(), summaries)) is not None]
        if target.name:
            if not found:
                raise refusals.not_found(kind, target.name)
            return as_json(found[0])
        return as_json(
            {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": {}, "items": found}
        )

    def _subjects(self, request: web.Request, kind: Kind, target: Target) -> list[Entry]:
        """The nodes or pods themselves."""
        [own] = [k for k in self._objects.registry.in_version("", "v1") if k.plural == kind.plural]
        if target.name:
            return [self._objects.get(own, target.namespace, target.name)]
        query = query_of(own, dict(request.query))
        entries = self._objects.store.entries(own.resource, target.namespace)
        return [entry for entry in entries if query.selected is None or query.selected(outline(entry))]

    async def _summaries(self) -> dict[str, Body]:
        """What every node says, by its name."""
        names = [entry.place.name for entry in self._objects.store.entries("/nodes")]
        answers = await asyncio.gather(*(self._summary(name) for name in names))
        return dict(zip(names, answers, strict=True))

    async def _summary(self, node: str) -> Body:
        try:
            async with self._streams.client().get(f"http://node/nodes/{node}/stats/summary") as answer:
                told: Body = await answer.json()
                return told
        except aiohttp.ClientError as error:
            raise Unavailable(f"node {node} does not answer: {error}") from error


def node_metrics(node: Body, summaries: dict[str, Body]) -> Body | None:
    summary = summaries.get(node["metadata"]["name"])
    if summary is None:
        return None
    return metrics(NODES, node, summary, summary["node"]) | {"usage": usage(summary["node"])}


def pod_metrics(pod: Body, summaries: dict[str, Body]) -> Body | None:
    """None for a pod that does not run: there is nothing to measure."""
    summary = summaries.get(pod["spec"].get("nodeName") or "")
    uid = pod["metadata"]["uid"]
    told = next((p for p in (summary or {}).get("pods", ()) if p["podRef"]["uid"] == uid), None)
    if summary is None or told is None:
        return None
    containers = [{"name": c["name"], "usage": usage(c)} for c in told["containers"]]
    return metrics(PODS, pod, summary, told) | {"containers": containers}


def metrics(kind: Kind, subject: Body, summary: Body, told: Body) -> Body:
    known = subject["metadata"]
    at = told["cpu"]["time"]
    metadata = {key: known[key] for key in ("name", "namespace", "labels") if known.get(key)}
    return {
        "kind": kind.kind,
        "apiVersion": kind.api_version,
        "metadata": metadata | {"creationTimestamp": at},
        "timestamp": at,
        "window": summary["window"],
    }


def usage(told: Body) -> Body:
    """In the units of Kubernetes' own metrics server."""
    return {
        "cpu": f"{told['cpu']['usageNanoCores']}n",
        "memory": f"{told['memory']['workingSetBytes'] // 1024}Ki",
    }
