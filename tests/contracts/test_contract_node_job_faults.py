"""PaddleJobs that lose pods, change their size, rest or run out of time, with pods that really run."""

from __future__ import annotations

import pytest
from tests.contracts.node_cases import Body
from tests.contracts.node_jobs import LIVES, NodeJobs, role

COUNTED = f'echo "rank $PADDLE_TRAINER_ID of $PADDLE_TRAINERS_NUM"; {LIVES}'
KILLED = f"if [ $PADDLE_TRAINER_ID = 1 ]; then echo killed; exit 137; fi; {LIVES}"
CASES: dict[str, Body] = {
    "together": {"worker": role(2, f"echo $PADDLE_TRAINERS; {LIVES}")},
    "killed": {"worker": role(2, KILLED), "backoffLimit": 1},
    "alone": {"ps": role(1, LIVES), "worker": role(2, LIVES)},
    "elastic": {"elastic": 1, "worker": {**role(2, COUNTED), "requests": 1, "limits": 3}},
    "bounded": {"elastic": 1, "worker": {**role(1, LIVES), "limits": 2}, "suspend": True},
    "rests": {"worker": role(2, f"echo had begun; {LIVES}")},
    "late": {"worker": role(1, LIVES), "activeDeadlineSeconds": 5, "cleanPodPolicy": "Never"},
    "fleeting": {"worker": role(1, "true"), "ttlSecondsAfterFinished": 0},
}


@pytest.fixture(scope="module")
def made(node_jobs: NodeJobs) -> NodeJobs:
    node_jobs.make_all(CASES)
    return node_jobs


def test_a_pod_that_is_deleted_from_a_collective_job_comes_back_with_all_the_others(
    made: NodeJobs,
) -> None:
    made.comes_to("together", "Running")
    before, told = made.uids("together"), made.endpoints("together")

    made.delete_pod("together-worker-1")

    status = made.comes_to("together", "Running", restarts=1, attempt=1)
    after = made.all("together")
    assert not set(before.values()) & {pod["metadata"]["uid"] for pod in after.values()}
    addresses = ",".join(pod["status"]["podIP"] for pod in after.values())
    assert made.endpoints("together")["PADDLE_TRAINERS"] == addresses != told["PADDLE_TRAINERS"]
    for pod in after:
        made.has_said(pod, addresses)
    assert status["worker"]["ready"] == "2/2"
    made.remove("together")


def test_a_killed_worker_takes_all_back_to_the_start_as_often_as_is_allowed(made: NodeJobs) -> None:
    status = made.comes_to("killed", "Failed", restarts=1, attempt=1)

    message = made.condition("killed", "Failed")["message"]
    assert "killed-worker-1 failed (exit code 137) after 1 restart" in message
    assert message.endswith("killed")
    assert "Restarting" in {reason for _, reason, _ in made.pods.objects.events("killed")}
    assert status["completionTime"]
    made.remove("killed")


def test_a_worker_that_is_deleted_from_its_servers_comes_back_alone(made: NodeJobs) -> None:
    made.comes_to("alone", "Running")
    before = made.uids("alone")

    made.delete_pod("alone-worker-1")

    def back() -> bool:
        found = made.uids("alone")
        return found.keys() == before.keys() and found["alone-worker-1"] != before["alone-worker-1"]

    made.pods.until(back, "another worker")
    made.comes_to("alone", "Running")
    after = made.uids("alone")
    assert {name for name in before if before[name] != after[name]} == {"alone-worker-1"}
    made.remove("alone")


def test_an_elastic_job_goes_on_with_more_and_with_fewer_workers(made: NodeJobs) -> None:
    """The ranks are annotations that come while the pods wait: a program sees what is said when it begins."""
    for attempt, number in enumerate((2, 3, 2)):
        if attempt:
            made.scale("elastic", number)
        wanted = ("Running", attempt, f"{number}/{number}")
        made.until("elastic", f"{wanted}", lambda s, wanted=wanted: size(s) == wanted)  # type: ignore[misc]

        pods = made.all("elastic")
        assert len(pods) == number
        for rank, pod in enumerate(pods):
            made.has_said(pod, f"rank {rank} of {number}")
    assert not made.status("elastic").get("restarts")
    made.remove("elastic")


def size(status: Body) -> tuple[str, int, str]:
    return status.get("phase", ""), status.get("attempt", 0), status.get("worker", {}).get("ready", "")


def test_an_elastic_job_may_not_become_larger_than_its_limit(made: NodeJobs) -> None:
    answer = made.pods.rest.merge(f"{made.path('bounded')}/scale", {"spec": {"replicas": 3}})

    assert answer.status == 422 and "more than worker.limits" in answer.text
    made.remove("bounded")


def test_a_job_that_rests_has_no_pods_and_begins_again_when_it_is_told_to(made: NodeJobs) -> None:
    made.comes_to("rests", "Running")
    before = made.uids("rests")

    made.change("rests", suspend=True)

    made.gone("rests")
    made.comes_to("rests", "Pending")
    assert made.condition("rests", "Suspended")["status"] == "True"
    assert "had begun" in made.kept("rests")
    made.change("rests", suspend=False)
    made.comes_to("rests", "Running")
    assert not set(before.values()) & set(made.uids("rests").values())
    assert made.condition("rests", "Suspended")["status"] == "False"
    made.remove("rests")


def test_a_job_that_takes_too_long_fails_and_its_pods_end(made: NodeJobs) -> None:
    made.comes_to("late", "Failed")

    assert made.condition("late", "Failed")["reason"] == "DeadlineExceeded"
    made.gone("late")


def test_a_job_removes_itself_and_all_that_is_left_of_it(made: NodeJobs) -> None:
    rest = made.pods.rest
    made.pods.until(lambda: rest.get(made.path("fleeting")).status == 404, "the end of the job")
    made.gone("fleeting")
    kept = made.pods.path("configmaps", "fleeting-worker-0-log")
    made.pods.until(lambda: rest.get(kept).status == 404, "the end of what was kept")
