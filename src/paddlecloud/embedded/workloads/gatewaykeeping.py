"""The gateway under the names of Istio's: the Service and the pod by which the documents look for it.

The gateway is a process of the platform and no pod, so the pod here has no node and nobody runs it: it only
tells where the gateway is; `wanted` is pure. `Announcing` makes such objects, again when they were deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from ...api.core import Pod, Service
from ...api.endpoints import EndpointSlice
from ...api.meta import Metadata, Resource
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...errors import AlreadyExists, Conflict, NotFound

KINDS = (Service, EndpointSlice, Pod)
NAMESPACE, NAME = "istio-system", "istio-ingressgateway"
LABELS = {"app": NAME, "istio": "ingressgateway"}
HOST = "127.0.0.1"
MIRROR = "kubernetes.io/config.mirror"
"""What tools leave alone when they empty a node."""
NOT_SCHEDULED = "paddlecloud-platform"
Body = dict[str, Any]


class Announcing:
    """Keeps Services, their slices and such pods as they are wanted."""

    def __init__(
        self,
        client: Client,
        informers: Mapping[type[Resource], Informer[Any]],
        objects: tuple[Resource, ...],
        now: Callable[[], datetime],
    ) -> None:
        self._client, self._informers, self._objects, self._now = client, informers, objects, now

    async def look(self) -> None:
        for obj in self._objects:
            try:
                await self._put_right(obj, self._informers[type(obj)].get(obj.key))
            except (AlreadyExists, Conflict, NotFound):
                continue  # the next look sees what is there

    async def _put_right(self, obj: Resource, found: Resource | None) -> None:
        if found is None:
            await self._client.create(obj)
        elif isinstance(found, Pod):
            if ports(found) != ports(obj):
                await self._client.delete(Pod, obj.key, uid=found.uid, grace=0)
            elif found.phase != "Running":
                await self._client.patch_status(Pod, obj.key, running(found, self._now()))
        elif patch := difference(obj, found):
            await self._client.patch(type(obj), obj.key, patch)


def wanted(port: int) -> tuple[Service, EndpointSlice, Pod]:
    http = {"name": "http2", "protocol": "TCP"}
    return (
        Service(
            metadata=named(LABELS),
            spec={"type": "NodePort", "ports": [{**http, "port": 80, "targetPort": port}]},
        ),
        EndpointSlice(
            metadata=named({**LABELS, "kubernetes.io/service-name": NAME}),
            address_type="IPv4",
            endpoints=[{"addresses": [HOST], "conditions": {"ready": True}}],
            ports=[{**http, "port": port}],
        ),
        Pod(
            metadata=named(LABELS, {MIRROR: NAME}),
            spec={
                "hostNetwork": True,
                "schedulerName": NOT_SCHEDULED,
                "enableServiceLinks": False,
                "automountServiceAccountToken": False,
                "containers": [
                    {
                        "name": "istio-proxy",
                        "image": "paddlecloud/core",
                        "ports": [{**http, "containerPort": port, "hostPort": port}],
                    }
                ],
            },
        ),
    )


def named(labels: dict[str, str], annotations: dict[str, str] | None = None) -> Metadata:
    return Metadata(
        name=NAME, namespace=NAMESPACE, labels=dict(labels), annotations=annotations or {}
    )  # fmt: skip


def difference(obj: Resource, found: Resource) -> Body:
    """The merge patch that leads the Service, or its slice, to where what it stands for is now."""
    if isinstance(obj, EndpointSlice) and isinstance(found, EndpointSlice):
        same = obj.ports == found.ports and obj.endpoints == found.endpoints
        return {} if same else {"endpoints": obj.endpoints, "ports": obj.ports}
    want, have = obj.wire()["spec"]["ports"][0], found.wire()["spec"]["ports"][0]
    # A number that was given to the Service stays with it.
    return {} if want.items() <= have.items() else {"spec": {"ports": [{**have, **want}]}}


def ports(pod: Resource) -> list[int]:
    return [p["containerPort"] for c in pod.wire()["spec"]["containers"] for p in c.get("ports") or ()]


def running(pod: Pod, now: datetime) -> Body:
    moment = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    [container] = pod.spec["containers"]
    told = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    return {
        "phase": "Running",
        "hostIP": HOST,
        "hostIPs": [{"ip": HOST}],
        "podIP": HOST,
        "podIPs": [{"ip": HOST}],
        "startTime": moment,
        "conditions": [{"type": t, "status": "True", "lastTransitionTime": moment} for t in told],
        "containerStatuses": [
            {
                "name": container["name"],
                "image": container["image"],
                "imageID": "",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": moment}},
            }
        ],
    }
