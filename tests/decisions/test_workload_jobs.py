"""Jobs: every pod counted exactly once whatever is killed in between; indexes, rules, ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import CONTAINER, NOW, a_pod, created, deleted, metadata, seen
from tests.decisions.world import World

from paddlecloud.api.batch import CronJob, Job
from paddlecloud.api.core import Pod
from paddlecloud.controllers.contract import Snapshot, identity
from paddlecloud.embedded.workloads import cronjob, job
from paddlecloud.embedded.workloads.jobcounting import TRACKING
from paddlecloud.embedded.workloads.jobindexes import INDEX, read_indexes, write_indexes
from paddlecloud.embedded.workloads.jobpolicy import success, verdict
from paddlecloud.embedded.workloads.podtimes import pause

TEMPLATE: dict[str, Any] = {"spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}


def a_batch(status: dict[str, Any] | None = None, **spec: Any) -> Job:
    wanted = {"template": TEMPLATE, "parallelism": 1, "backoffLimit": 6, **spec}
    return Job.read({"metadata": metadata("work"), "spec": wanted, "status": status or {}})


def worker(name: str, phase: str = "Running", index: int | None = None, **meta: Any) -> Pod:
    pod = a_pod(name, phase)
    marks = {} if index is None else {INDEX: str(index)}
    return pod.but(metadata=pod.metadata.but(finalizers=[TRACKING], annotations=marks, **meta))


def status_of(world: World) -> dict[str, Any]:
    found: dict[str, Any] = world.owner.wire().get("status") or {}
    return found


@pytest.mark.parametrize("indexed", [False, True])
def test_every_pod_is_counted_once_however_often_the_work_is_killed(indexed: bool) -> None:
    mode: dict[str, Any] = {"completionMode": "Indexed"} if indexed else {}
    ended = [worker(f"w{i}", "Succeeded" if i < 3 else "Failed", i) for i in range(4)]
    start = World(
        job.CONTROLLER,
        a_batch(completions=4, parallelism=0, **mode),
        {identity(p): p for p in ended},
        (),
        NOW,
    )
    expected = (3, 1)

    def played(stops: int) -> World:
        world = start
        for step in range(40):
            writes = world.writes()
            # Killed after a part of the writes, another part each time; the finalizer may free the name.
            for write in writes[: 1 + (step * 7 + stops) % max(1, len(writes))]:
                world = write(world)
        return world

    for stops in range(6):
        status = status_of(played(stops))
        assert (status.get("succeeded"), status.get("failed")) == expected
        assert status["uncountedTerminatedPods"] == {}


def test_a_pod_keeps_its_mark_until_its_end_is_stored() -> None:
    world = World(job.CONTROLLER, a_batch(), {}, (), NOW)
    pod = worker("w", "Succeeded")
    world = replace(world, children={identity(pod): pod})

    assert world.decide().changes == ()
    world = world.writes()[-1](world)
    assert status_of(world)["uncountedTerminatedPods"] == {"succeeded": [pod.uid]}
    assert [u.observed.uid for u in world.decide().changes] == [pod.uid]


@pytest.mark.parametrize(
    "text, indexes",
    [("", set()), ("0", {0}), ("0,1", {0, 1}), ("0-2,5", {0, 1, 2, 5}), ("3-9", {3, 4, 5}), ("x,1", {1})],
)
def test_indexes_are_read(text: str, indexes: set[int]) -> None:
    assert read_indexes(text, 6) == indexes


@pytest.mark.parametrize(
    "indexes, text", [(set(), ""), ({2, 1}, "1,2"), ({0, 1, 2}, "0-2"), ({0, 2, 3, 4, 9}, "0,2-4,9")]
)
def test_indexes_are_written(indexes: set[int], text: str) -> None:
    assert write_indexes(indexes) == text
    assert read_indexes(text, 10) == indexes


@pytest.mark.parametrize(
    "failures, seconds, wait",
    [(0, 0, 0), (1, 0, 10), (1, 4, 6), (2, 0, 20), (3, 40, 0), (9, 0, 600), (99, 0, 600)],
)
def test_the_pause_doubles_with_every_failure(failures: int, seconds: int, wait: float) -> None:
    assert pause(failures, NOW, NOW + timedelta(seconds=seconds)) == wait


def failed(code: int = 1, **condition: str) -> Pod:
    state = {"name": "main", "state": {"terminated": {"exitCode": code}}}
    conditions = [{"type": k, "status": v} for k, v in condition.items()]
    return a_pod("p", "Failed", status={"containerStatuses": [state], "conditions": conditions})


def rule(action: str, *codes: int, operator: str = "In", **more: Any) -> dict[str, Any]:
    return {"action": action, "onExitCodes": {"operator": operator, "values": list(codes), **more}}


ON_CONDITION = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}


@pytest.mark.parametrize(
    "rules, pod, action, counts",
    [
        ([], failed(), "", True),
        ([rule("Ignore", 1)], failed(1), "Ignore", False),
        ([rule("Ignore", 1)], failed(2), "", True),
        ([rule("FailIndex", 1, operator="NotIn")], failed(2), "FailIndex", True),
        ([rule("Ignore", 1, containerName="other")], failed(1), "", True),
        ([rule("Count", 1), rule("FailJob", 1)], failed(1), "Count", True),  # the first that fits
        ([ON_CONDITION], failed(1, DisruptionTarget="True"), "Ignore", False),
        ([ON_CONDITION], failed(1, DisruptionTarget="False"), "", True),
    ],
)
def test_the_first_rule_that_fits_decides(rules: list[Any], pod: Pod, action: str, counts: bool) -> None:
    found = verdict(a_batch(podFailurePolicy={"rules": rules}), pod)

    assert (found.action, found.counts) == (action, counts)


@pytest.mark.parametrize(
    "policy, done, met",
    [
        ({"succeededIndexes": "0-2"}, {0, 1}, False),
        ({"succeededIndexes": "0-2"}, {0, 1, 2}, True),
        ({"succeededIndexes": "0-2", "succeededCount": 2}, {0, 1, 7}, True),
        ({"succeededCount": 2}, {5, 6}, True),
        ({"succeededCount": 2}, {5}, False),
    ],
)
def test_what_is_enough(policy: dict[str, Any], done: set[int], met: bool) -> None:
    assert bool(success(a_batch(completions=9, successPolicy={"rules": [policy]}), done)) is met


@pytest.mark.parametrize(
    "spec, pods, new, gone",
    [
        ({"parallelism": 3, "completions": 2}, [], 2, []),
        ({"parallelism": 1}, [worker("a"), worker("b")], 0, []),  # the mark goes before the pod
        ({"suspend": True}, [], 0, []),
        ({"parallelism": 2}, [worker("a", "Succeeded"), worker("b")], 0, []),
        ({"parallelism": 1, "completions": 1, "podReplacementPolicy": "Failed"},
         [worker("a", deletion_timestamp=NOW)], 0, []),
    ],
)  # fmt: skip
def test_who_works(spec: dict[str, Any], pods: list[Pod], new: int, gone: list[str]) -> None:
    batch = a_batch(**spec)
    around = seen(batch, *pods)
    decision = job.reconcile(batch, around)

    assert len(created(decision, around)) == new and deleted(decision, around) == gone


def test_who_is_too_many_loses_its_mark_and_then_goes_without_being_counted() -> None:
    batch = a_batch(parallelism=1, completions=5)
    first, second = worker("a"), worker("b")
    decision = job.reconcile(batch, seen(batch, first, second))
    (change,) = decision.changes
    unmarked = Pod.read(
        {**change.observed.wire(), "metadata": {**change.observed.metadata.wire(), "finalizers": []}}
    )
    other = second if change.observed.uid == first.uid else first
    around = seen(batch, unmarked, other)
    decision = job.reconcile(batch, around)
    assert isinstance(decision.status, dict)

    assert deleted(decision, around) == [unmarked.name]
    assert decision.status["uncountedTerminatedPods"] == {} and decision.status["failed"] is None


def test_a_finished_job_goes_when_its_time_is_over() -> None:
    end = {"type": "Complete", "status": "True", "lastTransitionTime": "2024-06-01T11:59:00Z"}
    batch = a_batch({"conditions": [end]}, ttlSecondsAfterFinished=90)

    assert job.reconcile(batch, Snapshot(NOW)).check_again == 30
    later = job.reconcile(batch, Snapshot(NOW + timedelta(seconds=30)))
    assert later.ending is not None and later.ending.propagation == "Foreground"


def a_cron(status: dict[str, Any] | None = None, **spec: Any) -> CronJob:
    wanted = {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}, **spec}
    born = metadata("tick", creationTimestamp="2024-06-01T09:30:00Z")
    return CronJob.read({"metadata": born, "spec": wanted, "status": status or {}})


NOON = f"tick-{int(NOW.timestamp()) // 60}"


@pytest.mark.parametrize(
    "spec, jobs, new, gone",
    [
        ({}, [], [NOON], []),
        ({}, [NOON], [], []),  # made before a crash: not twice
        ({"suspend": True}, [], [], []),
        ({"schedule": "nonsense"}, [], [], []),
        ({"startingDeadlineSeconds": 10}, [], [NOON], []),
        ({"concurrencyPolicy": "Forbid"}, ["tick-1"], [], []),
        ({"concurrencyPolicy": "Replace"}, ["tick-1"], [NOON], ["tick-1"]),
        ({"concurrencyPolicy": "Allow"}, ["tick-1"], [NOON], []),
    ],
)
def test_a_moment_of_a_schedule(
    spec: dict[str, Any], jobs: list[str], new: list[str], gone: list[str]
) -> None:
    cron = a_cron(**spec)
    around = seen(cron, *(Job.read({"metadata": metadata(name)}) for name in jobs))
    decision = cronjob.reconcile(cron, around)

    assert created(decision, around) == new and deleted(decision, around) == gone


def test_the_next_look_is_at_the_next_moment() -> None:
    cron = a_cron()

    assert cronjob.reconcile(cron, seen(cron)).check_again == 3600
