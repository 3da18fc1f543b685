"""Which pods are meant by `POD`, `KIND/NAME` or labels."""

from __future__ import annotations

from typing import Any

from ..api.core import Pod, Service
from ..api.meta import Key
from ..cluster.requests import Scope
from ..errors import NotFound
from ..sdk.client import Client
from ..sdk.discovery import holder, served
from .objects import synonym
from .why import gather, pods_of

PODS = ("pod", "pods", "po")
JOBS = ("paddlejob", "paddlejobs", "pdj")
SERVICES = ("service", "services", "svc")


def pods_meant(client: Client, target: str, namespace: str) -> list[str]:
    """The names of the pods that work for *target*, the one that speaks for it first; raises `NotFound`."""
    typed, slash, name = target.partition("/")
    if not slash or typed in PODS:
        return [name or typed]
    if typed in SERVICES and (service := client.find(Service, namespace, name)) is not None:
        selector = service.spec.get("selector") or {}
        found = [p.name for p in client.list(Pod, namespace, labels=selector).items if not p.finished]
    else:
        _, owner = holder(client, served(client), synonym(typed), Key(namespace, name))
        found = sorted(pods_of(owner, gather(client, namespace)))
    if not found:
        raise NotFound(f"{target} has no pod", next_step=f"pdc why {target}")
    return sorted(found, key=lambda pod: not pod.endswith("-worker-0"))


def names_job(target: str) -> bool:
    """Whether *target* is a PaddleJob by one of its names."""
    kind, slash, _ = target.partition("/")
    return bool(slash) and synonym(kind).lower().partition(".")[0] in JOBS


def names_many(target: str) -> bool:
    """Whether *target* is an object that pods work for, rather than a pod."""
    kind, slash, _ = target.partition("/")
    return bool(slash) and kind not in PODS


def labelled(client: Client, selector: str, namespace: str) -> list[str]:
    found = client.list_raw(Pod, Scope(namespace, labels=selector)).items
    return [str(pod["metadata"]["name"]) for pod in found]


def containers_of(client: Client, pod: str, namespace: str, init: bool = False) -> list[str]:
    spec: dict[str, Any] = client.get(Pod, namespace, pod).spec
    every = [*((spec.get("initContainers") or ()) if init else ()), *spec["containers"]]
    return [str(container["name"]) for container in every]
