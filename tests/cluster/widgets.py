"""A world for one test: a client, a namespace of its own, and a small resource with a status."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from paddlecloud.api.core import ConfigMap, Namespace
from paddlecloud.api.crds import crd
from paddlecloud.api.meta import Key, Metadata, Resource, Value
from paddlecloud.cluster import requests
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.cluster.requests import Place
from paddlecloud.errors import AlreadyExists, NotFound

LIMIT = 20.0
CRDS = Place("apiextensions.k8s.io/v1", "customresourcedefinitions", namespaced=False)


class WidgetSpec(Value):
    size: int = 0
    """How many parts it has."""
    reads: str = ""
    """The ConfigMap it reads."""


class WidgetStatus(Value):
    phase: str = ""
    parts: int = 0
    text: str = ""
    seen: dict[str, str] = Field({})


class Widget(Resource):
    """A thing made of ConfigMaps."""

    api_version, plural = "tests.paddlepaddle.org/v1", "widgets"

    spec: WidgetSpec = WidgetSpec()
    status: WidgetStatus = WidgetStatus()


@dataclass(frozen=True)
class World:
    client: Client
    namespace: str

    def key(self, name: str) -> Key:
        return Key(self.namespace, name)

    def widget(self, name: str, **spec: Any) -> Widget:
        return Widget(metadata=Metadata(name=name, namespace=self.namespace), spec=WidgetSpec(**spec))

    def config(self, name: str, labels: dict[str, str] | None = None, **data: str) -> ConfigMap:
        metadata = Metadata(name=name, namespace=self.namespace, labels=labels or {})
        return ConfigMap(metadata=metadata, data=data)


@asynccontextmanager
async def world(access: Access) -> AsyncIterator[World]:
    async with Client(access) as client:
        with suppress(AlreadyExists):
            await client.request(requests.creation(CRDS, "", crd(Widget)))
        await eventually(lambda: served(client))
        name = f"test-{secrets.token_hex(4)}"
        await client.create(Namespace(metadata=Metadata(name=name)))
        yield World(client, name)
        await client.delete(Namespace, Key("", name))


async def served(client: Client) -> bool:
    try:
        await client.list(Widget)
    except NotFound:
        return False
    return True


async def eventually(condition: Callable[[], Any], limit: float = LIMIT) -> Any:
    """What *condition* answers as soon as it is true."""
    async with asyncio.timeout(limit):
        while True:
            answer = condition()
            if asyncio.iscoroutine(answer):
                answer = await answer
            if answer:
                return answer
            await asyncio.sleep(0.02)


@asynccontextmanager
async def running(*works: Any) -> AsyncIterator[None]:
    """Run coroutines beside the test and end them with it; one that fails fails the test."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield
        for task in tasks:
            if task.done():
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
