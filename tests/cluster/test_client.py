"""The async client against an API server."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest
from tests.cluster.widgets import Widget, WidgetStatus, world

from paddlecloud.api.core import ConfigMap
from paddlecloud.cluster import requests
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.cluster.requests import PatchType, Place
from paddlecloud.errors import AlreadyExists, Conflict, Expired, Invalid, NotFound


async def test_an_object_lives_from_create_to_delete(access: Access) -> None:
    async with world(access) as w:
        made = await w.client.create(w.config("a", text="one"))
        assert made.uid and made.data == {"text": "one"}
        with pytest.raises(AlreadyExists):
            await w.client.create(w.config("a"))

        changed = await w.client.patch(ConfigMap, w.key("a"), {"data": {"text": None, "more": "two"}})
        assert changed.data == {"more": "two"}

        await w.client.delete(ConfigMap, w.key("a"), uid=made.uid)
        with pytest.raises(NotFound, match="a"):
            await w.client.get(ConfigMap, w.namespace, "a")
        assert await w.client.find(ConfigMap, w.namespace, "a") is None


async def test_a_replacement_of_an_outdated_object_is_a_conflict(access: Access) -> None:
    async with world(access) as w:
        old = await w.client.create(w.config("a", text="one"))
        new = await w.client.replace(old.but(data={"text": "two"}))

        assert new.data == {"text": "two"}
        with pytest.raises(Conflict):
            await w.client.replace(old.but(data={"text": "three"}))


async def test_a_delete_meant_for_another_object_of_that_name_is_refused(access: Access) -> None:
    async with world(access) as w:
        await w.client.create(w.config("a"))

        with pytest.raises(Conflict):
            await w.client.delete(ConfigMap, w.key("a"), uid="00000000-0000-0000-0000-000000000000")
        assert await w.client.find(ConfigMap, w.namespace, "a")


async def test_the_status_is_written_beside_the_object(access: Access) -> None:
    async with world(access) as w:
        made = await w.client.create(w.widget("a", size=2))

        told = await w.client.patch_status(
            Widget, w.key("a"), {"phase": "Ready"}, resource_version=made.metadata.resource_version
        )

        assert (told.status, told.spec) == (WidgetStatus(phase="Ready"), made.spec)
        with pytest.raises(Conflict):
            await w.client.patch_status(
                Widget, w.key("a"), {"phase": "Old"}, resource_version=made.metadata.resource_version
            )


async def test_a_json_patch_is_understood(access: Access) -> None:
    async with world(access) as w:
        await w.client.create(w.config("a", text="one"))
        patch = [{"op": "replace", "path": "/data/text", "value": "two"}]

        changed = await w.client.patch(ConfigMap, w.key("a"), patch, form=PatchType.JSON)

        assert changed.data == {"text": "two"}


async def test_a_list_takes_selectors_and_any_number_of_pages(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "PAGE", 2)
    async with world(access) as w:
        for number in range(5):
            await w.client.create(w.config(f"c{number}", labels={"even": str(number % 2 == 0).lower()}))
        mine = await w.client.list(ConfigMap, w.namespace, labels="even")
        even = await w.client.list(ConfigMap, w.namespace, labels={"even": "true"})
        one = await w.client.list(ConfigMap, w.namespace, fields={"metadata.name": "c3"})

        assert [c.name for c in mine.items] == ["c0", "c1", "c2", "c3", "c4"]
        assert [c.name for c in even.items] == ["c0", "c2", "c4"]
        assert [c.name for c in one.items] == ["c3"]
        assert mine.resource_version.isdecimal()


async def test_a_watch_tells_what_happens_after_the_list(access: Access) -> None:
    async with world(access) as w:
        await w.client.create(w.config("before"))
        start = await w.client.list(ConfigMap, w.namespace)
        made = await w.client.create(w.config("a", labels={"mine": ""}))
        await w.client.patch(ConfigMap, made.key, {"data": {"text": "x"}})
        await w.client.delete(ConfigMap, made.key)

        seen = []
        events = w.client.watch(ConfigMap, w.namespace, start.resource_version, labels="mine")
        async with asyncio.timeout(10), aclosing(events):
            async for event in events:
                if event.type != "BOOKMARK":
                    seen.append((event.type, event.object["metadata"]["name"]))
                if event.type == "DELETED":
                    break

        assert seen == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


async def test_an_object_far_longer_than_any_buffer_comes_through_a_watch(access: Access) -> None:
    async with world(access) as w:
        start = await w.client.list(ConfigMap, w.namespace)
        long = "x" * 900_000
        await w.client.create(w.config("long", text=long))

        events = w.client.watch(ConfigMap, w.namespace, start.resource_version, fields="metadata.name=long")
        async with asyncio.timeout(10), aclosing(events):
            event = await anext(events)

        assert event.object["data"]["text"] == long


async def test_a_kind_without_a_class_is_reached_by_its_place(access: Access) -> None:
    async with world(access) as w:
        secrets = Place("v1", "secrets")
        body = {"metadata": {"name": "s"}, "stringData": {"a": "b"}}
        made = await w.client.request(requests.creation(secrets, w.namespace, body))

        assert made["data"] == {"a": "Yg=="}
        await w.client.delete(secrets, w.key("s"))


async def test_an_object_that_does_not_fit_its_class_is_invalid(access: Access) -> None:
    class Strict(ConfigMap):
        kind = "ConfigMap"
        immutable_since: int

    async with world(access) as w:
        await w.client.create(w.config("a"))

        with pytest.raises(Invalid, match=f"ConfigMap {w.namespace}/a does not fit v1: immutableSince"):
            await w.client.get(Strict, w.namespace, "a")


async def test_a_log_that_cannot_be_had_is_an_error_of_ours(access: Access) -> None:
    async with world(access) as w:
        with pytest.raises(NotFound):
            await w.client.logs(w.namespace, "nobody", tail=3)


async def test_a_client_that_was_not_opened_says_so(access: Access) -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await Client(access).list(ConfigMap)


async def test_a_version_of_long_ago_has_expired(access: Access) -> None:
    # Every server forgets the beginning; one that does not yet may answer with events instead.
    async with world(access) as w:
        events = w.client.watch(Widget, w.namespace, "1")
        async with asyncio.timeout(10), aclosing(events):
            await w.client.create(w.widget("a"))
            try:
                event = await anext(events)
            except Expired:
                return
            assert event.object["kind"] == "Widget"
