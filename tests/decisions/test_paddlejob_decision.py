"""PaddleJob: which pods, which phase, what is cleaned up, and what is told of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import (
    NOW,
    a_data_set,
    a_job,
    a_pod,
    a_role,
    condition_of,
    created,
    deleted,
    log_of,
    named,
    pods_of,
    seen,
    with_stored,
)

from paddlecloud.api.core import Pod
from paddlecloud.api.paddlejob import PaddleJob, PaddleJobStatus, Phase
from paddlecloud.controllers.contract import Decision, LogQuestion, Snapshot, plan
from paddlecloud.controllers.jobphase import mode_of, phase_of
from paddlecloud.controllers.paddlejob import LOOK_EVERY, asks, reconcile
from paddlecloud.controllers.remembering import without_description
from paddlecloud.controllers.statuses import status_patch

DATA = {"name": "digits", "mountPath": "/data"}


def status_of(decision: Decision) -> PaddleJobStatus:
    assert isinstance(decision.status, PaddleJobStatus)
    return decision.status


def settled(job: PaddleJob, snapshot: Snapshot) -> PaddleJob:
    """The job once what the snapshot shows has been written into its status."""
    stored = with_stored(job, reconcile(job, snapshot))
    assert isinstance(stored, PaddleJob)
    return stored


def test_a_new_job_asks_for_one_pod_per_replica_servers_first() -> None:
    job = a_job(worker=2, heter=1, ps=1)
    decision = reconcile(job, seen(job))

    assert named(decision) == [
        "Pod/wide-deep-ps-0", "Pod/wide-deep-worker-0", "Pod/wide-deep-worker-1", "Pod/wide-deep-heter-0",
    ]  # fmt: skip
    assert status_of(decision).phase is Phase.PENDING  # what is seen, not what is wanted
    assert status_of(decision).start_time is None


@pytest.mark.parametrize(
    "pods, phase",
    [
        ({}, "Pending"),
        ({"ps": "Pending", "worker": "Pending"}, "Pending"),
        ({"ps": "Running"}, "Starting"),
        ({"ps": "Running", "worker": ["Running", "Pending"]}, "Starting"),
        ({"ps": "Running", "worker": "Running"}, "Running"),
        ({"ps": "Running", "worker": ["Succeeded", "Running"]}, "Running"),
        ({"ps": "Running", "worker": "Succeeded"}, "Completed"),  # servers never end by themselves
        ({"ps": "Succeeded", "worker": "Running"}, "Running"),
        ({"ps": "Pending", "worker": ["Failed", "Running"]}, "Failed"),  # whatever the order of roles
        ({"ps": "Failed", "worker": "Succeeded"}, "Completed"),  # it has served to the end
        ({"ps": "Running", "worker": ["Unknown", "Running"]}, "Starting"),
    ],
)
def test_the_phase_is_what_the_pods_show_now(pods: dict[str, Any], phase: str) -> None:
    job = a_job(ps=1, worker=2)

    assert status_of(reconcile(job, seen(job, **pods))).phase == phase


@pytest.mark.parametrize(
    "roles, pods, phase",
    [
        ({"ps": 2}, {"ps": "Succeeded"}, "Completed"),
        ({"heter": 1}, {"heter": "Succeeded"}, "Completed"),
        ({"heter": 1}, {}, "Pending"),
        ({"worker": 0}, {}, "Pending"),
        ({}, {}, "Pending"),
        ({"worker": 1, "ps": 0}, {"worker": "Running"}, "Running"),
    ],
)
def test_the_phase_of_unusual_jobs(roles: dict[str, Any], pods: dict[str, Any], phase: str) -> None:
    job = a_job(**roles)

    assert status_of(reconcile(job, seen(job, **pods))).phase == phase


def test_what_is_told_is_of_the_job_as_it_is_and_every_pod_is_counted() -> None:
    job = a_job(worker=3)
    job = job.but(metadata=job.metadata.but(generation=7))
    status = status_of(reconcile(job, seen(job, *pods_of(job, worker=["Running", "Unknown", "Pending"]))))

    assert status.observed_generation == 7
    assert status.worker is not None
    assert (status.worker.running, status.worker.unknown, status.worker.pending) == (1, 1, 1)
    assert status.worker.replicas == len(status.worker.refs) == 3


def test_a_pod_whose_containers_are_not_up_is_starting() -> None:
    job = a_job(worker=1)
    [pod] = pods_of(job, worker="Running")
    pod = pod.but(status={**pod.status, "conditions": []})
    told = status_of(reconcile(job, seen(job, pod)))

    assert told.phase is Phase.STARTING
    assert told.worker is not None and (told.worker.starting, told.worker.ready) == (1, "0/1")


def test_one_that_ends_early_does_not_take_a_running_job_back() -> None:
    job = a_job(worker=3, status={"phase": "Running"})

    assert phase_of(job, seen(job, worker=["Succeeded", "Running", "Pending"]).owned(Pod)) is Phase.RUNNING


@pytest.mark.parametrize(
    "spec, mode",
    [
        ({"worker": 1}, "Single"),
        ({"worker": 2}, "Collective"),
        ({"worker": 1, "elastic": 1}, "Collective"),
        ({"elastic": 1}, "Collective"),
        ({"ps": 1, "worker": 1}, "PS"),
        (
            {"worker": a_role(1, containers=[{"resources": {"limits": {"nvidia.com/gpu": "4"}}}])},
            "Collective",
        ),
        ({"worker": a_role(1, containers=[{"resources": {"limits": {"nvidia.com/gpu": 1}}}])}, "Single"),
        ({"worker": a_role(1, containers=[{"resources": {"limits": {"nvidia.com/gpu": "all"}}}])}, "Single"),
    ],
)
def test_the_mode_follows_from_the_roles(spec: dict[str, Any], mode: str) -> None:
    assert mode_of(a_job(**spec)) == mode


def test_times_are_those_of_the_look_that_saw_the_change() -> None:
    job = a_job(worker=1)
    running = settled(job, seen(job, worker="Running"))
    ended = settled(running, seen(job, worker="Succeeded", now=NOW + timedelta(minutes=5)))

    assert running.status.start_time == NOW and running.status.completion_time is None
    assert ended.status.start_time == NOW
    assert ended.status.completion_time == NOW + timedelta(minutes=5)


CLEANED = [
    ("Never", "Succeeded", 0),
    ("Never", "Failed", 0),
    ("OnCompletion", "Succeeded", 2),
    ("OnCompletion", "Failed", 0),
    ("OnFailure", "Succeeded", 0),
    ("OnFailure", "Failed", 2),
    ("Always", "Succeeded", 2),
    ("Always", "Failed", 2),
    (None, "Succeeded", 2),
    (None, "Failed", 0),
]


@pytest.mark.parametrize("field", ["cleanPodPolicy", "cleanPolicy"])
@pytest.mark.parametrize("policy, end, removed", CLEANED)
def test_clean_pod_policy(field: str, policy: str | None, end: str, removed: int) -> None:
    spec: dict[str, Any] = {field: policy} if policy else {}
    job = a_job(worker=2, **spec)
    snapshot = seen(job, worker=end)
    ended = settled(job, snapshot)
    writes = plan(snapshot.children, reconcile(ended, snapshot))

    assert len(writes.delete) == removed and not writes.create and not writes.update


def test_the_right_name_wins_over_its_deprecated_synonym() -> None:
    job = a_job(worker=1, cleanPodPolicy="Never", cleanPolicy="Always", status={"phase": "Completed"})
    snapshot = seen(job, worker="Succeeded")

    assert deleted(reconcile(job, snapshot), snapshot) == []


def test_the_deprecated_synonym_is_told_of() -> None:
    job = a_job(worker=1, cleanPolicy="Never")

    assert [n.reason for n in reconcile(job, seen(job)).notes] == ["Deprecated"]


def test_no_pod_goes_before_the_end_of_the_job_is_written_down() -> None:
    job = a_job(worker=2, cleanPodPolicy="Always")
    snapshot = seen(job, worker="Succeeded")

    assert plan(snapshot.children, reconcile(job, snapshot)).empty


@pytest.mark.parametrize("phase", ["Completed", "Failed"])
@pytest.mark.parametrize("policy", ["Never", "OnFailure", "OnCompletion", "Always"])
def test_a_finished_job_never_gets_its_pods_back(phase: str, policy: str) -> None:
    job = a_job(worker=2, cleanPodPolicy=policy, status={"phase": phase})
    for left in ([], ["Succeeded"]):
        snapshot = seen(job, worker=left)
        assert created(reconcile(job, snapshot), snapshot) == []


def test_what_was_seen_at_the_end_stays_told_while_pods_go() -> None:
    job = a_job(worker=2, cleanPodPolicy="Always")
    ended = settled(job, seen(job, worker="Succeeded"))
    for left in (["Succeeded"], []):
        snapshot = seen(ended, worker=left, now=NOW + timedelta(hours=1))
        assert status_patch(ended, status_of(reconcile(ended, snapshot))) == {}
    assert ended.status.worker is not None and ended.status.worker.succeeded == 2


def test_a_final_phase_stays_whatever_the_pods_do() -> None:
    job = a_job(worker=1, cleanPodPolicy="Never", status={"phase": "Failed"})

    assert status_of(reconcile(job, seen(job, worker="Running"))).phase is Phase.FAILED


@pytest.mark.parametrize(
    "pods", [{}, {"worker": "Pending"}, {"worker": "Running"}, {"worker": "Succeeded"}, {"worker": "Failed"}]
)
def test_a_settled_job_costs_no_write(pods: dict[str, Any]) -> None:
    job = a_job(worker=2, cleanPodPolicy="Never")
    snapshot = seen(job, worker=pods.get("worker", "Pending"))
    first = reconcile(job, snapshot)
    children = (*snapshot.children, *plan(snapshot.children, first).create)
    later = Snapshot(NOW + timedelta(seconds=20), children)
    stored = with_stored(job, first)
    second = reconcile(stored, later)

    assert status_patch(stored, status_of(second)) == {}
    assert plan(children, second).empty


def test_a_pod_that_vanished_from_a_running_job_is_made_again_alone() -> None:
    job = a_job(worker=2, status={"phase": "Running"})
    snapshot = seen(job, pods_of(job, worker="Running")[1])

    assert created(reconcile(job, snapshot), snapshot) == ["wide-deep-worker-0"]


def test_fewer_replicas_remove_the_last_pods() -> None:
    before, after = a_job(worker=3), a_job(worker=1)
    snapshot = seen(before, worker="Running")

    assert deleted(reconcile(after, snapshot), snapshot) == ["wide-deep-worker-1", "wide-deep-worker-2"]


@pytest.mark.parametrize(
    "workers, gathered",
    [
        (["Running", "Running", "Pending"], True),
        (["Running", "Running", "Running"], False),
        (["Running", "Failed", "Pending"], False),
    ],
    ids=["one more runs", "all run", "one failed"],
)
def test_a_status_with_nothing_new_but_counts_may_wait(workers: list[str], gathered: bool) -> None:
    job = a_job(worker=3)
    job = settled(job, seen(job, worker=["Running", "Pending", "Pending"]))

    assert reconcile(job, seen(job, worker=workers)).counts_only is gathered


def test_what_a_larger_job_left_does_not_count() -> None:
    before, after = a_job(worker=3), a_job(worker=1)
    told = status_of(reconcile(after, seen(before, worker=["Running", "Running", "Failed"])))

    assert told.phase is Phase.RUNNING
    assert told.worker is not None and (told.worker.ready, told.worker.failed) == ("1/1", 0)


@pytest.mark.parametrize(
    "data, reason, said",
    [
        (None, "WaitingForData", "does not exist"),
        (a_data_set("Syncing"), "WaitingForData", "it is Syncing"),
        (a_data_set(""), "WaitingForData", "it is new"),
        (a_data_set("Ready"), "Pending", ""),
    ],
)
def test_a_job_waits_until_its_data_is_ready(data: Any, reason: str, said: str) -> None:
    job = a_job(worker=1, sampleSetRef=DATA)
    decision = reconcile(job, seen(job, related=[data] if data else []))
    told = condition_of(decision, "Progressing")

    assert told.reason == reason and said in told.message
    assert bool(decision.children) == (reason == "Pending")


def test_a_job_that_has_begun_does_not_stop_for_its_data() -> None:
    job = a_job(worker=1, sampleSetRef=DATA)
    snapshot = seen(job, worker="Running", related=[a_data_set("SyncFailed")])

    assert deleted(reconcile(job, snapshot), snapshot) == []


def test_data_of_another_namespace_cannot_be_mounted() -> None:
    job = a_job(worker=1, sampleSetRef={**DATA, "namespace": "elsewhere"})
    told = condition_of(reconcile(job, seen(job, related=[a_data_set("Ready")])), "Progressing")

    assert told.status == "False" and told.reason == "WrongNamespace"


def test_a_failed_job_tells_which_pod_how_and_its_last_words() -> None:
    job = a_job(worker=2)
    state = {"containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]}
    [fine, bad] = pods_of(job, worker=["Running", "Failed"])
    bad = bad.but(status={**bad.status, **state})
    answers = log_of(bad.name, "\n".join(f"line {i}" for i in range(20)))
    decision = reconcile(job, seen(job, fine, bad, answers=answers))
    message = condition_of(decision, "Failed").message

    assert message.startswith(f"pod {bad.name} failed (exit code 3); its last lines:\nline 12\n")
    assert message.endswith("line 19")
    assert [n.reason for n in decision.notes] == ["Failed"]


@pytest.mark.parametrize(
    "status, reason",
    [
        ({"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1"}]}, "Unschedulable"),
        ({"containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]}, "ErrImagePull"),
        ({"containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}]}, "Pending"),
    ],
)
def test_a_pod_that_cannot_start_is_the_reason_of_its_job(status: dict[str, Any], reason: str) -> None:
    job = a_job(worker=1)
    pod = a_pod("wide-deep-worker-0", "Pending", status=status)

    assert condition_of(reconcile(job, seen(job, pod)), "Progressing").reason == reason


@pytest.mark.parametrize(
    "pods, asked",
    [
        ({}, []),
        ({"worker": "Pending"}, []),
        ({"worker": "Running"}, ["wide-deep-worker-0"]),
        ({"worker": "Succeeded"}, ["wide-deep-worker-0"]),
        ({"worker": ["Running", "Failed"]}, ["wide-deep-worker-1"]),
    ],
)
def test_the_log_that_tells_most_is_read(pods: dict[str, Any], asked: list[str]) -> None:
    job = a_job(worker=2, ps=1)
    found = asks(job, seen(job, ps="Running", **pods))

    assert [q.pod for q in found if isinstance(q, LogQuestion)] == asked


def test_a_running_job_is_looked_at_again_for_its_progress() -> None:
    job = a_job(worker=1)
    answers = log_of("wide-deep-worker-0", "epoch 1/2 step 5/10 loss 0.5")
    decision = reconcile(job, seen(job, worker="Running", answers=answers))
    progress = status_of(decision).progress

    assert decision.glance == LOOK_EVERY
    assert progress is not None and (progress.done, progress.total) == (5, 20)


@pytest.mark.parametrize("phase", ["Pending", "Running", "Failed", "Succeeded"])
def test_what_a_cache_leaves_out_of_pods_changes_no_question_and_no_answer(phase: str) -> None:
    job = a_job(worker=2, status={"phase": "Running"})
    whole = seen(job, worker=phase)
    less = replace(whole, children=tuple(without_description(p) for p in whole.owned(Pod).values()))

    assert asks(job, less) == asks(job, whole)
    assert reconcile(job, less).status == reconcile(job, whole).status
