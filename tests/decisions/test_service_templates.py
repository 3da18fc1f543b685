"""PaddleService: the template of a revision says what the user said, in the words of Knative."""

from __future__ import annotations

from typing import Any

import pytest
from tests.decisions.builders import STORE, a_service, metadata

from paddlecloud.api.paddleservice import EndpointStatus, PaddleService
from paddlecloud.controllers.servingtemplates import resources, template_of

OWN: dict[str, Any] = {"containerImage": "example/server", "tag": "1", "port": 8000}


def written(**spec: Any) -> PaddleService:
    return PaddleService.read({"metadata": metadata("shapes"), "spec": {"default": OWN, **spec}})


def template(service: PaddleService, **pinned: str) -> dict[str, Any]:
    return template_of(service, service.spec.default, EndpointStatus(**pinned))


def container(service: PaddleService, **pinned: str) -> dict[str, Any]:
    found: dict[str, Any] = template(service, **pinned)["spec"]["containers"][0]
    return found


def test_an_own_image_runs_as_it_is_told() -> None:
    made = container(a_service(**OWN, arg="serve --fast"))

    assert (made["image"], made["imagePullPolicy"]) == ("example/server:1", "Always")
    assert (made["command"], made["args"]) == (["/bin/bash", "-c"], ["serve --fast"])
    assert made["ports"] == [{"containerPort": 8000, "name": "http1", "protocol": "TCP"}]


def test_what_a_user_says_of_the_container_is_honoured() -> None:
    probe = {"httpGet": {"path": "/up", "port": 8000}}
    service = written(
        runtimeVersion="paddleserving",
        workingDir="/srv",
        env=[{"name": "A", "value": "1"}],
        readinessProbe=probe,
        imagePullPolicy="IfNotPresent",
        resources={"limits": {"nvidia.com/gpu": 1}},
        nodeSelector={"a": "b"},
        service={"target": 3},
        volumes=[{"name": "v"}],
        volumeMounts=[{"name": "v", "mountPath": "/v"}],
    )
    made, pod = container(service), template(service)["spec"]

    assert (made["name"], made["workingDir"], made["imagePullPolicy"]) == (
        "paddleserving",
        "/srv",
        "IfNotPresent",
    )
    assert made["env"] == [{"name": "A", "value": "1"}] and made["readinessProbe"] == probe
    assert made["resources"]["limits"]["nvidia.com/gpu"] == 1
    assert pod["nodeSelector"] == {"a": "b"} and pod["volumes"] == [{"name": "v"}]
    assert (pod["containerConcurrency"], pod["timeoutSeconds"]) == (3, 300)


@pytest.mark.parametrize(
    "given, requests, limits",
    [
        ({}, {"cpu": "200m", "memory": "512Mi"}, {"cpu": "1", "memory": "2Gi"}),
        ({"requests": {"cpu": "4"}}, {"cpu": "4", "memory": "512Mi"}, {"cpu": "4", "memory": "2Gi"}),
        ({"limits": {"cpu": "100m"}}, {"cpu": "100m", "memory": "512Mi"}, {"cpu": "100m", "memory": "2Gi"}),
        ({"requests": {"memory": "3Gi"}, "limits": {"cpu": 2}}, {"cpu": "200m", "memory": "3Gi"},
         {"cpu": 2, "memory": "3Gi"}),
    ],
)  # fmt: skip
def test_a_default_never_contradicts_what_the_user_said(
    given: dict[str, Any], requests: dict[str, Any], limits: dict[str, Any]
) -> None:
    assert resources(given, defaulted=True) == {"requests": requests, "limits": limits}


def test_a_model_is_fetched_by_its_pinned_version_before_it_is_served() -> None:
    made = container(a_service(model="shapes@latest", port=9000), model_version="shapes-1", storage=STORE)

    assert made["command"] == [
        "python", "-m", "paddlecloud.hubserver", f"--store={STORE}", "--model=shapes",
        "--version=shapes-1", "--to=/model", "--port=9000",
    ]  # fmt: skip
    assert made["readinessProbe"]["httpGet"]["port"] == 9000


def test_names_from_users_are_no_shell() -> None:
    service = a_service(model="a;rm -rf@latest")

    assert "--model=a;rm -rf" in container(service, model_version="v", storage=STORE)["command"]


USUAL = {
    "class": "kpa.autoscaling.knative.dev",
    "metric": "concurrency",
    "target": "100",
    "window": "60s",
    "target-utilization-percentage": "70",
    "panic-window-percentage": "10",
    "panic-threshold-percentage": "200",
    "min-scale": "0",
    "max-scale": "0",
}


@pytest.mark.parametrize(
    "scaling, changed",
    [
        ({}, {}),
        ({"minScale": 0, "maxScale": 3}, {"max-scale": "3"}),
        (
            {"metric": "rps", "target": 10, "window": "10s"},
            {"metric": "rps", "target": "10", "window": "10s"},
        ),
        (
            {"panicWindow": "20", "panicThreshold": "300", "targetUtilization": "50", "minScale": 2},
            {
                "panic-window-percentage": "20",
                "panic-threshold-percentage": "300",
                "target-utilization-percentage": "50",
                "min-scale": "2",
            },
        ),
        (
            {"autoscaler": "hpa.autoscaling.knative.dev"},
            {"class": "hpa.autoscaling.knative.dev", "metric": "cpu"},
        ),
        (
            {"metric": "cpu", "target": 50},
            {"class": "hpa.autoscaling.knative.dev", "metric": "cpu", "target": "50"},
        ),
    ],
)
def test_all_nine_settings_are_said_in_the_words_of_knative(
    scaling: dict[str, Any], changed: dict[str, str]
) -> None:
    given = template(written(service=scaling))["metadata"]["annotations"]
    prefix = "autoscaling.knative.dev/"

    assert {k.removeprefix(prefix): v for k, v in given.items() if k.startswith(prefix)} == USUAL | changed


def test_a_target_of_processors_is_no_limit_of_requests() -> None:
    assert template(written(service={"target": 50}))["spec"]["containerConcurrency"] == 50
    assert template(written(service={"metric": "cpu", "target": 50}))["spec"]["containerConcurrency"] == 0


@pytest.mark.parametrize(
    "given, expected",
    [
        ({}, {"requests": {"cpu": "200m"}}),
        ({"requests": {"memory": "1Gi"}}, {"requests": {"cpu": "200m", "memory": "1Gi"}}),
        ({"limits": {"cpu": "2"}}, {"limits": {"cpu": "2"}}),
    ],
)
def test_a_model_whose_processors_decide_asks_for_some(given: dict[str, Any], expected: Any) -> None:
    service = written(default={"model": "shapes@latest"}, service={"metric": "cpu"}, resources=given)

    assert container(service, model_version="v", storage=STORE)["resources"] == expected
