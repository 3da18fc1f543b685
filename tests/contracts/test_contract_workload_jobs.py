"""Jobs: pods until enough have succeeded, every pod counted exactly once."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.workloads import Body, Workloads, name_of, owners, template
from tests.kubectl import Kubectl
from tests.kubernetes.rest import Rest

pytestmark = pytest.mark.needs_controllers
TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"


@pytest.fixture
def w(rest: Rest, namespace: str) -> Workloads:
    return Workloads(rest, namespace)


def job(w: Workloads, **spec: Any) -> Body:
    pod = template(restartPolicy=spec.pop("restartPolicy", "Never"))
    return w.make("jobs", "work", {"template": pod, **spec})


def open_pods(w: Workloads) -> list[Body]:
    """Those that have not ended."""
    return [p for p in w.pods() if p["status"].get("phase") not in ("Succeeded", "Failed")]


def working(w: Workloads, count: int, limit: float = 30) -> list[Body]:
    w.wait(lambda: len(open_pods(w)) == count, f"{count} pods at work", lambda: w.names("pods"), limit=limit)
    return open_pods(w)


def index(pod: Body) -> int:
    return int(pod["metadata"]["annotations"][INDEX])


def conditions(w: Workloads) -> list[tuple[str, str, str]]:
    found = w.status("jobs", "work").get("conditions") or ()
    return [(c["type"], c["status"], c.get("reason", "")) for c in found]


def counted(w: Workloads) -> bool:
    """Every pod that ended has lost its mark."""
    ended = [p for p in w.all("pods") if p["status"].get("phase") in ("Succeeded", "Failed")]
    return all(TRACKING not in p["metadata"].get("finalizers", ()) for p in ended)


def test_a_job_makes_a_pod_and_ends_with_it(w: Workloads) -> None:
    made = job(w)
    (pod,) = working(w, 1)
    assert owners(pod) == [("Job", "work", True)]
    assert pod["metadata"]["finalizers"] == [TRACKING]
    assert pod["metadata"]["generateName"] == "work-"
    uid = made["metadata"]["uid"]
    assert pod["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "work",
        "controller-uid": uid,
        "job-name": "work",
    }
    status = w.status_has("jobs", "work", active=1, ready=0, terminating=0, uncountedTerminatedPods={})
    assert "startTime" in status and "succeeded" not in status
    w.run(pod)
    w.status_has("jobs", "work", active=1, ready=1)
    w.end(pod)
    status = w.status_has("jobs", "work", succeeded=1, active=None, ready=0, terminating=0)
    w.told("jobs", "work", "Complete", status="True", reason="CompletionsReached",
           message="Reached expected number of succeeded pods")  # fmt: skip
    status = w.status_has("jobs", "work", succeeded=1, uncountedTerminatedPods={})
    assert [c["type"] for c in status["conditions"]] == ["SuccessCriteriaMet", "Complete"]
    assert "completionTime" in status
    w.wait(lambda: counted(w), "a count of every pod")
    assert w.heard("work", "SuccessfulCreate") == [f"Created pod: {name_of(pod)}"]
    assert w.heard("work", "Completed") == ["Job completed"]


def test_as_many_work_at_once_as_are_wanted_and_needed(w: Workloads) -> None:
    job(w, parallelism=2, completions=3)
    w.end(*working(w, 2)[:1])
    w.status_has("jobs", "work", succeeded=1, active=2)
    w.end(*working(w, 2)[:1])
    w.status_has("jobs", "work", succeeded=2, active=1)
    w.end(*working(w, 1))
    w.told("jobs", "work", "Complete", status="True")
    assert len(w.all("pods")) == 3


def test_without_a_number_the_first_success_is_enough_once_all_have_ended(w: Workloads) -> None:
    job(w, parallelism=2)
    first, second = working(w, 2)
    w.end(first)
    w.status_has("jobs", "work", succeeded=1, active=1)
    w.end(second)
    w.status_has("jobs", "work", succeeded=2)
    w.told("jobs", "work", "Complete", status="True")


def test_a_failed_pod_is_replaced_after_a_while(w: Workloads) -> None:
    job(w, backoffLimit=2)
    w.end(*working(w, 1), phase="Failed")
    w.status_has("jobs", "work", failed=1, active=None)
    (second,) = working(w, 1)
    w.end(second)
    w.status_has("jobs", "work", failed=1, succeeded=1)
    w.told("jobs", "work", "Complete", status="True")


def test_a_job_fails_when_too_many_of_its_pods_have(w: Workloads) -> None:
    job(w, backoffLimit=0, parallelism=2, completions=2)
    first, second = working(w, 2)
    w.end(first, phase="Failed")
    said: Body = {"reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}
    w.told("jobs", "work", "Failed", status="True", **said)
    assert [c[:2] for c in conditions(w)] == [("FailureTarget", "True"), ("Failed", "True")]
    status = w.status_has("jobs", "work", failed=2, active=None, terminating=0, uncountedTerminatedPods={})
    assert "completionTime" not in status
    assert w.names("pods") == [name_of(first)]  # the one that still worked was deleted
    assert w.heard("work", "BackoffLimitExceeded") == ["Job has reached the specified backoff limit"]
    assert w.heard("work", "SuccessfulDelete") == [f"Deleted pod: {name_of(second)}"]


def test_restarts_in_place_count_too(w: Workloads) -> None:
    job(w, backoffLimit=1, restartPolicy="OnFailure")
    (pod,) = working(w, 1)
    state = {"name": "main", "restartCount": 1, "ready": False, "image": "x", "imageID": "", "state": {}}
    w.report(pod, "Running", containerStatuses=[state])
    w.told("jobs", "work", "Failed", status="True", reason="BackoffLimitExceeded")


def test_a_job_past_its_deadline_fails(w: Workloads) -> None:
    job(w, activeDeadlineSeconds=1)
    working(w, 1)
    w.told("jobs", "work", "Failed", status="True", reason="DeadlineExceeded",
           message="Job was active longer than specified deadline")  # fmt: skip
    assert w.names("pods") == []
    w.status_has("jobs", "work", failed=1)


def test_a_pod_that_is_deleted_counts_as_failed(w: Workloads) -> None:
    job(w)
    (pod,) = working(w, 1)
    w.delete("pods", name_of(pod))
    w.status_has("jobs", "work", failed=1, uncountedTerminatedPods={})
    w.wait(lambda: name_of(pod) not in w.names("pods"), "the pod to go")


def test_fewer_at_once_are_not_failures(w: Workloads) -> None:
    job(w, parallelism=3, completions=3)
    working(w, 3)
    w.patch("jobs", "work", {"spec": {"parallelism": 1}})
    working(w, 1)
    status = w.status_has("jobs", "work", active=1, terminating=0)
    assert "failed" not in status


def test_a_suspended_job_rests(w: Workloads) -> None:
    job(w, suspend=True)
    w.told("jobs", "work", "Suspended", status="True", reason="JobSuspended", message="Job suspended")
    assert "startTime" not in w.status("jobs", "work") and w.pods() == []
    w.patch("jobs", "work", {"spec": {"suspend": False}})
    working(w, 1)
    w.told("jobs", "work", "Suspended", status="False", reason="JobResumed", message="Job resumed")
    assert "startTime" in w.status("jobs", "work")
    w.patch("jobs", "work", {"spec": {"suspend": True}})
    w.wait(lambda: w.all("pods") == [], "no pods")
    status = w.status_has("jobs", "work", active=None)
    assert "failed" not in status
    assert w.heard("work", "Suspended") == ["Job suspended"]
    assert w.heard("work", "Resumed") == ["Job resumed"]


def test_every_index_has_its_pod(w: Workloads) -> None:
    job(w, completionMode="Indexed", completions=3, parallelism=2)
    first, second = sorted(working(w, 2), key=index)
    assert (index(first), index(second)) == (0, 1)
    assert first["metadata"]["labels"][INDEX] == "0" and first["spec"]["hostname"] == "work-0"
    assert first["metadata"]["generateName"] == "work-0-"
    env = first["spec"]["containers"][0]["env"]
    assert env == [{
        "name": "JOB_COMPLETION_INDEX",
        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}},
    }]  # fmt: skip
    w.end(second)
    w.status_has("jobs", "work", completedIndexes="1", succeeded=1)
    third = next(p for p in working(w, 2) if index(p) == 2)
    w.end(third)
    w.status_has("jobs", "work", completedIndexes="1,2", succeeded=2)
    w.end(first)
    w.status_has("jobs", "work", completedIndexes="0-2", succeeded=3)
    w.told("jobs", "work", "Complete", status="True")
    w.wait(lambda: counted(w), "a count of every pod")


def test_an_index_may_fail_on_its_own(w: Workloads) -> None:
    job(w, completionMode="Indexed", completions=2, parallelism=2, backoffLimitPerIndex=0)
    assert w.get("jobs", "work")["spec"]["backoffLimit"] == 2147483647
    first, second = sorted(working(w, 2), key=index)
    assert first["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"] == "0"
    w.end(first, phase="Failed")
    w.status_has("jobs", "work", failedIndexes="0", failed=1)
    w.end(second)
    w.told("jobs", "work", "Failed", status="True", reason="FailedIndexes", message="Job has failed indexes")
    w.status_has("jobs", "work", failedIndexes="0", completedIndexes="1", failed=1, succeeded=1)


def test_an_index_is_tried_again_and_its_failures_are_remembered(w: Workloads) -> None:
    job(w, completionMode="Indexed", completions=1, backoffLimitPerIndex=1)
    (first,) = working(w, 1)
    w.end(first, phase="Failed")
    (second,) = working(w, 1)
    assert second["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"] == "1"
    w.status_has("jobs", "work", failed=1, failedIndexes="")
    w.end(second, phase="Failed")
    w.told("jobs", "work", "Failed", status="True", reason="FailedIndexes")
    w.status_has("jobs", "work", failed=2, failedIndexes="0", uncountedTerminatedPods={})


def test_too_many_failed_indexes_end_the_job(w: Workloads) -> None:
    job(w, completionMode="Indexed", completions=3, parallelism=3, backoffLimitPerIndex=0, maxFailedIndexes=1)
    pods = sorted(working(w, 3), key=index)
    w.end(*pods[:2], phase="Failed")
    w.told("jobs", "work", "Failed", status="True", reason="MaxFailedIndexesExceeded",
           message="Job has exceeded the specified maximal number of failed indexes")  # fmt: skip
    w.status_has("jobs", "work", failedIndexes="0,1", failed=3)


def rules(*found: Body) -> Body:
    return {"rules": list(found)}


def exit_rule(action: str, *codes: int) -> Body:
    return {"action": action, "onExitCodes": {"operator": "In", "values": list(codes)}}


def test_a_rule_ends_the_job_at_once(w: Workloads) -> None:
    job(w, backoffLimit=6, podFailurePolicy=rules(exit_rule("FailJob", 42)))
    (pod,) = working(w, 1)
    w.end(pod, phase="Failed", code=42)
    message = (
        f"Container main for pod {w.namespace}/{name_of(pod)} failed with exit code 42 "
        "matching FailJob rule at index 0"
    )
    w.told("jobs", "work", "Failed", status="True", reason="PodFailurePolicy", message=message)
    w.status_has("jobs", "work", failed=1)


def test_a_rule_forgives_what_was_not_the_fault_of_the_pod(w: Workloads) -> None:
    condition = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    job(w, backoffLimit=0, podFailurePolicy=rules(condition))
    (pod,) = working(w, 1)
    w.end(pod, phase="Failed", conditions=[{"type": "DisruptionTarget", "status": "True"}])
    (second,) = working(w, 1)
    w.end(second)
    w.told("jobs", "work", "Complete", status="True")
    assert "failed" not in w.status("jobs", "work")
    w.wait(lambda: counted(w), "all marks to go")


def test_a_rule_gives_up_one_index(w: Workloads) -> None:
    policy = rules(exit_rule("FailIndex", 7))
    job(
        w,
        completionMode="Indexed",
        completions=2,
        parallelism=2,
        backoffLimitPerIndex=3,
        podFailurePolicy=policy,
    )
    first, second = sorted(working(w, 2), key=index)
    w.end(first, phase="Failed", code=7)
    w.status_has("jobs", "work", failedIndexes="0")
    w.end(second)
    w.told("jobs", "work", "Failed", status="True", reason="FailedIndexes")


def test_some_indexes_may_be_enough(w: Workloads) -> None:
    policy = {"rules": [{"succeededIndexes": "0"}]}
    job(w, completionMode="Indexed", completions=3, parallelism=3, successPolicy=policy)
    pods = sorted(working(w, 3), key=index)
    w.end(pods[0])
    w.told(
        "jobs", "work", "Complete", status="True", reason="SuccessPolicy", message="Matched rules at index 0"
    )
    w.status_has("jobs", "work", succeeded=1, active=None, terminating=0)
    assert w.names("pods") == [name_of(pods[0])]


def test_a_pod_on_its_way_out_is_replaced_when_it_has_gone(w: Workloads) -> None:
    job(w, podReplacementPolicy="Failed")
    (pod,) = working(w, 1)
    w.patch("pods", name_of(pod), {"metadata": {"finalizers": [TRACKING, "example.org/wait"]}})
    w.delete("pods", name_of(pod))
    w.status_has("jobs", "work", terminating=1, active=None)
    assert "failed" not in w.status("jobs", "work")
    w.end(pod, phase="Failed")
    w.patch("pods", name_of(pod), {"metadata": {"finalizers": [TRACKING]}})
    w.status_has("jobs", "work", failed=1, terminating=0)


def test_a_finished_job_goes_when_its_time_is_over(w: Workloads) -> None:
    job(w, ttlSecondsAfterFinished=1)
    w.end(*working(w, 1))
    w.wait(lambda: not w.all("jobs"), "the job to go", limit=60)
    w.wait(lambda: not w.all("pods"), "its pods to go", limit=60)


def test_pods_of_a_job_that_is_deleted_are_let_go(w: Workloads) -> None:
    job(w, parallelism=2, completions=2)
    w.end(working(w, 2)[0])
    w.status_has("jobs", "work", succeeded=1)
    w.delete("jobs", "work", propagationPolicy="Background")
    w.wait(lambda: not w.all("pods"), "no pods", limit=60)


def test_kubectl_makes_and_waits_for_a_job(w: Workloads, kubectl: Kubectl) -> None:
    kubectl("create", "job", "work", "--image=example/web:1")
    w.wait(w.pods, "a pod")
    assert "0/1" in kubectl("get", "job", "work")
    w.end(*w.pods())
    kubectl("wait", "job/work", "--for=condition=Complete", "--timeout=20s")
    assert "Complete" in kubectl("get", "job", "work")
    assert "SuccessfulCreate" in kubectl("describe", "job", "work")
