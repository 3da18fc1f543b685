"""The informer: a cache that follows the cluster through whatever happens to the watch."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import Any

import orjson
import pytest
from aiohttp import web
from tests.cluster.servers import answering
from tests.cluster.widgets import LIMIT, Widget, World, eventually, running, world

from paddlecloud.api.core import ConfigMap
from paddlecloud.api.meta import Key, Metadata, OwnerReference
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.informer import Informer
from paddlecloud.cluster.kubeconfig import Access


class Ear:
    """Remembers what a subscriber was told, as (old text, new text) by name."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str | None, str | None]] = []

    def __call__(self, old: ConfigMap | None, new: ConfigMap | None) -> None:
        some = new or old
        assert some is not None
        if some.name != "kube-root-ca.crt":
            self.heard.append((some.name, text(old), text(new)))


def text(config: ConfigMap | None) -> str | None:
    return config.data.get("text") if config else None


async def synced(informer: Informer[Any]) -> None:
    await asyncio.wait_for(informer.synced.wait(), LIMIT)


async def test_the_cache_follows_the_cluster(access: Access) -> None:
    async with world(access) as w:
        await w.client.create(w.config("a", text="1"))
        informer, ear = Informer(w.client, ConfigMap, w.namespace), Ear()
        informer.subscribe(ear)
        async with running(informer.run()):
            await synced(informer)
            made = await w.client.create(w.config("b", text="2"))
            await w.client.patch(ConfigMap, w.key("a"), {"data": {"text": "3"}})
            await w.client.delete(ConfigMap, w.key("b"))
            await eventually(lambda: len(ear.heard) == 4)

            assert ear.heard == [("a", None, "1"), ("b", None, "2"), ("a", "1", "3"), ("b", "2", None)]
            assert informer.get(w.key("b")) is None
            assert informer.reached(made.metadata.resource_version)
            assert not informer.reached(str(int(informer.revision) + 1))
            late = Ear()
            informer.subscribe(late)
            assert late.heard == [("a", None, "3")]


async def test_objects_without_the_labels_never_come_and_leave_with_them(access: Access) -> None:
    async with world(access) as w:
        kept = await w.client.create(labelled(w.config("kept", text="1")))
        await w.client.create(w.config("other", text="1"))
        informer, ear = Informer(w.client, ConfigMap, w.namespace, labels="of"), Ear()
        informer.subscribe(ear)
        async with running(informer.run()):
            await synced(informer)
            await w.client.patch(ConfigMap, w.key("other"), {"data": {"text": "2"}})
            await w.client.create(labelled(w.config("later", text="3")))
            await w.client.patch(ConfigMap, w.key(kept.name), {"metadata": {"labels": {"of": None}}})
            await eventually(lambda: len(ear.heard) == 3)

            assert ear.heard == [("kept", None, "1"), ("later", None, "3"), ("kept", "1", None)]


def labelled(config: ConfigMap) -> ConfigMap:
    config.metadata.labels["of"] = "ours"
    return config


async def test_children_are_found_by_the_uid_of_their_owner(access: Access) -> None:
    async with world(access) as w:
        owner = await w.client.create(w.widget("w"))
        informer = Informer(w.client, ConfigMap, w.namespace)
        async with running(informer.run()):
            await synced(informer)
            await w.client.create(owned(w, "child", owner, controller=True))
            await w.client.create(owned(w, "friend", owner, controller=False))
            await eventually(lambda: informer.get(w.key("friend")))
            assert [c.name for c in informer.owned(owner.uid)] == ["child"]

            await w.client.patch(ConfigMap, w.key("child"), {"metadata": {"ownerReferences": None}})
            await eventually(lambda: not informer.owned(owner.uid))
            assert informer.get(w.key("child"))


def owned(w: World, name: str, owner: Widget, *, controller: bool) -> ConfigMap:
    reference = OwnerReference(
        api_version=owner.api_version, kind=owner.kind, name=owner.name, uid=owner.uid, controller=controller
    )
    config = w.config(name)
    return config.but(metadata=config.metadata.but(owner_references=[reference]))


async def test_a_kind_that_is_not_served_is_empty_until_it_is(access: Access) -> None:
    class Unheard(Widget):
        kind, plural = "Unheard", "unheards"

    async with world(access) as w:
        informer = Informer(w.client, Unheard)
        async with running(informer.run()):
            await synced(informer)

            assert informer.all() == ()
            await eventually(lambda: informer.trouble)


