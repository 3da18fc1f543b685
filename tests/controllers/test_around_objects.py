"""The pure pieces of the runtime: relations, ownership, statuses, events, health."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.cluster.widgets import Widget, WidgetStatus

from paddlecloud.api.core import ConfigMap, PersistentVolume, Pod
from paddlecloud.api.knative import KnativeService
from paddlecloud.api.meta import Key, Metadata, Resource
from paddlecloud.controllers.contract import Note, Ref, Selection
from paddlecloud.controllers.events import event_of
from paddlecloud.controllers.health import Health
from paddlecloud.controllers.ownership import adopted, left_behind, owner_key, owner_uid, placed
from paddlecloud.controllers.relations import Relations
from paddlecloud.controllers.statuses import status_patch

NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)
W = Widget(metadata=Metadata(name="w", namespace="ml", uid="u1"))


def config(name: str, namespace: str = "ml", **labels: str) -> ConfigMap:
    return ConfigMap(metadata=Metadata(name=name, namespace=namespace, labels=labels))


@pytest.mark.parametrize(
    "wish, changed, woken",
    [
        (Ref(ConfigMap, "ml", "a"), config("a"), True),
        (Ref(ConfigMap, "ml", "a"), config("a", "other"), False),
        (Ref(ConfigMap, "ml", "a"), Pod(metadata=Metadata(name="a", namespace="ml")), False),
        (Selection(ConfigMap), config("a", "anywhere"), True),
        (Selection(ConfigMap, "ml"), config("a", "other"), False),
        (Selection(ConfigMap, "ml", (("app", "x"),)), config("a", app="x", more="y"), True),
        (Selection(ConfigMap, "ml", (("app", "x"),)), config("a", app="z"), False),
    ],
)
def test_a_change_wakes_those_who_read_it(wish: Ref | Selection, changed: Resource, woken: bool) -> None:
    relations = Relations()
    relations.wants(W.key, [wish])

    assert relations.readers(changed) == ({W.key} if woken else set())


def test_a_wish_that_was_given_up_wakes_nobody() -> None:
    relations = Relations()
    relations.wants(W.key, [Ref(ConfigMap, "ml", "a"), Selection(ConfigMap), Selection(ConfigMap, "ml")])
    relations.wants(Key("ml", "v"), [Ref(ConfigMap, "ml", "a")])
    relations.wants(W.key, [Ref(ConfigMap, "ml", "b")])

    assert relations.readers(config("a")) == {Key("ml", "v")}
    assert relations.readers(config("b")) == {W.key}
    relations.wants(W.key, ())
    assert relations.readers(config("b")) == set()


def test_a_child_in_the_namespace_of_its_owner_carries_a_reference() -> None:
    child = adopted(placed(ConfigMap(metadata=Metadata(name="c")), W), W)

    assert child.wire()["metadata"] == {
        "name": "c",
        "namespace": "ml",
        "ownerReferences": [
            {
                "apiVersion": W.api_version,
                "kind": "Widget",
                "name": "w",
                "uid": "u1",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    assert (owner_uid(child), owner_key(child, Widget)) == ("u1", W.key)


def test_a_child_outside_the_namespace_of_its_owner_is_known_all_the_same() -> None:
    child = adopted(placed(PersistentVolume(metadata=Metadata(name="v")), W), W)

    # Kubernetes would take such a reference for a broken one.
    assert child.metadata.owner_references == [] and child.namespace == ""
    assert (owner_uid(child), owner_key(child, Widget)) == ("u1", W.key)


def test_a_child_of_another_kind_of_owner_is_not_taken_for_ours() -> None:
    stranger = KnativeService(metadata=Metadata(name="w", namespace="ml", uid="u2"))
    for child in (ConfigMap(metadata=Metadata(name="c")), PersistentVolume(metadata=Metadata(name="v"))):
        assert owner_key(adopted(placed(child, stranger), stranger), Widget) is None
    assert owner_key(config("orphan"), Widget) is None


@pytest.mark.parametrize(
    "owner, deleting, going",
    [
        (W.but(metadata=W.metadata.but(uid="before")), False, True),
        (W, False, False),
        (W, True, True),
        (W.but(metadata=W.metadata.but(name="v", uid="u3")), False, False),
    ],
)
def test_what_a_predecessor_left_behind_is_about_to_go(owner: Widget, deleting: bool, going: bool) -> None:
    child = adopted(config("c"), owner)
    if deleting:
        child = child.but(metadata=child.metadata.but(deletion_timestamp=NOW))

    assert left_behind(child, W) is going


@pytest.mark.parametrize(
    "stored, decided, patch",
    [
        ({}, WidgetStatus(), {}),
        ({}, WidgetStatus(phase="Ready"), {"phase": "Ready"}),
        ({"phase": "Ready", "parts": 2}, WidgetStatus(phase="Ready", parts=2), {}),
        ({"phase": "Ready", "parts": 2}, WidgetStatus(phase="Ready"), {"parts": None}),
        ({"phase": "Ready"}, WidgetStatus(), {"phase": None}),
        ({"seen": {"a": "1", "b": "2"}}, WidgetStatus(seen={"a": "1"}), {"seen": {"b": None}}),
        ({"seen": {"a": "1"}}, WidgetStatus(seen={"a": "1", "c": "3"}), {"seen": {"c": "3"}}),
        ({"seen": {"a": "1"}}, WidgetStatus(seen={}), {"seen": {"a": None}}),
        ({}, {"phase": None, "seen": {"a": None}}, {"seen": {}}),
        ({"parts": 0}, WidgetStatus(parts=0), {}),
    ],
)
def test_the_patch_makes_the_status_what_was_decided(stored: Any, decided: Any, patch: Any) -> None:
    obj = Widget.read({"metadata": {"name": "w"}, **({"status": stored} if stored else {})})

    assert status_patch(obj, decided) == patch


def test_the_same_sentence_has_the_same_name_and_another_one_has_not() -> None:
    note = Note("Warning", "NameTaken", "it exists")
    one = event_of(W, note, "widget", NOW)

    assert one.name.startswith("w.") and one.namespace == "ml"
    assert one.involved_object["uid"] == "u1" and one.last_timestamp == "2024-06-01T12:00:00Z"
    assert event_of(W, note, "widget", datetime.now(UTC)).name == one.name
    others = [note._replace(type="Normal"), note._replace(reason="X"), note._replace(message="Y")]
    reborn = W.but(metadata=W.metadata.but(uid="u2"))
    names = {event_of(W, other, "widget", NOW).name for other in others}
    assert len(names | {one.name, event_of(reborn, note, "widget", NOW).name}) == 5


def test_events_have_names_and_messages_a_server_accepts() -> None:
    long = Widget(metadata=Metadata(name="n" * 253, uid="u1"))
    event = event_of(long, Note("Normal", "R", "m" * 5000), "widget", NOW)

    assert len(event.name) == 253 and len(event.message) == 1024
    assert event.namespace == "default"


def test_health_tells_the_last_error_that_was_not_got_over() -> None:
    health = Health()
    assert health.last_error("widget") == ""
    health.failed("widget", Key("ml", "a"), "no room")
    health.failed("widget", Key("ml", "b"), "no air")
    assert health.last_error("widget") == "ml/b: no air"
    health.failed("widget", Key("ml", "a"), "no light")
    assert health.last_error("widget") == "ml/a: no light"
    health.succeeded("widget", Key("ml", "a"))
    health.succeeded("widget", Key("ml", "b"))
    assert health.last_error("widget") == ""
