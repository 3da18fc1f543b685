"""What goes with a package to a cluster with Kubeflow Pipelines."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.api.workflowgraph import Graph
from paddlecloud.pipelines.exporting import resources_for


def graph(image: str, **step: Any) -> Graph:
    pod = {"spec": {"containers": [{"name": "main", "image": image}]}}
    return Graph.model_validate({"name": "g", "steps": [{"name": "a", "form": "ir", "pod": pod, **step}]})


@pytest.mark.parametrize("image, needed", [("busybox", False), ("paddlecloud/core:1.0", True)])
def test_only_steps_of_our_components_need_anything(image: str, needed: bool) -> None:
    assert bool(resources_for(graph(image), "kubeflow")) is needed


def test_the_kinds_come_with_the_right_to_make_them() -> None:
    *kinds, role, binding = resources_for(graph("paddlecloud/core"), "team", "trainer")

    names = {k["metadata"]["name"] for k in kinds}
    assert {"paddlejobs.batch.paddlepaddle.org", "samplesets.batch.paddlepaddle.org"} <= names
    # On a cluster Kubeflow Pipelines itself runs the pipelines.
    assert not any("workflows" in name for name in names)
    allowed = {f"{r}.{g}" for rule in role["rules"] for g in rule["apiGroups"] for r in rule["resources"]}
    assert names <= allowed
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "trainer", "namespace": "team"}]
    assert {role["metadata"]["namespace"], binding["metadata"]["namespace"]} == {"team"}
