"""A PaddleJob of Kubeflow in the words of ours, and back: what is said, and what is not done."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import CONTAINER, NAMESPACE, NOW, a_job, metadata

from paddlecloud.api.kubeflow import KubeflowPaddleJob
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.controllers.contract import Decision, Snapshot
from paddlecloud.controllers.kubeflowjob import CONTROLLER
from paddlecloud.controllers.kubeflowspec import FOR_EVER, hindrances, next_patch, translated

Body = dict[str, Any]
TEMPLATE: Body = {"spec": {"containers": [CONTAINER]}}
OTHER: Body = {"spec": {"containers": [{**CONTAINER, "image": "example/other:1"}]}}
PLAIN: Body = {
    "cleanPodPolicy": "Never",
    "intranet": "PodIP",
    "worker": {"replicas": 2, "template": TEMPLATE},
    "backoffLimit": FOR_EVER,
}


def role(replicas: int = 2, **more: Any) -> Body:
    return {"replicas": replicas, "template": TEMPLATE, **more}


def a_kubeflow_job(
    roles: Body | None = None, *, status: Mapping[str, Any] | None = None, **spec: Any
) -> KubeflowPaddleJob:
    spec["paddleReplicaSpecs"] = roles or {"Worker": role()}
    body = {"metadata": metadata("train"), "spec": spec}
    return KubeflowPaddleJob.read(body | ({"status": status} if status else {}))


def ours(owner: str = "uid-train", **status: Any) -> PaddleJob:
    """The job that stands for it, or one of its name that belongs to somebody else."""
    owners = [{"apiVersion": "kubeflow.org/v1", "kind": "PaddleJob", "name": "train", "uid": owner}]
    about = metadata("train", ownerReferences=[{**owners[0], "controller": True}])
    return PaddleJob.read({"metadata": about, "spec": PLAIN, "status": status})


def decide(job: KubeflowPaddleJob, *children: PaddleJob, **more: Any) -> Decision:
    return CONTROLLER.reconcile(job, Snapshot(NOW, children, **more))


def conditions(decision: Decision) -> list[tuple[str, str]]:
    assert decision.status is not None and not isinstance(decision.status, dict)
    return [(c["type"], c["status"]) for c in decision.status.wire()["conditions"]]


def message(decision: Decision, kind: str) -> tuple[str, str]:
    assert decision.status is not None and not isinstance(decision.status, dict)
    return next(
        (c["reason"], c["message"]) for c in decision.status.wire()["conditions"] if c["type"] == kind
    )


ELASTIC = {"replicas": 2, "template": TEMPLATE}


@pytest.mark.parametrize(
    "roles, spec, expected",
    [
        ({"Worker": role()}, {}, {}),
        ({"Master": role(2)}, {}, {}),
        ({"Master": role(1), "Worker": role(1)}, {}, {}),
        ({"Worker": {"template": TEMPLATE}}, {}, {"worker": {"replicas": 1, "template": TEMPLATE}}),
        ({"Worker": role(restartPolicy="Never")}, {}, {"backoffLimit": 0}),
        ({"Worker": role(restartPolicy="Never")}, {"runPolicy": {"backoffLimit": 3}}, {"backoffLimit": 0}),
        ({"Worker": role()}, {"runPolicy": {"backoffLimit": 3}}, {"backoffLimit": 3}),
        ({"Worker": role()}, {"runPolicy": {"cleanPodPolicy": "None"}}, {}),
        ({"Worker": role()}, {"runPolicy": {"cleanPodPolicy": "All"}}, {"cleanPodPolicy": "Always"}),
        ({"Worker": role()}, {"runPolicy": {"activeDeadlineSeconds": 9}}, {"activeDeadlineSeconds": 9}),
        ({"Worker": role()}, {"runPolicy": {"suspend": True}}, {"suspend": True}),
        ({"Worker": role()}, {"runPolicy": {"suspend": False, "ttlSecondsAfterFinished": 5}}, {}),
        (
            {"Worker": role()},
            {"runPolicy": {"schedulingPolicy": {"minAvailable": 1, "queue": "q", "priorityClass": "p"}}},
            {"schedulingPolicy": {"minAvailable": 1, "queue": "q", "priorityClass": "p"}},
        ),
        ({"Worker": role()}, {"runPolicy": {"schedulingPolicy": {}}}, {"schedulingPolicy": {}}),
        (
            {"Worker": role()},
            {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 4, "maxRestarts": 6}},
            {"elastic": 1, "worker": {**ELASTIC, "requests": 1, "limits": 4}, "backoffLimit": 6},
        ),
        (
            {"Master": role(1), "Worker": role(1)},
            {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 4}},
            {"elastic": 1, "worker": {**ELASTIC, "requests": 2, "limits": 5}},
        ),
        (
            {"Worker": role()},
            {"elasticPolicy": {"maxReplicas": 2}},
            {"elastic": 1, "worker": {**ELASTIC, "requests": 2, "limits": 2}},
        ),
        (
            {"Worker": role()},
            {"elasticPolicy": {}},
            {"elastic": 1, "worker": {**ELASTIC, "requests": 2, "limits": 2}},
        ),
    ],
)
def test_a_job_is_said_in_our_words(roles: Body, spec: Body, expected: Body) -> None:
    job = a_kubeflow_job(roles, **spec)

    assert hindrances(job.spec) == []
    assert translated(job.spec) == PLAIN | expected
    [made] = decide(job).children
    assert isinstance(made, PaddleJob) and (made.name, made.namespace) == ("train", NAMESPACE)
    assert made.wire()["spec"] == PLAIN | expected


@pytest.mark.parametrize(
    "roles, spec, word",
    [
        ({"Master": role(), "Worker": role(template=OTHER)}, {}, "the templates of Master and Worker differ"),
        ({"Master": role(restartPolicy="Never"), "Worker": role()}, {}, "the restartPolicy of Master"),
        ({"Worker": role(restartPolicy="ExitCode")}, {}, "write OnFailure or Never"),
        ({"Worker": role(restartPolicy="Always")}, {}, "write OnFailure or Never"),
        ({"Worker": role()}, {"runPolicy": {"cleanPodPolicy": "Running"}}, "write All or None"),
        (
            {"Worker": role()},
            {"runPolicy": {"schedulingPolicy": {"scheduleTimeoutSeconds": 5}}},
            "scheduleTimeoutSeconds is not supported",
        ),
        ({"Master": role()}, {"elasticPolicy": {}}, "elasticPolicy needs workers"),
        ({"Worker": role()}, {"elasticPolicy": {"minReplicas": 3}}, "Worker.replicas is not between"),
        ({"Worker": role()}, {"elasticPolicy": {"maxReplicas": 1}}, "Worker.replicas is not between"),
        ({"Worker": role()}, {"elasticPolicy": {"metrics": [{"type": "Pods"}]}}, "elasticPolicy.metrics"),
        (
            {"Worker": role()},
            {"elasticPolicy": {"maxRestarts": 1}, "runPolicy": {"backoffLimit": 2}},
            "elasticPolicy.maxRestarts and runPolicy.backoffLimit differ",
        ),
    ],
)
def test_what_would_be_done_otherwise_is_refused_in_a_sentence(roles: Body, spec: Body, word: str) -> None:
    decision = decide(a_kubeflow_job(roles, **spec))

    assert decision.children == ()
    assert conditions(decision) == [("Created", "True"), ("Failed", "True")]
    reason, sentence = message(decision, "Failed")
    assert reason == "NotSupported" and word in sentence


@pytest.mark.parametrize(
    "status, expected",
    [
        ({}, [("Created", "True")]),
        ({"phase": "Starting"}, [("Created", "True")]),
        ({"phase": "Running"}, [("Created", "True"), ("Running", "True")]),
        ({"phase": "Restarting"}, [("Created", "True"), ("Restarting", "True")]),
        (
            {"phase": "Completed", "startTime": NOW},
            [("Created", "True"), ("Running", "False"), ("Succeeded", "True")],
        ),
        (
            {"phase": "Failed", "startTime": NOW},
            [("Created", "True"), ("Running", "False"), ("Failed", "True")],
        ),
        ({"phase": "Failed"}, [("Created", "True"), ("Failed", "True")]),
        (
            {"conditions": [{"type": "Suspended", "status": "True"}]},
            [("Created", "True"), ("Suspended", "True")],
        ),
        (
            {"phase": "Running", "conditions": [{"type": "Suspended", "status": "False"}]},
            [("Created", "True"), ("Suspended", "False"), ("Running", "True")],
        ),
    ],
)
def test_the_state_of_ours_is_told_in_their_words(status: Body, expected: list[tuple[str, str]]) -> None:
    assert conditions(decide(a_kubeflow_job(), ours(**status))) == expected


@pytest.mark.parametrize(
    "phase, condition, kind",
    [
        ("Pending", {"type": "Progressing", "status": "False", "message": "no node"}, "Created"),
        ("Restarting", {"type": "Progressing", "status": "True", "message": "restart 1"}, "Restarting"),
        ("Failed", {"type": "Failed", "status": "True", "message": "exit code 1"}, "Failed"),
    ],
)
def test_the_words_of_ours_are_handed_on(phase: str, condition: Body, kind: str) -> None:
    decision = decide(a_kubeflow_job(), ours(phase=phase, conditions=[condition]))

    assert message(decision, kind)[1] == condition["message"]


@pytest.mark.parametrize("roles, place", [({"Worker": role()}, "Worker"), ({"Master": role()}, "Master")])
def test_the_pods_are_counted(roles: Body, place: str) -> None:
    counts = {"running": 1, "succeeded": 2, "failed": 3}
    decision = decide(a_kubeflow_job(roles), ours(worker=counts, selector="a=b"))

    assert decision.status is not None and not isinstance(decision.status, dict)
    assert decision.status.wire()["replicaStatuses"] == {
        place: {"active": 1, "succeeded": 2, "failed": 3, "selector": "a=b"}
    }


def test_the_time_of_a_condition_stays_until_it_changes() -> None:
    before = NOW - timedelta(hours=1)
    stamps = {"lastTransitionTime": before, "lastUpdateTime": before}
    old = {"type": "Created", "status": "True", "reason": "PaddleJobCreated"}
    same = {**old, "message": "PaddleJob train is created.", **stamps}
    told = decide(a_kubeflow_job(status={"conditions": [same]}), ours()).status
    assert told is not None and not isinstance(told, dict)
    [kept] = told.wire()["conditions"]
    assert kept["lastTransitionTime"] == kept["lastUpdateTime"] == "2024-06-01T11:00:00Z"

    told = decide(a_kubeflow_job(status={"conditions": [{**old, "message": "m", **stamps}]}), ours()).status
    assert told is not None and not isinstance(told, dict)
    [changed] = told.wire()["conditions"]
    assert changed["lastTransitionTime"] == "2024-06-01T11:00:00Z"
    assert changed["lastUpdateTime"] == "2024-06-01T12:00:00Z"


@pytest.mark.parametrize(
    "have, want, patch",
    [
        ({}, {}, {}),
        ({"backoffLimit": 1}, {"backoffLimit": 2}, {"backoffLimit": 2}),
        ({"suspend": True}, {}, {"suspend": None}),
        ({}, {"suspend": True}, {"suspend": True}),
        (
            {"worker": {"replicas": 2, "template": {"a": 1}}},
            {"worker": {"replicas": 2, "template": {"b": 1}}},
            {"worker": {"template": {"a": None, "b": 1}}, "suspend": True},
        ),
        (
            {"worker": {"replicas": 2}, "suspend": True},
            {"worker": {"replicas": 3}},
            {"worker": {"replicas": 3}, "suspend": None},
        ),
        (
            {"worker": {"replicas": 2}, "elastic": 1},
            {"worker": {"replicas": 3}, "elastic": 1},
            {"worker": {"replicas": 3}},
        ),
        ({"schedulingPolicy": {}}, {}, {"schedulingPolicy": None, "suspend": True}),
    ],
)
def test_ours_follows_an_edit_and_rests_where_that_needs_it(have: Body, want: Body, patch: Body) -> None:
    assert next_patch(have, want) == patch


def test_a_name_that_somebody_else_has_is_told_and_left_alone() -> None:
    stranger = a_job(worker=1).but(metadata=ours("uid-else").metadata.but(owner_references=[]))
    decision = decide(a_kubeflow_job(), related=(stranger,))

    assert decision.children == () and conditions(decision) == [("Created", "False")]
    reason, sentence = message(decision, "Created")
    assert reason == "NameTaken" and "give this one another name" in sentence


def test_what_a_predecessor_left_is_waited_for() -> None:
    decision = decide(a_kubeflow_job(), related=(ours("uid-before"),))

    assert [c.name for c in decision.children] == ["train"] and conditions(decision) == [("Created", "True")]


def test_what_the_server_says_to_ours_is_told() -> None:
    decision = decide(a_kubeflow_job(), refused=("a job is called by at most 50 letters",))

    assert message(decision, "Created") == ("FailedCreate", "a job is called by at most 50 letters")


def test_an_edit_that_cannot_be_done_leaves_ours_as_it_is() -> None:
    job = a_kubeflow_job(runPolicy={"cleanPodPolicy": "Running"})
    decision = decide(job, ours(phase="Running"))

    assert decision.changes == () and conditions(decision) == [("Created", "True"), ("Running", "True")]
    assert "write All or None" in message(decision, "Created")[1]


ENDED = {"completionTime": NOW - timedelta(seconds=60), "conditions": [{"type": "Failed", "status": "True"}]}


@pytest.mark.parametrize(
    "stays, ends, again", [(None, False, None), (90, False, 30.0), (60, True, None), (0, True, None)]
)
def test_a_job_that_has_ended_goes_when_its_time_has_come(
    stays: int | None, ends: bool, again: float | None
) -> None:
    policy = {} if stays is None else {"ttlSecondsAfterFinished": stays}
    decision = decide(a_kubeflow_job(status=ENDED, runPolicy=policy))

    assert decision.children == ()
    assert (decision.ending is not None, decision.check_again) == (ends, again)
