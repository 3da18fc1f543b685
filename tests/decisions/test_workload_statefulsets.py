"""StatefulSets: who is made, renewed and taken away next, and on which revision."""

from __future__ import annotations

from typing import Any

import pytest
from tests.decisions.builders import NOW, a_claim, a_group, a_pod, created, deleted, metadata, seen

from paddlecloud.api.core import Pod, StatefulSet
from paddlecloud.api.meta import Metadata
from paddlecloud.controllers.contract import Decision
from paddlecloud.embedded.workloads import statefulset
from paddlecloud.embedded.workloads.statefulclaims import entrusted, make_claim
from paddlecloud.embedded.workloads.statefulpods import make_pod
from paddlecloud.embedded.workloads.statefulrevisions import LABEL, begun, revisions_of

ORDERED, PARALLEL = "OrderedReady", "Parallel"


def pods(group: StatefulSet, states: str, tag: str = "") -> list[Pod]:
    """One letter a pod: Ready, starting, Failed, Terminating; a dot is no pod."""
    name = begun(group, 1).name
    found = []
    for number, state in enumerate(states):
        if state == ".":
            continue
        phase = "Failed" if state == "F" else "Running"
        pod = a_pod(f"group-{number}", phase, ready=state in "RT", labels={LABEL: tag or name})
        leaving = {"deletion_timestamp": NOW} if state == "T" else {}
        found.append(pod.but(metadata=pod.metadata.but(**leaving)))
    return found


def decided(group: StatefulSet, *there: Any) -> tuple[list[str], list[str], Decision]:
    around = seen(group, *there)
    decision = statefulset.reconcile(group, around)
    made = [name for name in created(decision, around) if name.rpartition("-")[2].isdecimal()]
    return made, deleted(decision, around), decision


@pytest.mark.parametrize(
    "policy, wanted, states, made, gone",
    [
        (ORDERED, 3, "", ["group-0"], []),
        (ORDERED, 3, "s", [], []),
        (ORDERED, 3, "R", ["group-1"], []),
        (ORDERED, 3, ".R", ["group-0"], []),
        (ORDERED, 3, "RsR", [], []),
        (ORDERED, 3, "FRR", [], ["group-0"]),
        (ORDERED, 3, "RTR", [], []),
        (ORDERED, 0, "", [], []),
        (ORDERED, 1, "RRR", [], ["group-2"]),
        (ORDERED, 1, "RRT", [], []),
        (ORDERED, 1, "sRR", [], []),  # first what should be there
        (ORDERED, 1, "RsR", [], ["group-2"]),
        (ORDERED, 1, "RRs", [], ["group-2"]),
        (ORDERED, 1, "Rss", [], []),  # the lower one is the first that is not well
        (PARALLEL, 3, "", ["group-0", "group-1", "group-2"], []),
        (PARALLEL, 3, "s.F", ["group-1"], ["group-2"]),
        (PARALLEL, 1, "sRR", [], ["group-1", "group-2"]),
    ],
)
def test_the_next_step(policy: str, wanted: int, states: str, made: list[str], gone: list[str]) -> None:
    group = a_group(wanted, podManagementPolicy=policy)

    assert decided(group, begun(group, 1), *pods(group, states))[:2] == (made, gone)


@pytest.mark.parametrize(
    "strategy, states, gone",
    [
        ({}, "RRR", ["group-2"]),
        ({"rollingUpdate": {"partition": 2}}, "RRR", ["group-2"]),
        ({"rollingUpdate": {"partition": 3}}, "RRR", []),
        ({"type": "OnDelete"}, "RRR", []),
        ({}, "RRs", []),  # not while one is not well
    ],
)
def test_pods_of_an_old_revision_are_renewed_from_above(strategy: Any, states: str, gone: list[str]) -> None:
    group = a_group(3, updateStrategy=strategy)

    assert decided(group, begun(group, 1), *pods(group, states, "group-old"))[:2] == ([], gone)


def test_a_renewal_goes_on_where_it_stands() -> None:
    group = a_group(3)
    there = [*pods(group, "RR", "group-old"), pods(group, "..R")[0]]

    assert decided(group, begun(group, 1), *there)[1] == ["group-1"]


@pytest.mark.parametrize("group", [a_group(1, template=None), a_group(None)])
def test_a_group_that_says_too_little_stops_nothing(group: StatefulSet) -> None:
    assert decided(group)[0] == ["group-0"]


def test_pods_of_a_group_have_stable_names() -> None:
    group = a_group(2)
    pod = make_pod(group, 1, begun(group, 1))

    assert (pod.name, pod.spec["hostname"], pod.spec["subdomain"]) == ("group-1", "group-1", "group")
    assert pod.metadata.labels["apps.kubernetes.io/pod-index"] == "1"


def test_a_template_that_comes_back_is_found_and_renumbered() -> None:
    first, second = begun(a_group(1), 1), begun(a_group(1, template={"spec": {"hostNetwork": True}}), 2)
    found = revisions_of(a_group(1), [second, first], [])

    assert (found.update.name, found.update.revision) == (first.name, 3)
    assert {r.name for r in found.kept} == {first.name, second.name}


@pytest.mark.parametrize("limit, kept", [(0, 1), (1, 2), (10, 4)])
def test_revisions_nobody_uses_are_forgotten_oldest_first(limit: int, kept: int) -> None:
    group = a_group(1, revisionHistoryLimit=limit)
    old = [begun(a_group(1, template={"spec": {"n": n}}), n) for n in (1, 2, 3)]
    found = revisions_of(group, [*old, begun(group, 4)], [])

    assert [r.revision for r in found.kept] == [1, 2, 3, 4][4 - kept :]


TEMPLATE = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}


@pytest.mark.parametrize(
    "policy, number, owner",
    [
        ({}, 0, []),
        ({"whenDeleted": "Delete"}, 0, ["StatefulSet"]),
        ({"whenScaled": "Delete"}, 0, []),
        ({"whenScaled": "Delete"}, 5, ["Pod"]),
        ({"whenDeleted": "Delete", "whenScaled": "Delete"}, 5, ["Pod"]),
        ({"whenDeleted": "Delete"}, 5, ["StatefulSet"]),
    ],
)
def test_claims_end_with_whom_the_policy_says(policy: Any, number: int, owner: list[str]) -> None:
    group = a_group(1, volumeClaimTemplates=[TEMPLATE], persistentVolumeClaimRetentionPolicy=policy)
    claim = make_claim(group, TEMPLATE, number)
    changes = entrusted(group, a_pod(f"group-{number}"), number, {claim.name: claim})

    said = [r["kind"] for c in changes for r in c.patch["metadata"]["ownerReferences"]]
    assert said == owner


def test_a_pod_waits_for_a_claim_that_is_on_its_way_out() -> None:
    group = a_group(1, volumeClaimTemplates=[TEMPLATE])
    leaving = a_claim("data-group-0")
    leaving = leaving.but(
        metadata=Metadata.model_validate(metadata("data-group-0")).but(deletion_timestamp=NOW)
    )
    around = seen(group, begun(group, 1), related=[leaving])

    assert created(statefulset.reconcile(group, around), around) == []
    assert [n.name for n in statefulset.reconcile(group, seen(group)).needs] == ["data-group-0"]