def item(name: str, version: int, **data: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "ml", "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"metadata": metadata, "data": data}


class Script:
    """An API server for one kind that plays prepared lists and watches, then stays silent."""

    def __init__(self, lists: list[tuple[int, list[dict[str, Any]]]], watches: list[list[Any]]) -> None:
        self.lists, self.watches = lists, watches
        self.asked: list[str] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            self.asked.append("list")
            version, items = self.lists.pop(0)
            return web.json_response({"metadata": {"resourceVersion": str(version)}, "items": items})
        self.asked.append(f"watch {request.query['resourceVersion']}")
        stream = web.StreamResponse()
        await stream.prepare(request)
        if not self.watches:
            await asyncio.Event().wait()
        for kind, body in self.watches.pop(0):
            await stream.write(orjson.dumps({"type": kind, "object": body}) + b"\n")
        return stream


def errors(code: int, reason: str) -> tuple[str, dict[str, Any]]:
    return "ERROR", {"code": code, "reason": reason, "message": reason}


def bookmark(version: int) -> tuple[str, dict[str, Any]]:
    return "BOOKMARK", {"metadata": {"resourceVersion": str(version)}}


@pytest.mark.parametrize(
    "lists, watches, asked, heard",
    [
        pytest.param(
            [(5, [item("a", 3, text="1")])],
            [[("MODIFIED", item("a", 6, text="2"))], [bookmark(9)]],
            ["list", "watch 5", "watch 6", "watch 9"],
            [("a", None, "1"), ("a", "1", "2")],
            id="a watch that ends goes on where it ended, bookmarks included",
        ),
        pytest.param(
            [
                (5, [item("a", 3, text="1"), item("b", 4, text="1"), item("c", 5, text="1")]),
                (20, [item("b", 9, text="2"), item("c", 5, text="1"), item("d", 10, text="1")]),
            ],
            [[errors(410, "Expired")]],
            ["list", "watch 5", "list", "watch 20"],
            [
                ("a", None, "1"),
                ("b", None, "1"),
                ("c", None, "1"),
                ("a", "1", None),
                ("b", "1", "2"),
                ("d", None, "1"),
            ],
            id="a version that is too old means a new list, and what vanished meanwhile is told",
        ),
        pytest.param(
            [(5, []), (2, [item("a", 1, text="1")])],
            [[errors(504, "Timeout")]],
            ["list", "watch 5", "list", "watch 2"],
            [("a", None, "1")],
            id="a server that has lost its memory is believed",
        ),
    ],
)
async def test_whatever_happens_to_the_watch(
    lists: list[Any], watches: list[Any], asked: list[str], heard: list[Any]
) -> None:
    script = Script(lists, watches)
    async with answering(script.answer) as access, Client(access) as client:
        informer, ear = Informer(client, ConfigMap, luck=lambda: 0.0), Ear()
        informer.subscribe(ear)
        async with running(informer.run()):
            await eventually(lambda: script.asked == asked)
    assert ear.heard == heard


async def test_an_object_that_does_not_fit_is_left_out_and_logged_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("paddlecloud"), "propagate", True)
    script = Script(
        [(5, [item("good", 3, text="1"), item("bad", 4, text=7)])],
        [[("MODIFIED", item("bad", 6, text=8)), ("ADDED", item("later", 7, text="1"))]],
    )
    async with answering(script.answer) as access, Client(access) as client:
        informer: Informer[ConfigMap] = Informer(client, ConfigMap, luck=lambda: 0.0)
        async with running(informer.run()):
            await eventually(lambda: informer.get(Key("ml", "later")))

    assert sorted(c.name for c in informer.all()) == ["good", "later"]
    assert [r.getMessage() for r in caplog.records if "bad" in r.getMessage()] == [
        "left out: the ConfigMap ml/bad does not fit v1: data.text: Input should be a valid string"
    ]


async def test_a_server_that_goes_away_is_waited_for_without_forgetting() -> None:
    up = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.json_response({"metadata": {"resourceVersion": "5"}, "items": [item("a", 3)]})
        if not up.is_set():
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        stream = web.StreamResponse()
        await stream.prepare(request)
        await stream.write(orjson.dumps({"type": "ADDED", "object": item("b", 6)}) + b"\n")
        await asyncio.Event().wait()
        return stream

    async with answering(answer) as access, Client(access) as client:
        informer: Informer[ConfigMap] = Informer(client, ConfigMap, luck=lambda: 0.0)
        async with running(informer.run()):
            await eventually(lambda: informer.trouble)
            assert informer.get(Key("ml", "a"))
            up.set()
            await eventually(lambda: informer.get(Key("ml", "b")))
            assert not informer.trouble


def test_a_version_that_is_no_number_is_never_reached() -> None:
    informer: Informer[ConfigMap] = Informer(Client(Access("http://h", "c")), ConfigMap)
    informer.revision = "9"
    assert informer.reached("9") and not informer.reached("abc")
    assert Metadata().resource_version == "" and not informer.reached("")


async def test_a_kind_that_is_not_served_is_asked_for_again_when_somebody_says_so() -> None:
    served, asked = False, Counter[str]()

    async def answer(request: web.Request) -> web.StreamResponse:
        asked[request.path.split("/")[4]] += 1
        if "watch" in request.query:
            await asyncio.Event().wait()
        body: dict[str, Any] = {"metadata": {"resourceVersion": "7"}, "items": []}
        if not served:
            body = {"kind": "Status", "reason": "NotFound", "message": "not served", "code": 404}
        return web.json_response(body, status=200 if served else 404)

    async with answering(answer) as access, Client(access) as client:
        calm, eager = (Informer(client, ConfigMap, name, luck=lambda: 0.0) for name in ("calm", "eager"))
        calm.nudged = True
        async with running(calm.run()), running(eager.run()):
            await eventually(lambda: calm.synced.is_set() and asked["eager"] >= 4)
            assert asked["calm"] == 1
            served = True
            calm.nudge()
            await eventually(lambda: calm.revision == "7" and not calm.trouble)
