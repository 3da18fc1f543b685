"""Connections with a Service from outside its cluster, through the API.

The address of a Service, and its name, mean something inside its cluster alone: elsewhere they may be a
stranger's. So whoever is outside never calls them, but asks the API for a way to a pod that stands behind the
Service, as `kubectl port-forward` does. What sleeps until it is called is woken.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from threading import Thread
from urllib.parse import urlsplit

from .. import log
from ..api.apps import Deployment
from ..api.core import WAKES, Pod, Service
from ..api.meta import Key
from ..cluster.kubeconfig import Access
from ..cluster.portforward import Way, alone
from ..errors import NotFound, TimedOut
from .client import Client

WOKEN_WITHIN, LOOK = 60.0, 0.1
THREADS = "way to "

Dial = Callable[[], socket.socket]
"""Makes a connection; raises a `PaddleCloudError` with the reason why there is none."""


def way_to(client: Client, host: str, port: int, environ: Mapping[str, str]) -> Dial | None:
    """How to call *host* from here; None: as anybody does, since it is no Service, or we are beside it."""
    name, _, rest = host.partition(".")
    if not rest or inside(client.access, environ):
        return None
    key = Key(rest.partition(".")[0], name)
    if client.find(Service, *key) is None:
        return None
    return lambda: connected(client.access, *behind(client, key, port))


def inside(access: Access, environ: Mapping[str, str]) -> bool:
    """Whether we are a pod of the cluster that *access* is for."""
    here = environ.get("KUBERNETES_SERVICE_HOST", "")
    return bool(here) and urlsplit(access.server).hostname == here


def behind(client: Client, key: Key, port: int) -> tuple[Key, int]:
    """A pod that is ready behind the Service, and its port; woken if need be. Raises `TimedOut`."""
    service = client.get(Service, *key)
    selector = service.spec.get("selector") or {}
    woken = service.metadata.annotations.get(WAKES, "")
    deadline, asked = time.monotonic() + WOKEN_WITHIN, False
    while True:
        pods = client.list(Pod, key.namespace, labels=selector).items if selector else []
        if found := next((pod for pod in pods if pod.ready), None):
            return found.key, port_number(found, service, str(port))
        if not woken and not pods:
            raise NotFound(f"service {key} has no pod", next_step=f"pdc why service/{key.name}")
        if time.monotonic() > deadline:
            raise TimedOut(
                f"no pod behind service {key} was ready within {WOKEN_WITHIN:g} s",
                next_step=f"pdc why service/{key.name} -n {key.namespace}",
            )
        if woken and not asked:
            wish = {"spec": {"replicas": 1}}
            client.patch(Deployment, Key(key.namespace, woken), wish, subresource="scale")
            asked = True
        time.sleep(LOOK)


def port_number(pod: Pod, service: Service | None, asked: str) -> int:
    """The port of the pod; a Service names its own ports, which lead to others."""
    if service is not None:
        for port in service.spec.get("ports") or ():
            if asked in (str(port["port"]), port.get("name")):
                asked = str(port.get("targetPort") or port["port"])
                break
        else:
            raise NotFound(f"service {service.name} has no port {asked}")
    if asked.isdecimal():
        return int(asked)
    for container in pod.spec["containers"]:
        for port in container.get("ports") or ():
            if port.get("name") == asked:
                return int(port["containerPort"])
    raise NotFound(f"pod {pod.name} has no port named {asked}")


def connected(access: Access, pod: Key, port: int) -> socket.socket:
    """One end of a connection with *port* of *pod*; a thread passes on what goes through it."""
    ours, theirs = socket.socketpair()
    opened: Future[None] = Future()
    given = (access, pod, port, theirs, opened)
    Thread(target=passing, args=given, name=f"{THREADS}{pod}", daemon=True).start()
    try:
        opened.result()
    except BaseException:
        ours.close()
        raise
    return ours


def passing(access: Access, pod: Key, port: int, end: socket.socket, opened: Future[None]) -> None:
    async def carry() -> None:
        reader, writer = await asyncio.open_connection(sock=end)
        complain = log.logger("sdk.ways").warning
        await alone(access, pod, complain, Way(port, reader, writer), lambda: opened.set_result(None))

    try:
        asyncio.run(carry())
    except BaseException as error:
        # Who waits for the connection hears why; later it is as with any other that breaks.
        if not opened.done():
            opened.set_exception(error)
