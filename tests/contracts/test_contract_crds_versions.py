"""Versions of custom kinds: all of them show the same objects, one of them is stored."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.definitions import (
    definition,
    served,
    version,
)
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until


@pytest.fixture
def namespace(common_namespace: str) -> str:
    """One for all: every case has a kind of its own, and takes its objects with it."""
    return common_namespace


def two_versions(**second: Any) -> dict[str, Any]:
    return definition(version(name="v1"), version(name="v2", **{"storage": False, **second}))


def test_an_object_can_be_read_in_every_served_version(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, two_versions()) as widgets:
        made = widgets.create(a="one").expect(201)
        again = rest.get(widgets.path("x", "v2")).expect(200)
        assert again == {**made, "apiVersion": f"{widgets.group}/v2"} or (
            again["spec"] == made["spec"] and again["apiVersion"] == f"{widgets.group}/v2"
        )
        listed = rest.get(widgets.path(version="v2")).expect(200)
        assert listed["apiVersion"] == f"{widgets.group}/v2"
        assert [item["apiVersion"] for item in listed["items"]] == [f"{widgets.group}/v2"]
        with rest.watch(widgets.path(version="v2")) as events:
            assert next(events).object["apiVersion"] == f"{widgets.group}/v2"


def test_an_object_can_be_written_in_every_served_version(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, two_versions()) as widgets:
        widgets.create(a="one").expect(201)
        changed = rest.merge(widgets.path("x", "v2"), {"spec": {"a": "two"}}).expect(200)
        assert changed["apiVersion"] == f"{widgets.group}/v2"
        assert rest.get(widgets.path("x")).expect(200)["spec"]["a"] == "two"
        assert rest.get(widgets.path("x")).expect(200)["apiVersion"] == f"{widgets.group}/v1"


def test_versions_are_offered_the_most_mature_first(rest: Rest, namespace: str) -> None:
    names = ["v1alpha1", "v1", "v1beta2", "v10", "v2", "v1beta1"]
    versions = [version(name=name, storage=name == "v1") for name in names]
    with served(rest, namespace, definition(*versions)) as widgets:
        group = rest.get(f"/apis/{widgets.group}").expect(200)
        order = [v["version"] for v in group["versions"]]
        assert order == ["v10", "v2", "v1", "v1beta2", "v1beta1", "v1alpha1"]
        assert group["preferredVersion"]["version"] == "v10"


def test_a_new_stored_version_is_remembered_beside_the_old_one(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, two_versions()) as widgets:
        versions = [version(name="v1", storage=False), version(name="v2")]
        rest.merge(widgets.at, {"spec": {"versions": versions}}).expect(200)
        until(
            lambda: rest.get(widgets.at).expect(200)["status"]["storedVersions"] == ["v1", "v2"],
            what="both versions remembered",
        )
        answer = rest.merge(widgets.at, {"spec": {"versions": [version(name="v2")]}}).expect(422)
        assert answer["details"]["causes"][0]["field"] == "status.storedVersions[0]"


@pytest.mark.parametrize(
    "own, warning",
    [({}, "{group}/v2 Widget is deprecated"), ({"deprecationWarning": "use v1"}, "use v1")],
)
def test_a_deprecated_version_warns_who_uses_it(
    rest: Rest, namespace: str, own: dict[str, Any], warning: str
) -> None:
    with served(rest, namespace, two_versions(deprecated=True, **own)) as widgets:
        answer = rest.get(widgets.path(version="v2"))
        assert answer.headers["Warning"] == f'299 - "{warning.format(group=widgets.group)}"'
        made = rest.post(widgets.path(version="v2"), widgets.body(version="v2"))
        assert made.headers["Warning"] == answer.headers["Warning"]
        assert "Warning" not in rest.get(widgets.path()).headers


def test_a_version_that_is_not_served_is_not_found(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, two_versions(served=False)) as widgets:
        assert rest.get(widgets.path(version="v2")).status == 404
