"""An event that is told again raises its count with one request, and is made anew when it is gone."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from paddlecloud.api.core import ConfigMap, Event
from paddlecloud.api.meta import Metadata
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.cluster.requests import Request
from paddlecloud.controllers.contract import Note
from paddlecloud.controllers.events import Events, event_of, record

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
NOTE = Note("Normal", "Scaled", "from 0 to 1")


def subject(namespace: str) -> ConfigMap:
    return ConfigMap(metadata=Metadata(name="told", namespace=namespace, uid=secrets.token_hex(8)))


async def refused(client: Client) -> float:
    """How many creations of events the server has refused because they were there."""
    _, body = await client.once(Request("GET", "/metrics"))
    lines = (line for line in body.decode().splitlines() if line.startswith("apiserver_request_total"))
    told = (line for line in lines if 'resource="events"' in line and 'code="409"' in line)
    return sum(float(line.rpartition(" ")[2]) for line in told)


async def test_what_is_told_again_is_counted_without_asking(access: Access, namespace: str) -> None:
    async with Client(access) as client:
        events, obj, before = Events(client, "test"), subject(namespace), await refused(client)
        for _ in range(3):
            await events.record(obj, NOTE, NOW)

        assert (await client.get(Event, namespace, event_of(obj, NOTE, "test", NOW).name)).count == 3
        assert await refused(client) == before


async def test_one_who_does_not_remember_asks(access: Access, namespace: str) -> None:
    async with Client(access) as client:
        obj = subject(namespace)
        for _ in range(3):
            await record(client, obj, NOTE, "test", NOW)

        assert (await client.get(Event, namespace, event_of(obj, NOTE, "test", NOW).name)).count == 3


async def test_one_that_is_gone_is_told_anew(access: Access, namespace: str) -> None:
    async with Client(access) as client:
        events, obj = Events(client, "test"), subject(namespace)
        await events.record(obj, NOTE, NOW)
        key = event_of(obj, NOTE, "test", NOW).key
        await client.delete(Event, key)
        await events.record(obj, NOTE, NOW)

        assert (await client.get(Event, *key)).count == 1


async def test_only_the_last_are_remembered(access: Access, namespace: str) -> None:
    async with Client(access) as client:
        events, objs = Events(client, "test", remembered=2), [subject(namespace) for _ in range(3)]
        for number in (0, 1, 0, 2):
            await events.record(objs[number], NOTE, NOW)

        assert list(events.told) == [event_of(objs[n], NOTE, "test", NOW).key for n in (0, 2)]
