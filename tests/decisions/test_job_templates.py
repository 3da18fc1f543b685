"""PaddleJobs whose templates cannot become pods: refused by the schema, told where they are older than it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.decisions.builders import NOW, a_job, a_role, condition_of, named, seen

from paddlecloud.controllers.contract import Snapshot
from paddlecloud.controllers.paddlejob import asks, reconcile, related


def test_a_template_without_containers_stops_nothing() -> None:
    # Refused by the schema; an object from before the schema must not stop the controller either.
    job = a_job(worker={"replicas": 1, "template": {}})

    assert named(reconcile(job, seen(job))) == ["Pod/wide-deep-worker-0"]


MAIN: dict[str, Any] = {"name": "main", "image": "example/paddle:1"}


@pytest.mark.parametrize(
    "template, sentence",
    [
        ({"spec": "x"}, "spec.worker.template.spec must be an object"),
        ({"spec": {"containers": {}}}, "spec.worker.template.spec.containers must be a list"),
        ({"spec": {"containers": ["x"]}}, "spec.worker.template.spec.containers[0] must be an object"),
        ({"spec": {"containers": [None]}}, "spec.worker.template.spec.containers[0] must be an object"),
        (
            {"spec": {"containers": [MAIN], "volumes": "x"}},
            "spec.worker.template.spec.volumes must be a list",
        ),
        (
            {"spec": {"containers": [MAIN | {"env": {"A": "b"}}]}},
            "spec.worker.template.spec.containers[0].env must be a list",
        ),
        (
            {"spec": {"containers": [MAIN | {"resources": {"limits": 2}}]}},
            "spec.worker.template.spec.containers[0].resources.limits must be an object",
        ),
        (
            {"metadata": "x", "spec": {"containers": [MAIN]}},
            "spec.worker.template.metadata must be an object",
        ),
        (
            {"metadata": {"labels": {"a": 1}}, "spec": {"containers": [MAIN]}},
            "spec.worker.template.metadata.labels.a must be a text",
        ),
    ],
)
def test_a_template_of_a_wrong_shape_from_before_its_schema_is_told(template: Any, sentence: str) -> None:
    job = a_job(worker={"replicas": 2, "template": template})
    decision = reconcile(job, seen(job))
    told = condition_of(decision, "Progressing")

    assert (told.status, told.reason) == ("False", "InvalidTemplate")
    assert told.message.startswith(f"{sentence}: ") and "make a new one" in told.message
    assert not decision.children and [n.reason for n in decision.notes] == ["InvalidTemplate"]
    assert related(job) == () and asks(job, seen(job)) == ()


def test_what_a_template_leaves_empty_has_no_wrong_shape() -> None:
    job = a_job(worker=a_role(1, containers=[MAIN | {"env": None, "resources": None}], volumes=None))

    assert named(reconcile(job, seen(job))) == ["Pod/wide-deep-worker-0"]


def test_what_could_not_be_made_is_what_the_job_waits_for() -> None:
    job = a_job(worker=1)
    why = 'Pod "wide-deep-worker-0" is invalid: spec.containers[0].volumeMounts[0].name: Not found: "nope"'
    told = condition_of(reconcile(job, Snapshot(NOW, refused=(why,))), "Progressing")

    assert (told.status, told.reason) == ("False", "FailedCreate") and why in told.message
