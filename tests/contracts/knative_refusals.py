"""Knative Services that a cluster refuses: by Knative's webhook, or by the rules of what stands in for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.kubernetes.rest import Rest

Body = dict[str, Any]


@dataclass(frozen=True)
class Case:
    name: str
    annotations: dict[str, str] = field(default_factory=dict)
    """Of the template, without the domain in front."""
    template: Body = field(default_factory=dict)
    """More of the template's spec."""
    spec: Body = field(default_factory=dict)
    """More of the Service's spec."""
    words: str = ""
    """What a refusal names."""


def scaled(name: str, text: str, **more: str) -> Case:
    return Case(f"{name}-{text}", {name: text, **more}, words=name)


REFUSED = (
    scaled("min-scale", "-1"),
    scaled("min-scale", "many"),
    scaled("max-scale", "1", **{"min-scale": "2"}),
    scaled("window", "2s"),
    scaled("window", "2h"),
    scaled("window", "soon"),
    scaled("class", "own.autoscaling.knative.dev"),
    scaled("metric", "cpu"),
    scaled("target", "0"),
    scaled("target-utilization-percentage", "101"),
    scaled("panic-window-percentage", "0.5"),
    scaled("panic-threshold-percentage", "100"),
    Case("no-container", template={"containers": []}, words="containers"),
    Case("concurrency", template={"containerConcurrency": 1001}, words="containerConcurrency"),
    Case("timeout", template={"timeoutSeconds": 601}, words="timeoutSeconds"),
    Case("share-101", spec={"traffic": [{"latestRevision": True, "percent": 101}]}, words="percent"),
    Case("sum-90", spec={"traffic": [{"latestRevision": True, "percent": 90}]}, words="sum to"),
    Case(
        "both",
        spec={"traffic": [{"latestRevision": True, "revisionName": "x-1", "percent": 100}]},
        words="latestRevision",
    ),
    Case(
        "neither",
        spec={"traffic": [{"latestRevision": False, "percent": 100}]},
        words="latestRevision",
    ),
    Case(
        "one-tag-twice",
        spec={
            "traffic": [
                {"latestRevision": True, "percent": 50, "tag": "x"},
                {"latestRevision": True, "percent": 50, "tag": "x"},
            ]
        },
        words="tag",
    ),
    Case(
        "foreign-name",
        spec={"template": {"metadata": {"name": "other-1"}, "spec": {"containers": [{"image": "a/b:1"}]}}},
        words="prefix",
    ),
)


def body_of(case: Case) -> Body:
    notes = {f"autoscaling.knative.dev/{name}": text for name, text in case.annotations.items()}
    spec = {"containers": [{"image": "dev.local/hello:a"}], **case.template}
    return {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": "tried"},
        "spec": {"template": {"metadata": {"annotations": notes}, "spec": spec}, **case.spec},
    }


def refused(rest: Rest, namespace: str, case: Case) -> None:
    """One that differs from a good one in one thing."""
    path = f"/apis/serving.knative.dev/v1/namespaces/{namespace}/services"
    rest.post(path, body_of(Case("good")), dryRun="All").expect(201)
    answer = rest.post(path, body_of(case), dryRun="All")
    assert answer.status in (400, 422), answer.text
    assert case.words in answer.body["message"]
