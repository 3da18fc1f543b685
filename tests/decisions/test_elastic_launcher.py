"""Jobs under Paddle's own elastic launcher: their etcd, who joins, and what is not taken for success."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import (
    CONTAINER,
    NOW,
    a_job,
    a_pod,
    a_role,
    condition_of,
    created,
    deleted,
    log_of,
    pods_of,
    with_stored,
)

from paddlecloud.api.core import ConfigMap, Pod, Service
from paddlecloud.api.paddlejob import PaddleJob, PaddleJobStatus
from paddlecloud.controllers.attempts import Mark, fingerprint
from paddlecloud.controllers.contract import Decision, Snapshot, plan
from paddlecloud.controllers.elasticstore import make_service, make_store
from paddlecloud.controllers.joblogs import logs_asked
from paddlecloud.controllers.jobpods import make_pod
from paddlecloud.controllers.paddlejob import asks, reconcile
from paddlecloud.controllers.startorder import START

NO_PEERS = (
    "LAUNCH INFO 2026-11-16 12:15:06,216 Waiting peer ready...\n"
    "LAUNCH WARNING 2026-11-16 12:15:14,254 peer not ready Job: hand, replicas 3[2:3], elastic True\n"
    "LAUNCH INFO 2026-11-16 12:15:14,254 Exit code 0\n"
)
TRAINED = "epoch 6/6 step 512/512 loss 0.1\nLAUNCH INFO 2026-11-16 12:17:18,700 Pod completed\n"


def launched(replicas: int = 2, least: int = 2, most: int | None = 4, **more: Any) -> PaddleJob:
    role = a_role(replicas) | {"requests": least} | ({"limits": most} if most else {})
    status = {"phase": "Running", "startTime": NOW - timedelta(minutes=5)} | more.pop("status", {})
    return a_job(elastic=1, elasticLauncher=True, worker=role, status=status, **more)


def the_store(job: PaddleJob, phase: str = "Running", *, ready: bool = True, uid: str = "uid-e") -> Pod:
    made = make_store(job)
    found = a_pod(made.name, phase, ready=ready, labels=made.metadata.labels)
    return found.but(metadata=found.metadata.but(uid=uid))


def workers(job: PaddleJob, *phases: str, store: str = "uid-e") -> dict[str, Pod]:
    """Pods that were let go with the etcd of that uid; `gate` stands for one that has only its address."""
    found = {}
    mark = str(
        Mark(
            job.status.attempt,
            fingerprint([a_pod("e").but(metadata=make_store(job).metadata.but(uid=store))]),
        )
    )
    for pod, phase in zip(pods_of(job, worker=["Running"] * len(phases)), phases, strict=True):
        status = pod.status if phase in ("gate", "Running") else {"phase": phase}
        annotations = {} if phase in ("gate", "Pending") else {START: mark}
        found[pod.name] = pod.but(status=status, metadata=pod.metadata.but(annotations=annotations))
    return found


def ran(pod: Pod, began: int, ended: int | None = None) -> Pod:
    """The pod with its container begun, and ended, so many seconds ago."""
    times = {"startedAt": (NOW - timedelta(seconds=began)).isoformat()}
    if ended is not None:
        times |= {"finishedAt": (NOW - timedelta(seconds=ended)).isoformat()}
    state = {"running" if ended is None else "terminated": times}
    return pod.but(status=pod.status | {"containerStatuses": [{"name": "main", "state": state}]})


def seen(*children: Any, **logs: str) -> Snapshot:
    """With what the workers said: `seen(..., w0="...")`."""
    answers: dict[Any, str] = {}
    for name, text in logs.items():
        answers |= log_of(f"wide-deep-worker-{name[1:]}", text)
    return Snapshot(NOW, children, answers=answers)


def status_of(decision: Decision) -> PaddleJobStatus:
    assert isinstance(decision.status, PaddleJobStatus)
    return decision.status


def variables(job: PaddleJob) -> dict[str, Any]:
    """Of a worker, as its container sees them: the last of a name counts."""
    return {e["name"]: e.get("value") for e in make_pod(job, "worker", 1).spec["containers"][0]["env"]}


def test_an_etcd_and_its_service_are_made_before_the_workers() -> None:
    job = launched()
    decision = reconcile(job, Snapshot(NOW))
    assert created(decision, Snapshot(NOW)) == [
        "wide-deep-etcd", "wide-deep-etcd", "wide-deep-worker-0", "wide-deep-worker-1",
    ]  # fmt: skip
    service, store, *_ = decision.children
    assert isinstance(service, Service) and isinstance(store, Pod)
    assert service.spec["selector"].items() <= store.metadata.labels.items()
    assert service.spec.get("type") in (None, "ClusterIP")
    assert not any(isinstance(child, ConfigMap) for child in decision.children)


def test_workers_are_told_where_etcd_is_and_neither_rank_nor_endpoints() -> None:
    told = variables(launched(replicas=2, least=2, most=3))
    server = "$(WIDE_DEEP_ETCD_SERVICE_HOST):2379"
    assert (
        told.items()
        >= {
            "PADDLE_MASTER": f"etcd://{server}",
            "PADDLE_NNODES": "2:3",
            "PADDLE_JOB_ID": "ml-wide-deep",
            "PADDLE_ELASTIC_JOB_ID": "ml-wide-deep",
            "PADDLE_ELASTIC_NP": "2",
            "PADDLE_ELASTIC_TIMEOUT": "60",
            "PADDLE_ELASTIC_SERVER": server,
            "PADDLE_ELASTIC_LEVEL": "1",
        }.items()
    )
    assert "PADDLE_TRAINER_ID" not in told
    spec = make_pod(launched(), "worker", 1).spec
    assert "envFrom" not in spec["containers"][0] and spec["restartPolicy"] == "Never"


@pytest.mark.parametrize(
    "own, links, name, expected",
    [
        ("PADDLE_ELASTIC_TIMEOUT", True, "PADDLE_ELASTIC_TIMEOUT", "mine"),
        ("PADDLE_MAX_RESTART", True, "PADDLE_MAX_RESTART", "mine"),
        ("PADDLE_NNODES", True, "PADDLE_NNODES", "2:4"),
        ("OTHER", False, "PADDLE_MASTER", "etcd://wide-deep-etcd:2379"),
    ],
)
def test_a_template_may_choose_what_is_the_jobs_own(own: str, links: bool, name: str, expected: str) -> None:
    container = CONTAINER | {"env": [{"name": own, "value": "mine"}]}
    role = a_role(2, containers=[container], enableServiceLinks=links) | {"requests": 2, "limits": 4}
    assert variables(a_job(elastic=1, elasticLauncher=True, worker=role))[name] == expected


@pytest.mark.parametrize(
    "phases, etcd, ready, expected",
    [
        (("gate", "gate"), "Running", True, [0, 1]),
        (("gate", "gate"), "Running", False, []),
        (("gate", "gate"), "Pending", False, []),
        (("gate", "Pending"), "Running", True, []),
        (("gate", "Pending", "gate"), "Running", True, [0, 2]),
        (("Running", "Running", "gate"), "Running", True, [2]),
        (("Running", "gate"), "Running", True, [1]),
        (("Succeeded", "Running", "gate"), "Running", True, []),  # the end is near
    ],
)
def test_workers_begin_when_etcd_is_ready_and_enough_are_there(
    phases: tuple[str, ...], etcd: str, ready: bool, expected: list[int]
) -> None:
    job = launched(len(phases))
    decision = reconcile(job, seen(the_store(job, etcd, ready=ready), *workers(job, *phases).values()))
    assert [int(c.observed.name[-1]) for c in decision.changes] == expected


@pytest.mark.parametrize("before, after, made, gone", [(2, 3, [2], []), (3, 2, [], [2])])
def test_scaling_only_makes_or_deletes_pods(
    before: int, after: int, made: list[int], gone: list[int]
) -> None:
    pods = workers(launched(before), *["Running"] * before)
    job = launched(after)
    snapshot = seen(the_store(job), make_service(job), *pods.values())
    decision = reconcile(job, snapshot)
    assert created(decision, snapshot) == [f"wide-deep-worker-{i}" for i in made]
    assert deleted(decision, snapshot) == [f"wide-deep-worker-{i}" for i in gone]
    assert (status_of(decision).attempt, status_of(decision).restarts) == (0, 0)


ENDS: list[Any] = [
    pytest.param(2, [(100, 5), (100, 3)], {}, "Completed", id="both trained to the end"),
    pytest.param(2, [(100, 50), (40, 3)], {}, "again", id="one after the other"),
    pytest.param(2, [(100, 5), None], {}, "again", id="the other never came"),
    pytest.param(1, [(100, 5), None], {}, "Completed", id="one is enough, and the other never came"),
    pytest.param(2, [(100, 5), (100, 3)], {"w0": NO_PEERS, "w1": NO_PEERS}, "again", id="both gave up"),
    pytest.param(2, [(100, 5), (100, 3)], {"w0": TRAINED, "w1": TRAINED}, "Completed", id="both say so"),
    pytest.param(2, [(100, 5), (100, None)], {"w0": TRAINED}, "Running", id="one still works"),
    pytest.param(
        2, [(90, 5), (90, 3), (4, 1)], {"w0": TRAINED, "w1": TRAINED, "w2": NO_PEERS}, "Completed", id="late"
    ),
]  # fmt: skip


@pytest.mark.parametrize("least, runs, logs, expected", ENDS)
def test_a_job_is_complete_when_enough_trained_together(
    least: int, runs: list[tuple[int, int | None] | None], logs: dict[str, str], expected: str
) -> None:
    job = launched(len(runs), least)
    phases = ["gate" if r is None else "Running" if r[1] is None else "Succeeded" for r in runs]
    pods = zip(workers(job, *phases).values(), runs, strict=True)
    decision = reconcile(job, seen(the_store(job), *(ran(p, *r) if r else p for p, r in pods), **logs))
    status = status_of(decision)
    if expected == "again":
        assert (status.phase, status.restarts, status.attempt) == ("Restarting", 1, 1)
        assert "had not found 2 workers to train with" in condition_of(decision, "Progressing").message
    else:
        assert (status.phase, status.restarts, status.attempt) == (expected, 0, 0)


def test_a_worker_that_gave_up_comes_back_alone_while_others_wait() -> None:
    job = launched(3, 3)
    pods = workers(job, "Succeeded", "Running", "Running")
    decision = reconcile(job, seen(the_store(job), *pods.values(), w0=NO_PEERS))
    status = status_of(decision)
    assert (status.attempt, status.restarts, status.replaced) == (0, 1, [pods["wide-deep-worker-0"].uid])
    snapshot = seen(the_store(job), *pods.values())
    assert deleted(reconcile(with_stored(job, decision), snapshot), snapshot) == ["wide-deep-worker-0"]


def test_who_gives_up_too_often_fails_with_the_words_of_its_launcher() -> None:
    job = launched(backoffLimit=0)
    pods = workers(job, "Succeeded", "Succeeded")
    decision = reconcile(job, seen(the_store(job), *pods.values(), w0=NO_PEERS, w1=NO_PEERS))
    assert status_of(decision).phase == "Failed"
    message = condition_of(decision, "Failed").message
    assert "had not found 2 workers" in message and "peer not ready" in message


def test_what_those_who_ended_said_is_asked_for() -> None:
    job = launched()
    questions = asks(job, seen(the_store(job), *workers(job, "Succeeded", "Running").values()))
    assert set(questions) == set(log_of("wide-deep-worker-0", ""))


@pytest.mark.parametrize("others, whole", [("Running", False), ("Succeeded", True)])
def test_a_worker_that_failed_comes_back_alone_unless_others_have_ended(others: str, whole: bool) -> None:
    job = launched(3, 1)
    pods = workers(job, others, others, "Failed")
    status = status_of(reconcile(job, seen(the_store(job), *pods.values())))
    assert (status.restarts, status.attempt == 1) == (1, whole)


@pytest.mark.parametrize(
    "said, phase",
    [
        (NO_PEERS, "Running"),  # it ended with a peer that went
        (None, "Running"),  # or so it may be
        ("ModuleNotFoundError: No module named 'etcd3'\n", "Failed"),
        ("print('peer not ready Job: ')\n", "Failed"),
    ],
)
def test_a_launcher_that_ends_with_its_peers_is_not_a_mistake_of_the_program(
    said: str | None, phase: str
) -> None:
    job = launched(status={"startTime": NOW - timedelta(seconds=5)})
    pods = workers(job, "Running", "Failed")
    ended = [{"name": "main", "state": {"terminated": {"exitCode": 1}}}]
    pods["wide-deep-worker-1"] = pods["wide-deep-worker-1"].but(
        status={"phase": "Failed", "containerStatuses": ended}
    )
    decision = reconcile(job, seen(the_store(job), *pods.values(), **({"w1": said} if said else {})))
    assert status_of(decision).phase == phase


def test_a_launcher_that_lost_its_peers_often_is_still_tried_again() -> None:
    job = launched(status={"restarts": 5, "lastRestartTime": NOW})
    pods = workers(job, "Running", "Succeeded")
    status = status_of(reconcile(job, seen(the_store(job), *pods.values(), w1=NO_PEERS)))
    assert (status.phase, status.restarts) == ("Running", 6)


def test_workers_begin_again_with_an_etcd_that_does_not_know_them() -> None:
    job = launched()
    pods = workers(job, "Running", "Running", store="uid-of-another")
    decision = reconcile(job, seen(the_store(job), *pods.values()))
    assert (status_of(decision).attempt, status_of(decision).restarts) == (1, 1)
    assert "came back without what it knew" in condition_of(decision, "Progressing").message


def test_an_etcd_that_has_ended_goes_and_then_another_is_made() -> None:
    job = launched()
    pods = workers(job, "Running", "Running")
    snapshot = seen(the_store(job, "Failed"), make_service(job), *pods.values())
    assert deleted(reconcile(job, snapshot), snapshot) == ["wide-deep-etcd"]
    snapshot = seen(make_service(job), *pods.values())
    assert created(reconcile(job, snapshot), snapshot) == ["wide-deep-etcd"]


@pytest.mark.parametrize("policy", ["Always", "Never", "OnFailure", "OnCompletion"])
@pytest.mark.parametrize("phase", ["Completed", "Failed"])
def test_etcd_ends_with_the_job_in_every_policy(policy: str, phase: str) -> None:
    job = launched(cleanPodPolicy=policy, status={"phase": phase, "completionTime": NOW})
    store = the_store(job)
    snapshot = seen(store, make_service(job), *workers(job, "Succeeded", "Succeeded").values())
    gone = {(c.kind, c.name) for c in plan(snapshot.children, reconcile(job, snapshot)).delete}
    assert gone >= {("Pod", "wide-deep-etcd"), ("Service", "wide-deep-etcd")}
    assert logs_asked([ran(store, 10)], snapshot) == ()


def test_etcd_is_no_role_and_what_keeps_it_from_starting_is_told() -> None:
    job = launched(status={"phase": "Pending"})
    message = "0/1 nodes are available"
    unplaced = {"type": "PodScheduled", "status": "False", "message": message}
    store = the_store(job).but(status={"phase": "Pending", "conditions": [unplaced]})
    decision = reconcile(job, seen(store, *workers(job, "gate", "gate").values()))
    worker = status_of(decision).worker
    assert worker is not None and worker.replicas == 2
    assert condition_of(decision, "Progressing").message == f"pod wide-deep-etcd has no node: {message}"


def test_a_job_that_rests_has_no_etcd() -> None:
    job = launched(suspend=True)
    snapshot = seen(the_store(job), make_service(job))
    assert deleted(reconcile(job, snapshot), snapshot) == ["wide-deep-etcd", "wide-deep-etcd"]


def test_a_job_that_is_settled_costs_no_writes() -> None:
    job = launched()
    snapshot = seen(the_store(job), make_service(job), *workers(job, "Running", "Running").values())
    job = with_stored(job, reconcile(job, snapshot))
    decision = reconcile(job, snapshot)
    assert plan(snapshot.children, decision).empty and not decision.changes and not decision.notes
    assert decision.status == job.status
