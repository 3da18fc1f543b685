"""Deployments and ReplicaSets: how large each set may be next, who is missed least, what is told."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import CONTAINER, NOW, a_pod, created, deleted, metadata, seen

from paddlecloud.api.apps import Deployment, ReplicaSet
from paddlecloud.api.core import Pod
from paddlecloud.api.meta import OwnerReference
from paddlecloud.embedded.workloads import deployment, replicaset
from paddlecloud.embedded.workloads.history import begun, beyond_history, numbered, remembered, revision
from paddlecloud.embedded.workloads.ranking import least_needed
from paddlecloud.embedded.workloads.rollout import Fleet, bounds, proportional, recreate, roll
from paddlecloud.embedded.workloads.rolloutstatus import status_of
from paddlecloud.embedded.workloads.stamps import stamp

LABELS = {"app": "web"}
TEMPLATE: dict[str, Any] = {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER]}}


def a_deployment(replicas: int = 4, surge: Any = 1, unavailable: Any = 0, **more: Any) -> Deployment:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    status = more.pop("status", {})
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": LABELS},
        "template": TEMPLATE,
        "strategy": rolling,
    }
    return Deployment.read({"metadata": metadata("web"), "spec": {**spec, **more}, "status": status})


def a_set(name: str, size: int, available: int | None = None, **annotations: Any) -> ReplicaSet:
    well = size if available is None else available
    marks = {k.replace("__", "/").replace("_", "-"): v for k, v in annotations.items()}
    template = TEMPLATE if name == "new" else {**TEMPLATE, "spec": {"containers": [{"image": name}]}}
    return ReplicaSet.read({
        "metadata": metadata(name, labels=LABELS, annotations=marks),
        "spec": {"replicas": size, "template": template, "selector": {"matchLabels": LABELS}},
        "status": {"replicas": size, "availableReplicas": well, "readyReplicas": well,
                   "observedGeneration": 1},
    })  # fmt: skip


@pytest.mark.parametrize(
    "replicas, surge, unavailable, wanted",
    [
        (4, 1, 1, (1, 1)),
        (4, "25%", "25%", (1, 1)),
        (3, "25%", "25%", (1, 0)),  # one is rounded up, the other down
        (10, "7%", "29%", (1, 2)),
        (2, 0, "25%", (0, 1)),  # neither would never move
        (2, 0, 5, (0, 2)),
        (0, "50%", "50%", (0, 0)),
    ],
)
def test_bounds(replicas: int, surge: Any, unavailable: Any, wanted: tuple[int, int]) -> None:
    found = bounds(a_deployment(replicas, surge, unavailable))

    assert (found.surge, found.unavailable) == wanted


@pytest.mark.parametrize(
    "surge, unavailable, old, new, sizes",
    [
        (1, 0, (4, 4), (0, 0), {"new": 1}),
        (1, 0, (4, 4), (1, 0), {}),  # waits for the first new pod
        (1, 0, (4, 4), (1, 1), {"old": 3}),
        (1, 0, (3, 3), (1, 1), {"new": 2}),
        (0, 2, (4, 4), (0, 0), {"old": 2}),
        (0, 2, (2, 2), (0, 0), {"new": 2}),
        (1, 1, (4, 2), (1, 0), {"old": 3}),  # one that does not work goes although nothing is up
        (2, 0, (4, 4), (6, 6), {"new": 4}),  # scaled down meanwhile
    ],
)
def test_one_step_of_a_rolling_update(
    surge: int, unavailable: int, old: tuple[int, int], new: tuple[int, int], sizes: dict[str, int]
) -> None:
    fleet = Fleet(a_deployment(4, surge, unavailable), a_set("new", *new), (a_set("old", *old),))

    assert dict(roll(fleet).sizes) == sizes


@pytest.mark.parametrize("surge", [0, 1, 3, "25%", "100%"])
@pytest.mark.parametrize("unavailable", [0, 1, 3, "25%", "100%"])
@pytest.mark.parametrize("replicas", [1, 3, 7])
def test_a_rolling_update_ends_and_stays_within_its_bounds(
    replicas: int, surge: Any, unavailable: Any
) -> None:
    wanted = a_deployment(replicas, surge, unavailable)
    limit, sizes = bounds(wanted), {"old": replicas, "new": 0}
    for _ in range(4 * replicas + 4):
        fleet = Fleet(wanted, a_set("new", sizes["new"]), (a_set("old", sizes["old"]),))
        sizes |= roll(fleet).sizes
        assert sum(sizes.values()) <= replicas + limit.surge
        assert sum(sizes.values()) >= replicas - limit.unavailable

    assert sizes == {"old": 0, "new": replicas}


def test_a_scaling_is_shared_out_in_proportion() -> None:
    most: dict[str, Any] = {"deployment.kubernetes.io__max_replicas": "15"}
    fleet = Fleet(a_deployment(30, 5, 0), a_set("new", 5, **most), (a_set("old", 10, **most),))

    assert proportional(fleet) == {"old": 23, "new": 12}


@pytest.mark.parametrize(
    "old, pods_run, begin, sizes",
    [((2, 2), True, None, {"old": 0}), ((0, 0), True, None, {}), ((0, 0), False, 4, {})],
)
def test_recreation_waits(
    old: tuple[int, int], pods_run: bool, begin: int | None, sizes: dict[str, int]
) -> None:
    step = recreate(Fleet(a_deployment(4), None, (a_set("old", *old),)), pods_run)

    assert (step.begin, dict(step.sizes)) == (begin, sizes)


def marked(name: str, size: int, number: str) -> ReplicaSet:
    """A set with the number of its revision."""
    marks: dict[str, Any] = {"deployment.kubernetes.io__revision": number}
    return a_set(name, size, **marks)


def test_a_set_that_comes_back_gets_a_new_number_and_keeps_the_old() -> None:
    back = numbered(marked("new", 0, "1"), a_deployment(), [marked("old", 1, "4")])

    assert revision(back) == 5
    assert back.metadata.annotations["deployment.kubernetes.io/revision-history"] == "1"
    assert revision(numbered(back, a_deployment(), [])) == 5


def test_history_does_not_grow_for_ever() -> None:
    history = ""
    for number in range(1000):
        history = remembered(history, str(number))

    assert len(history) <= 2000 and history.endswith(",998,999")


@pytest.mark.parametrize("limit, gone", [(None, set()), (3, set()), (1, {"a"}), (0, {"a"})])
def test_only_empty_sets_are_forgotten_and_the_oldest_first(limit: int | None, gone: set[str]) -> None:
    old = [marked("b", 1, "2"), marked("a", 0, "1")]

    assert beyond_history(a_deployment(revisionHistoryLimit=limit), old) == gone


def test_the_name_of_a_set_follows_from_its_template_alone() -> None:
    names = [begun(a_deployment(n), (), n).name for n in (1, 5)]
    other = begun(a_deployment(template={"spec": {"containers": []}}), (), 1).name

    assert names[0] == names[1] != other


def test_a_roll_out_has_a_deadline_and_movement_puts_it_off() -> None:
    said = {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated",
            "lastUpdateTime": stamp(NOW), "lastTransitionTime": stamp(NOW)}  # fmt: skip
    before = {"conditions": [said], "replicas": 2, "updatedReplicas": 2}
    waiting = a_deployment(2, progressDeadlineSeconds=60, status=before)
    stuck = Fleet(waiting, a_set("new", 2, 0), ())

    def reason(fleet: Fleet, seconds: int) -> str:
        found = status_of(fleet, None, NOW + timedelta(seconds=seconds))["conditions"]
        return next(str(c["reason"]) for c in found if c["type"] == "Progressing")

    assert reason(stuck, 60) == "ReplicaSetUpdated"
    assert reason(stuck, 61) == "ProgressDeadlineExceeded"
    assert reason(Fleet(waiting, a_set("new", 2, 1), ()), 61) == "ReplicaSetUpdated"
    assert reason(Fleet(waiting, a_set("new", 2, 2), ()), 61) == "NewReplicaSetAvailable"


def test_a_new_deployment_asks_for_one_set_of_its_size() -> None:
    fresh = a_deployment(2)
    (made,) = deployment.reconcile(fresh, seen(fresh)).children

    assert isinstance(made, ReplicaSet) and made.replicas == 2


def a_group(replicas: int, **spec: Any) -> ReplicaSet:
    wanted = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": TEMPLATE, **spec}
    return ReplicaSet.read({"metadata": metadata("group"), "spec": wanted})


def member(name: str, phase: str = "Running", **more: Any) -> Pod:
    return a_pod(name, phase, labels=LABELS, **more)


@pytest.mark.parametrize(
    "there, wanted, new, gone",
    [
        ([], 3, 3, []),
        ([member("a")], 3, 2, []),
        ([member("a", "Failed")], 1, 1, []),  # left to be looked at
        ([member("a"), member("b", ready=False)], 1, 0, ["b"]),
        ([member("a", "Pending"), member("b")], 0, 0, ["a", "b"]),
        ([], 100, 16, []),  # a few at first: what is refused is refused a few times
        ([member(f"p{i}") for i in range(30)], 100, 30, []),
    ],
)
def test_a_set_has_as_many_pods_as_wanted(there: list[Pod], wanted: int, new: int, gone: list[str]) -> None:
    group = a_group(wanted)
    around = seen(group, *there)
    decision = replicaset.reconcile(group, around)

    assert len(created(decision, around)) == new and deleted(decision, around) == gone


def test_a_stranger_is_taken_in_and_counts_at_once() -> None:
    group, stranger = a_group(1), member("stranger")
    decision = replicaset.reconcile(group, seen(group, related=[stranger]))

    (change,) = decision.changes
    assert change.patch["metadata"]["ownerReferences"][0]["uid"] == group.uid
    assert decision.children == ()


def test_who_is_somebody_elses_or_on_its_way_out_is_not_taken_in() -> None:
    group = a_group(0)
    other = OwnerReference(uid="other", controller=True)
    owned = member("a").but(metadata=member("a").metadata.but(owner_references=[other]))
    leaving = member("b").but(metadata=member("b").metadata.but(deletion_timestamp=NOW))

    assert replicaset.reconcile(group, seen(group, related=[owned, leaving])).changes == ()


def test_a_pod_that_lost_its_labels_is_let_go_and_not_deleted() -> None:
    group, strange = a_group(1), a_pod("strange", labels={"app": "other"})
    around = seen(group, strange)
    decision = replicaset.reconcile(group, around)

    assert deleted(decision, around) == [] and len(created(decision, around)) == 1
    assert decision.changes[0].patch == {"metadata": {"ownerReferences": None}}


def test_names_are_the_same_when_a_look_is_repeated_and_new_when_the_set_moved_on() -> None:
    def names(version: str) -> list[str]:
        group = a_group(2)
        group = group.but(metadata=group.metadata.but(resource_version=version))
        return created(replicaset.reconcile(group, seen(group)), seen(group))

    assert names("7") == names("7") != names("8")


def test_a_refusal_is_told_and_only_one_pod_is_tried() -> None:
    group = a_group(3)
    around = seen(group)
    refused = type(around)(around.now, refused=("exceeded quota",))
    decision = replicaset.reconcile(group, refused)
    assert isinstance(decision.status, dict)

    assert len(created(decision, refused)) == 1
    assert decision.status["conditions"][0]["message"] == "exceeded quota"


OLD, YOUNG = NOW - timedelta(days=30), NOW - timedelta(seconds=10)


def ranked(
    name: str,
    phase: str = "Running",
    *,
    node: str = "n",
    cost: str = "0",
    since: Any = OLD,
    ready: bool = True,
) -> Pod:
    holds = {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": stamp(since)}
    body = metadata(
        name, annotations={"controller.kubernetes.io/pod-deletion-cost": cost}, creationTimestamp=stamp(since)
    )
    return Pod.read(
        {"metadata": body, "spec": {"nodeName": node}, "status": {"phase": phase, "conditions": [holds]}}
    )


@pytest.mark.parametrize(
    "goes, stays",
    [
        (ranked("z", node=""), ranked("a")),
        (ranked("z", "Pending", ready=False), ranked("a", ready=False)),
        (ranked("z", ready=False), ranked("a")),
        (ranked("z", cost="-5"), ranked("a")),
        (ranked("z"), ranked("a", cost="7")),
        (ranked("z", since=YOUNG), ranked("a")),
        (ranked("z", cost="nonsense", since=YOUNG), ranked("a")),
    ],
)
def test_who_is_missed_least(goes: Pod, stays: Pod) -> None:
    assert least_needed([stays, goes], 1, NOW) == [goes]


def test_the_crowded_node_gives_first() -> None:
    pods = [ranked("a", node="full"), ranked("b", node="full"), ranked("c", node="empty")]

    assert least_needed(pods, 1, NOW)[0].node == "full"


UP = {
    "observedGeneration": 2,
    "replicas": 1,
    "updatedReplicas": 1,
    "readyReplicas": 1,
    "availableReplicas": 1,
}
RESTS = {"observedGeneration": 2}


@pytest.mark.parametrize(
    "old, new, later",
    [
        (RESTS, RESTS, False),
        (RESTS, RESTS | {"unavailableReplicas": 1}, True),
        (RESTS, RESTS | {"replicas": 1, "updatedReplicas": 1, "unavailableReplicas": 1}, True),
        (RESTS, UP, False),
        (UP, RESTS, False),
        (RESTS, {"observedGeneration": 3, "unavailableReplicas": 1}, False),
        (RESTS | {"replicas": 2}, RESTS | {"replicas": 1}, False),
    ],
)
def test_pods_that_come_are_told_of_together_with_their_readiness(
    old: dict[str, Any], new: dict[str, Any], later: bool
) -> None:
    assert deployment.only_more_pods(old, new) is later


def test_a_set_that_makes_pods_counts_them_with_its_generation_in_one_write() -> None:
    group = a_group(1)

    assert replicaset.reconcile(group, seen(group)).counts_only
    assert not replicaset.reconcile(group, seen(group, member("p0"))).counts_only
