"""From what is observed and what was decided to the smallest set of writes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.decisions.builders import NOW, a_claim, a_pod

from paddlecloud.api.core import ConfigMap, Pod, Secret, Service, StatefulSet
from paddlecloud.api.meta import Metadata, Resource
from paddlecloud.controllers.contract import Decision, Removal, Snapshot, difference, plan

A = Metadata(name="a", namespace="ml")


def config(**data: str) -> ConfigMap:
    return ConfigMap(metadata=A, data=data)


def group(**spec: Any) -> StatefulSet:
    return StatefulSet(metadata=A, spec=spec)


def writes(observed: list[Resource], *wanted: Resource, **more: Any) -> tuple[int, int, int]:
    made = plan(observed, Decision(None, wanted, **more))
    return len(made.create), len(made.update), len(made.delete)


@pytest.mark.parametrize(
    "observed, wanted, counts",
    [
        ([], [config(x="1")], (1, 0, 0)),
        ([config(x="1")], [config(x="1")], (0, 0, 0)),
        ([config(x="1")], [config(x="2")], (0, 1, 0)),
        ([config(x="1")], [], (0, 0, 1)),
        ([a_pod("a")], [config()], (1, 0, 1)),  # one name, two kinds
        ([a_pod("a", "Running")], [a_pod("a", "Failed", spec={"other": 1})], (0, 0, 0)),  # pods never change
    ],
)
def test_only_what_differs_is_written(
    observed: list[Resource], wanted: list[Resource], counts: tuple[int, int, int]
) -> None:
    assert writes(observed, *wanted) == counts


@pytest.mark.parametrize("child", [a_claim(), Secret(metadata=A, data={"key": "x"})])
def test_what_holds_data_goes_only_when_it_is_said(child: Resource) -> None:
    assert writes([child]) == (0, 0, 0)
    assert writes([child], removals=(Removal(child, "the owner said so"),)) == (0, 0, 1)


def test_what_is_going_already_is_not_deleted_again() -> None:
    going = config().but(metadata=A.but(deletion_timestamp=NOW))

    assert writes([going]) == (0, 0, 0)


@pytest.mark.parametrize(
    "have, want, patch",
    [
        (group(replicas=1), group(replicas=2), {"spec": {"replicas": 2}}),
        (group(replicas=1, policy="Parallel"), group(replicas=1), {}),  # what it does not say stays
        (group(a={"b": 1, "c": 2}), group(a={"b": 1}), {}),
        (config(x="1", y="2"), config(x="1"), {"data": {"y": None}}),  # data is ours as a whole
        (config(x="1"), config(), {"data": {"x": None}}),
        (group(selector={"a": "", "b": ""}), group(selector={"a": ""}), {"spec": {"selector": {"b": None}}}),
        (group(l=[{"name": "x", "added": 1}]), group(l=[{"name": "x"}]), {}),  # the server added something
        (group(l=[{"name": "x"}]), group(l=[{"name": "y"}]), {"spec": {"l": [{"name": "y"}]}}),
        (group(l=[1, 2]), group(l=[1]), {"spec": {"l": [1]}}),
        (group(), group(l=[], m={}, s="", n=None), {}),  # Kubernetes leaves out what is empty
        (group(l=[{"name": "x"}]), group(l=[{"name": "x", "env": [], "resources": {}}]), {}),
        (group(l=[1]), group(l=[]), {"spec": {"l": []}}),
        (group(n=1), group(n=0), {"spec": {"n": 0}}),
        (group(), group(n=0, b=False), {"spec": {"n": 0, "b": False}}),  # these say something
    ],
)  # fmt: skip
def test_the_patch_says_what_is_missing(have: Resource, want: Resource, patch: dict[str, Any]) -> None:
    assert difference(have, want) == patch


def test_of_the_metadata_only_labels_and_annotations_are_compared() -> None:
    have = Service(metadata=A.but(uid="u", resource_version="7", labels={"app": "x", "more": "y"}))
    want = Service(metadata=A.but(labels={"app": "z"}, finalizers=["f"]), status={"loadBalancer": {"x": 1}})

    assert difference(have, want) == {"metadata": {"labels": {"app": "z"}}}


def test_a_snapshot_keeps_kinds_apart() -> None:
    around = Snapshot(NOW, (a_pod("a"), config()), (a_pod("b"),))

    assert list(around.owned(Pod)) == ["a"] and list(around.owned(ConfigMap)) == ["a"]
    assert around.find(Pod, "b") is not None and around.find(Pod, "a") is None
    assert [p.name for p in around.all(Pod)] == ["b"]
