"""Changing objects: conflicts, patches, and changes that change nothing."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import config_map, core, jobs, paddle_job
from tests.kubernetes.rest import Rest


@pytest.fixture
def path(rest: Rest, namespace: str) -> str:
    """A ConfigMap with two entries."""
    rest.post(core(namespace, "configmaps"), config_map(labels={"app": "x"}, a="1", b="2")).expect(201)
    return core(namespace, "configmaps", "settings")


def test_an_update_replaces_the_whole_object(rest: Rest, path: str) -> None:
    body = rest.put(path, config_map(c="3")).expect(200)
    assert body["data"] == {"c": "3"}
    assert "labels" not in body["metadata"]


def test_an_update_keeps_identity_and_moves_the_version(rest: Rest, path: str) -> None:
    before = rest.get(path).expect(200)["metadata"]
    after = rest.put(path, config_map(c="3")).expect(200)["metadata"]
    assert (after["uid"], after["creationTimestamp"]) == (before["uid"], before["creationTimestamp"])
    assert int(after["resourceVersion"]) > int(before["resourceVersion"])


def test_the_second_of_two_writers_is_told_to_look_again(rest: Rest, path: str) -> None:
    mine = rest.get(path).expect(200)
    rest.merge(path, {"data": {"a": "theirs"}}).expect(200)
    mine["data"]["a"] = "mine"
    answer = rest.put(path, mine).expect(409)
    assert answer["reason"] == "Conflict"
    assert answer["details"] == {"name": "settings", "kind": "configmaps"}
    assert answer["message"] == (
        'Operation cannot be fulfilled on configmaps "settings": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    assert rest.get(path).body["data"]["a"] == "theirs"


def test_a_patch_may_name_the_version_it_is_for(rest: Rest, path: str) -> None:
    old = rest.get(path).version
    new = rest.merge(path, {"data": {"a": "2"}, "metadata": {"resourceVersion": old}}).version
    assert rest.merge(path, {"data": {"a": "3"}, "metadata": {"resourceVersion": old}}).status == 409
    assert rest.get(path).version == new


def test_an_update_for_another_uid_is_a_conflict(rest: Rest, path: str) -> None:
    body = config_map(c="3")
    body["metadata"]["uid"] = "00000000-0000-0000-0000-000000000000"
    answer = rest.put(path, body).expect(409)
    assert "Precondition failed: UID in precondition" in answer["message"]


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_what_does_not_exist_is_not_updated_into_being(rest: Rest, namespace: str, method: str) -> None:
    path = core(namespace, "configmaps", "ghost")
    answer = rest.put(path, config_map("ghost")) if method == "PUT" else rest.merge(path, {"data": {}})
    # Kubernetes lets an update create some kinds, ConfigMaps among them not.
    assert answer.expect(404)["message"] == 'configmaps "ghost" not found'


def test_a_body_for_another_name_is_refused(rest: Rest, path: str) -> None:
    answer = rest.put(path, config_map("other")).expect(400)
    assert "the name of the object (other) does not match the name on the URL (settings)" in answer["message"]


@pytest.mark.parametrize(
    "patch, data",
    [
        ({"data": {"a": "9"}}, {"a": "9", "b": "2"}),
        ({"data": {"a": None}}, {"b": "2"}),
        ({"data": {"c": "3"}}, {"a": "1", "b": "2", "c": "3"}),
        ({"data": None}, None),
    ],
)
def test_a_merge_patch_changes_what_it_names(
    rest: Rest, path: str, patch: dict[str, Any], data: dict[str, str] | None
) -> None:
    assert rest.merge(path, patch).expect(200).get("data") == data


@pytest.mark.parametrize(
    "patch, data",
    [
        ([{"op": "replace", "path": "/data/a", "value": "9"}], {"a": "9", "b": "2"}),
        ([{"op": "add", "path": "/data/c", "value": "3"}], {"a": "1", "b": "2", "c": "3"}),
        ([{"op": "remove", "path": "/data/a"}], {"b": "2"}),
        ([{"op": "move", "from": "/data/a", "path": "/data/z"}], {"b": "2", "z": "1"}),
        ([{"op": "copy", "from": "/data/a", "path": "/data/z"}], {"a": "1", "b": "2", "z": "1"}),
        (
            [
                {"op": "test", "path": "/data/a", "value": "1"},
                {"op": "replace", "path": "/data/a", "value": "2"},
            ],
            {"a": "2", "b": "2"},
        ),
        ([{"op": "add", "path": "/data/x~1y", "value": "4"}], None),
    ],
)
def test_a_json_patch_does_what_it_says(
    rest: Rest, path: str, patch: list[dict[str, Any]], data: dict[str, str] | None
) -> None:
    answer = rest.json_patch(path, patch)
    if data is None:  # the pointer is read right, and `x/y` is then no key for a ConfigMap
        assert "x/y" in answer.expect(422)["message"]
    else:
        assert answer.expect(200)["data"] == data


@pytest.mark.parametrize(
    "patch",
    [
        [{"op": "test", "path": "/data/a", "value": "other"}],
        [{"op": "remove", "path": "/data/missing"}],
        [{"op": "replace", "path": "/data/a", "value": "9"}, {"op": "remove", "path": "/data/missing"}],
    ],
)
def test_a_json_patch_that_does_not_fit_changes_nothing(
    rest: Rest, path: str, patch: list[dict[str, Any]]
) -> None:
    before = rest.get(path).body
    assert rest.json_patch(path, patch).expect(422)["reason"] == "Invalid"
    assert rest.get(path).body == before


@pytest.mark.parametrize("way", ["put", "merge", "json"])
def test_a_change_that_changes_nothing_is_not_written(rest: Rest, path: str, way: str) -> None:
    before = rest.get(path).expect(200)
    answers = {
        "put": lambda: rest.put(path, before),
        "merge": lambda: rest.merge(path, {"data": {"a": "1"}}),
        "json": lambda: rest.json_patch(path, [{"op": "replace", "path": "/data/a", "value": "1"}]),
    }
    assert answers[way]().expect(200)["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


def test_a_dry_run_of_a_patch_changes_nothing(rest: Rest, path: str) -> None:
    before = rest.get(path).body
    assert rest.merge(path, {"data": {"a": "9"}}, dryRun="All").expect(200)["data"]["a"] == "9"
    assert rest.get(path).body == before


def test_a_patch_of_no_known_kind_is_refused(rest: Rest, path: str) -> None:
    answer = rest.send("PATCH", path, {}, headers={"Content-Type": "application/json"})
    assert answer.expect(415)["reason"] == "UnsupportedMediaType"


def test_our_kinds_take_no_strategic_patch(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    answer = rest.send(
        "PATCH",
        jobs(namespace, "train"),
        {},
        headers={"Content-Type": "application/strategic-merge-patch+json"},
    )
    assert answer.expect(415)["reason"] == "UnsupportedMediaType"


def test_the_uid_cannot_be_patched(rest: Rest, path: str) -> None:
    assert rest.merge(path, {"metadata": {"uid": "mine"}}).status in (409, 422)
