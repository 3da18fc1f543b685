"""Jobs, rollouts and deletions with pods that really run."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts import node_cases
from tests.contracts.node_cases import Body
from tests.contracts.node_pods import LIMIT, NodePods
from tests.contracts.workloads import Workloads, name_of

LIVES = "trap 'exit 0' TERM; sleep 600 & wait"


def template(script: str, labels: dict[str, str] | None = None, **spec: Any) -> Body:
    whole = node_cases.pod("", {"containers": [{"command": ["sh", "-c", script]}], **spec})["spec"]
    return {"metadata": {"labels": labels or {}}, "spec": whole}


@pytest.fixture(scope="module")
def objects(pods: NodePods) -> Workloads:
    return pods.objects


def test_a_job_completes(objects: Workloads) -> None:
    objects.make("jobs", "completes", {"completions": 2, "parallelism": 2, "template": template("echo done")})

    status = objects.status_has("jobs", "completes", LIMIT, succeeded=2)

    objects.told("jobs", "completes", "Complete", LIMIT, status="True", reason="CompletionsReached")
    assert not status.get("failed")


def test_each_pod_of_an_indexed_job_knows_its_number(pods: NodePods, objects: Workloads) -> None:
    spec = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}
    objects.make("jobs", "indexed", {**spec, "template": template("echo $JOB_COMPLETION_INDEX; hostname")})

    objects.status_has("jobs", "indexed", LIMIT, succeeded=2, completedIndexes="0,1")

    logs = {pods.log(name_of(pod)).splitlines()[0] for pod in objects.all("pods", "job-name=indexed")}
    assert logs == {"0", "1"}


def test_a_job_gives_up_after_its_last_try(objects: Workloads) -> None:
    objects.make("jobs", "gives-up", {"backoffLimit": 0, "template": template("exit 1")})

    message = "Job has reached the specified backoff limit"
    objects.told("jobs", "gives-up", "Failed", LIMIT, reason="BackoffLimitExceeded", message=message)


def test_a_job_fails_at_once_for_an_exit_code_it_names(objects: Workloads) -> None:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
    spec = {"backoffLimit": 6, "podFailurePolicy": {"rules": [rule]}, "template": template("exit 42")}
    objects.make("jobs", "named", spec)

    told = objects.told("jobs", "named", "Failed", LIMIT, reason="PodFailurePolicy")

    assert "exit code 42" in told["message"]


def test_a_rollout_replaces_all_pods_and_keeps_enough_of_them(pods: NodePods, objects: Workloads) -> None:
    labels = {"app": "rolled"}

    def made(script: str) -> Body:
        return template(script, labels, restartPolicy="Always")

    strategy = {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "strategy": strategy}
    objects.make("deployments", "rolled", {**spec, "template": made(f"echo old; {LIVES}")})
    objects.status_has("deployments", "rolled", LIMIT, availableReplicas=2)

    objects.patch("deployments", "rolled", {"spec": {"template": made(f"echo new; {LIVES}")}})

    def rolled() -> bool:
        status = objects.status("deployments", "rolled")
        assert status.get("availableReplicas", 0) >= 2
        found = [status.get(key) for key in ("observedGeneration", "replicas", "updatedReplicas")]
        return found == [2, 2, 2] and len(objects.all("pods", "app=rolled")) == 2

    pods.until(rolled, "only new pods")
    assert {pods.log(name_of(pod)) for pod in objects.pods("app=rolled")} == {"new\n"}


def test_pods_of_a_set_come_one_after_the_other_and_keep_their_names(
    pods: NodePods, objects: Workloads
) -> None:
    labels = {"app": "ordered"}
    spec = {"serviceName": "ordered", "replicas": 2, "selector": {"matchLabels": labels}}
    objects.make(
        "statefulsets", "ordered", {**spec, "template": template(LIVES, labels, restartPolicy="Always")}
    )
    objects.status_has("statefulsets", "ordered", LIMIT, readyReplicas=2)
    first, second = objects.pods("app=ordered")
    assert [name_of(first), name_of(second)] == ["ordered-0", "ordered-1"]
    assert first["status"]["startTime"] <= second["status"]["startTime"]

    objects.delete("pods", "ordered-0")

    def replaced() -> bool:
        found = pods.rest.get(pods.path("pods", "ordered-0"))
        return found.status == 200 and found.body["metadata"]["uid"] != first["metadata"]["uid"]

    pods.until(replaced, "another pod of the same name")


def test_a_deleted_pod_is_asked_to_end_and_goes_when_it_has(pods: NodePods) -> None:
    script = "trap 'sleep 1; exit 5' TERM; sleep 600 & wait"
    pods.make(
        "asked", {"terminationGracePeriodSeconds": 30, "containers": [{"command": ["sh", "-c", script]}]}
    )
    pods.wait("asked", "main runs")
    path, codes = pods.path("pods", "asked"), set()
    with pods.rest.watch(pods.path("pods"), fieldSelector="metadata.name=asked") as events:
        pods.rest.delete(path).expect(200)
        for event in events:
            [told] = event.object["status"]["containerStatuses"]
            codes |= {told["state"]["terminated"]["exitCode"]} if "terminated" in told["state"] else set()
            if event.type == "DELETED":
                break

    assert codes == {5}


def test_a_pod_that_does_not_listen_is_killed_after_its_grace(pods: NodePods) -> None:
    script = "trap '' TERM; while :; do sleep 1; done"
    pods.make("deaf", {"terminationGracePeriodSeconds": 1, "containers": [{"command": ["sh", "-c", script]}]})
    pods.wait("deaf", "main runs")
    pods.rest.delete(pods.path("pods", "deaf")).expect(200)

    pods.until(lambda: pods.rest.get(pods.path("pods", "deaf")).status == 404, "the end of a deaf pod")


def test_a_hook_is_carried_out_before_the_end(pods: NodePods) -> None:
    tell = {"command": ["sh", "-c", "echo hooked > /kept/told"]}
    container = {
        "command": ["sh", "-c", "trap 'cat /kept/told; sleep 1; exit 0' TERM; sleep 600 & wait"],
        "lifecycle": {"preStop": {"exec": tell}},
        "volumeMounts": [{"name": "kept", "mountPath": "/kept"}],
    }
    beside = {"name": "beside", "command": ["sh", "-c", LIVES]}
    volumes = [{"name": "kept", "emptyDir": {}}]
    pods.make(
        "hooked",
        {"activeDeadlineSeconds": 600, "volumes": volumes, "containers": [container, beside],
         "terminationGracePeriodSeconds": 20},
    )  # fmt: skip
    pods.wait("hooked", "ready")

    # A deadline in the past ends a pod and leaves it to be read.
    pods.rest.merge(pods.path("pods", "hooked"), {"spec": {"activeDeadlineSeconds": 1}}).expect(200)

    pods.wait("hooked", "Failed")
    assert pods.log("hooked", container="main") == "hooked\n", pods.objects.events("hooked")
