"""HorizontalPodAutoscalers of two versions: one object; what v1 cannot say goes into annotations."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.kubernetes.rest import Rest

PREFIX = "autoscaling.alpha.kubernetes.io/"
TARGET = {"kind": "Deployment", "name": "x", "apiVersion": "apps/v1"}


def metric(kind: str, target: dict[str, Any], **source: Any) -> dict[str, Any]:
    return {"type": kind, kind[:1].lower() + kind[1:]: {**source, "target": target}}


def used(percent: int) -> dict[str, Any]:
    return {"type": "Utilization", "averageUtilization": percent}


def each(amount: str) -> dict[str, Any]:
    return {"type": "AverageValue", "averageValue": amount}


def whole(amount: str) -> dict[str, Any]:
    return {"type": "Value", "value": amount}


LABELLED = {"matchLabels": {"a": "b"}}
INGRESS = {"kind": "Ingress", "name": "i", "apiVersion": "networking.k8s.io/v1"}
CPU = metric("Resource", used(60), name="cpu")
MEMORY = metric("Resource", each("1Gi"), name="memory")
PODS = metric("Pods", each("1k"), metric={"name": "qps"})
EXTERNAL = metric("External", whole("30"), metric={"name": "q", "selector": LABELLED})
OBJECT = metric("Object", whole("2k"), describedObject=INGRESS, metric={"name": "r"})
CONTAINER = metric("ContainerResource", used(70), name="cpu", container="c")


def path(version: str, namespace: str, name: str = "") -> str:
    root = f"/apis/autoscaling/{version}/namespaces/{namespace}/horizontalpodautoscalers"
    return root + (f"/{name}" if name else "")


def scaler(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a"}, "spec": {"maxReplicas": 3, "scaleTargetRef": TARGET, **spec}}


def test_the_percentage_of_v1_is_a_metric_of_v2(rest: Rest, namespace: str) -> None:
    made = rest.post(path("v1", namespace), scaler(targetCPUUtilizationPercentage=60)).expect(201)
    assert made["spec"] == {
        "maxReplicas": 3, "minReplicas": 1, "scaleTargetRef": TARGET, "targetCPUUtilizationPercentage": 60,
    }  # fmt: skip
    seen = rest.get(path("v2", namespace, "a")).expect(200)
    assert seen["metadata"]["uid"] == made["metadata"]["uid"]
    assert seen["spec"]["metrics"] == [CPU]


def test_an_autoscaler_without_a_target_aims_at_80_percent(rest: Rest, namespace: str) -> None:
    made = rest.post(path("v1", namespace), scaler()).expect(201)
    assert made["spec"]["targetCPUUtilizationPercentage"] == 80


def test_v1_keeps_other_metrics_in_an_annotation(rest: Rest, namespace: str) -> None:
    metrics = [MEMORY, CPU, PODS, EXTERNAL, OBJECT, CONTAINER]
    rest.post(path("v2", namespace), scaler(metrics=metrics)).expect(201)
    seen = rest.get(path("v1", namespace, "a")).expect(200)
    assert seen["spec"]["targetCPUUtilizationPercentage"] == 60
    assert json.loads(seen["metadata"]["annotations"][f"{PREFIX}metrics"]) == [
        {"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1Gi"}},
        {"type": "Pods", "pods": {"metricName": "qps", "targetAverageValue": "1k"}},
        {
            "type": "External",
            "external": {"metricName": "q", "metricSelector": LABELLED, "targetValue": "30"},
        },
        {"type": "Object", "object": {"target": INGRESS, "metricName": "r", "targetValue": "2k"}},
        {
            "type": "ContainerResource",
            "containerResource": {"name": "cpu", "targetAverageUtilization": 70, "container": "c"},
        },
    ]


def test_a_change_through_v1_loses_nothing(rest: Rest, namespace: str) -> None:
    metrics = [MEMORY, CPU, PODS, EXTERNAL, OBJECT, CONTAINER]
    behavior = {"scaleDown": {"stabilizationWindowSeconds": 10}}
    made = rest.post(path("v2", namespace), scaler(metrics=metrics, behavior=behavior)).expect(201)
    rest.merge(path("v1", namespace, "a"), {"spec": {"maxReplicas": 9}}).expect(200)
    seen = rest.get(path("v2", namespace, "a")).expect(200)
    assert seen["spec"]["maxReplicas"] == 9
    assert seen["spec"]["behavior"] == made["spec"]["behavior"]
    # The target of v1 comes last.
    assert seen["spec"]["metrics"] == [MEMORY, PODS, EXTERNAL, OBJECT, CONTAINER, CPU]
    assert "annotations" not in seen["metadata"]


def test_an_annotation_nobody_can_read_is_none(rest: Rest, namespace: str) -> None:
    rest.post(path("v2", namespace), scaler(metrics=[CPU, MEMORY])).expect(201)
    change = {"metadata": {"annotations": {f"{PREFIX}metrics": "garbage"}}}
    rest.merge(path("v1", namespace, "a"), change).expect(200)
    assert rest.get(path("v2", namespace, "a")).expect(200)["spec"]["metrics"] == [CPU]


def test_the_status_is_one_too(rest: Rest, namespace: str) -> None:
    rest.post(path("v1", namespace), scaler(targetCPUUtilizationPercentage=50)).expect(201)
    status = {"currentReplicas": 1, "desiredReplicas": 2, "currentCPUUtilizationPercentage": 12}
    rest.merge(path("v1", namespace, "a/status"), {"status": status}).expect(200)
    seen = rest.get(path("v2", namespace, "a")).expect(200)["status"]
    current = {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 12}}}
    assert (seen["currentReplicas"], seen["currentMetrics"]) == (1, [current])


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_list_is_in_the_version_asked_for(rest: Rest, namespace: str, version: str) -> None:
    rest.post(path("v1", namespace), scaler(targetCPUUtilizationPercentage=50)).expect(201)
    answer = rest.get(path(version, namespace)).expect(200)
    assert answer["apiVersion"] == f"autoscaling/{version}"
    assert ("targetCPUUtilizationPercentage" in answer["items"][0]["spec"]) == (version == "v1")


def test_refusals_speak_of_the_newer_version(rest: Rest, namespace: str) -> None:
    answer = rest.post(path("v1", namespace), scaler(targetCPUUtilizationPercentage=-1)).expect(422)
    assert answer["message"] == (
        'HorizontalPodAutoscaler.autoscaling "a" is invalid: '
        "spec.metrics[0].resource.target.averageUtilization: Invalid value: -1: must be greater than 0"
    )
