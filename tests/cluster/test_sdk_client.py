"""The sync client and the waits on it, against an API server."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest
from tests.cluster.widgets import CRDS, Widget, WidgetSpec, WidgetStatus

from paddlecloud.api.core import ConfigMap, Namespace
from paddlecloud.api.crds import crd
from paddlecloud.api.meta import Condition, Key, Metadata, Resource
from paddlecloud.api.paddlejob import PaddleJob, PaddleJobSpec, PaddleJobStatus
from paddlecloud.cluster import requests
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.cluster.requests import Scope
from paddlecloud.errors import AlreadyExists, Conflict, NotFound, TimedOut, Unreachable
from paddlecloud.sdk.client import Client
from paddlecloud.sdk.waiting import state_of, wait_for


@pytest.fixture
def client(access: Access) -> Iterator[Client]:
    with Client(access) as client:
        with suppress(AlreadyExists):
            client.request(requests.creation(CRDS, "", crd(Widget)))
        for event in client.watch(CRDS, Scope(fields=f"metadata.name=widgets.{Widget.group()}"), "0", 20):
            conditions = event.object.get("status", {}).get("conditions", ())
            if any(c["type"] == "Established" and c["status"] == "True" for c in conditions):
                break
        yield client


@pytest.fixture
def place(client: Client) -> Iterator[str]:
    name = f"test-{secrets.token_hex(4)}"
    client.create(Namespace(metadata=Metadata(name=name)))
    yield name
    client.delete(Namespace, Key("", name))


def config(place: str, name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=Metadata(name=name, namespace=place), data=data)


def widget(place: str, name: str, size: int = 0) -> Widget:
    return Widget(metadata=Metadata(name=name, namespace=place), spec=WidgetSpec(size=size))


def test_an_object_lives_from_create_to_delete(client: Client, place: str) -> None:
    made = client.create(config(place, "a", text="one"))
    assert client.get(ConfigMap, place, "a") == made
    with pytest.raises(AlreadyExists):
        client.create(config(place, "a"))
    assert client.patch(ConfigMap, made.key, {"data": {"text": "two"}}).data == {"text": "two"}
    with pytest.raises(Conflict):
        client.replace(made)
    listed = client.list(ConfigMap, place, fields={"metadata.name": "a"})
    assert [c.name for c in listed.items] == ["a"]

    client.delete(ConfigMap, made.key)

    assert client.find(ConfigMap, place, "a") is None
    with pytest.raises(NotFound):
        client.logs(place, "nobody")
    with pytest.raises(NotFound):
        list(client.follow_logs(place, "nobody"))


def test_apply_creates_changes_or_leaves(client: Client, place: str) -> None:
    changes = [
        client.apply(config(place, "a", text="one")).change,
        client.apply(config(place, "a", text="one")).change,
        client.apply(config(place, "a", more="two")).change,
    ]

    assert changes == ["created", "unchanged", "changed"]
    assert client.get(ConfigMap, place, "a").data == {"more": "two"}


def test_a_watch_tells_what_happens_and_ends_in_time(client: Client, place: str) -> None:
    start = client.list(ConfigMap, place).resource_version
    client.create(config(place, "a", text="x" * 500_000))
    client.delete(ConfigMap, Key(place, "a"))

    scope = Scope(place, fields={"metadata.name": "a"})
    seen = [event.type for event in client.watch(ConfigMap, scope, start, 1) if event.type != "BOOKMARK"]

    assert seen == ["ADDED", "DELETED"]


def test_a_server_that_is_not_there_is_unreachable_and_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        access = Access(f"https://127.0.0.1:{taken.getsockname()[1]}", "my cluster")
        with Client(access) as client, pytest.raises(Unreachable, match="my cluster"):
            client.create(config("ml", "a"))


def test_a_certificate_that_is_not_trusted_is_unreachable(access: Access) -> None:
    with Client(replace(access, ca=None)) as client, pytest.raises(Unreachable, match="certificate"):
        client.get(ConfigMap, "default", "a")


def test_a_wait_ends_as_soon_as_the_object_is_ready(client: Client, access: Access, place: str) -> None:
    made = client.create(widget(place, "w"))
    phases: list[str] = []

    def heard(now: Widget) -> None:
        phases.append(now.status.phase)
        # Every state leads to the next one: none is missed, none is polled for.
        following = {"": "Making", "Making": "Ready"}.get(now.status.phase)
        if following:
            thread = threading.Thread(target=write, args=(access, made.key, following))
            thread.start()
            thread.join()

    done = wait_for(client, Widget, made.key, lambda w: w.status.phase == "Ready", 20, heard)

    assert done.status.phase == "Ready"
    assert phases == ["", "Making", "Ready"]


def write(access: Access, key: Key, phase: str) -> None:
    with Client(access) as other:
        other.patch_status(Widget, key, {"phase": phase})


def test_a_wait_that_takes_too_long_says_where_it_stood(client: Client, place: str) -> None:
    made = client.create(widget(place, "w"))
    client.patch_status(Widget, made.key, {"phase": "Making"})

    with pytest.raises(TimedOut, match=r"Widget .*/w is not there yet after 0\.1 s; it was last Making"):
        wait_for(client, Widget, made.key, lambda w: w.status.phase == "Ready", 0.1)


def test_a_wait_for_something_that_is_deleted_ends(client: Client, place: str) -> None:
    made = client.create(widget(place, "w"))

    def delete(_: Widget) -> None:
        client.delete(Widget, made.key)

    with pytest.raises(NotFound, match="deleted while we waited"):
        wait_for(client, Widget, made.key, lambda w: False, 20, delete)


def test_nothing_is_not_waited_for(client: Client, place: str) -> None:
    with pytest.raises(NotFound, match="there is no Widget"):
        wait_for(client, Widget, Key(place, "nobody"), lambda w: True, 20)


WAITING = Condition(type="Progressing", status="False", reason="NoRoom", message="waits for 2 GPUs")


@pytest.mark.parametrize(
    "obj, said",
    [
        (Widget(), "without a status: no controller has looked at it"),
        (Widget(status=WidgetStatus(phase="Making")), "Making"),
        (
            PaddleJob(spec=PaddleJobSpec(), status=PaddleJobStatus.model_validate({"conditions": [WAITING]})),
            "NoRoom: waits for 2 GPUs",
        ),
        (
            PaddleJob(
                spec=PaddleJobSpec(),
                status=PaddleJobStatus.model_validate({"phase": "Pending", "conditions": [WAITING]}),
            ),
            "Pending, NoRoom: waits for 2 GPUs",
        ),
    ],
)
def test_a_state_is_one_clause(obj: Resource, said: str) -> None:
    assert state_of(obj) == said
