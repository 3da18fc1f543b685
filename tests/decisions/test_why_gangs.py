"""The chain of causes of a job that waits for its gang: one sentence, said once."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.cli.why import Facts, chain

GANG = "1/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable"
LACK = "0/1 nodes are available: 1 Insufficient cpu."
SINCE = "2024-06-01T12:00:00Z"


def said(kind: str, holds: str, message: str) -> dict[str, Any]:
    return {"type": kind, "status": holds, "message": message, "lastTransitionTime": SINCE}


def a_body(kind: str, name: str, *conditions: Any, phase: str = "Pending", owner: str = "") -> dict[str, Any]:
    owners = [{"uid": owner}] if owner else []
    marks = {"scheduling.k8s.io/group-name": "x"} if kind == "Pod" else {}
    metadata = {"name": name, "uid": f"{kind}-{name}", "ownerReferences": owners, "annotations": marks}
    return {"kind": kind, "metadata": metadata, "status": {"phase": phase, "conditions": list(conditions)}}


def facts(*bodies: dict[str, Any]) -> Facts:
    by_uid = {b["metadata"]["uid"]: b for b in bodies}
    return Facts(by_uid, (), {(b["kind"], b["metadata"]["name"]): b for b in bodies})


def a_stuck_gang(owned: bool) -> tuple[dict[str, Any], ...]:
    group = said("Unschedulable", "True", f"{GANG}; pod x-1: {LACK}")
    told = said("Progressing", "False", f"PodGroup x cannot start: {GANG}; pod x-1: {LACK}")
    return (
        a_body("PaddleJob", "x", told),
        a_body("PodGroup", "x", group, phase="Inqueue", owner="PaddleJob-x" if owned else ""),
        a_body("Pod", "x-0", said("PodScheduled", "False", GANG), owner="PaddleJob-x"),
        a_body("Pod", "x-1", said("PodScheduled", "False", LACK), owner="PaddleJob-x"),
    )


@pytest.mark.parametrize("owned", [True, False])
def test_a_job_names_the_pod_that_fits_nowhere_and_repeats_nothing(owned: bool) -> None:
    bodies = a_stuck_gang(owned)

    assert chain(bodies[0], facts(*bodies)) == [
        "paddlejob/x: Pending",
        f"   PodGroup x cannot start: {GANG}; pod x-1: {LACK} (since {SINCE})",
        "   └─ pod/x-1: Pending",
        f"      {LACK} (since {SINCE})",
    ]


def test_a_pod_that_waits_for_the_others_leads_to_the_group() -> None:
    bodies = a_stuck_gang(owned=True)

    assert chain(bodies[2], facts(*bodies)) == [
        "pod/x-0: Pending",
        f"   {GANG} (since {SINCE})",
        "   └─ podgroup/x: Inqueue",
        f"      {GANG}; pod x-1: {LACK} (since {SINCE})",
    ]


def test_a_group_that_has_nothing_to_say_is_left_out() -> None:
    job = a_body("PaddleJob", "x", said("Progressing", "False", "waits for SampleSet digits"))
    group = a_body("PodGroup", "x", phase="Inqueue")

    assert len(chain(job, facts(job, group))) == 2


@pytest.mark.parametrize(
    "spec, conditions, told",
    [
        ({"schedulerName": "my-scheduler"}, [], "no scheduler called my-scheduler runs here"),
        ({"schedulerName": "my-scheduler", "nodeName": "a"}, [], None),
        ({"schedulerName": "my-scheduler"}, [said("PodScheduled", "False", "full")], "full"),
        ({"schedulerName": "default-scheduler"}, [], None),
        ({}, [], None),
    ],
)
def test_a_pod_nobody_looked_at_names_its_scheduler(spec: Any, conditions: Any, told: Any) -> None:
    lines = chain(a_body("Pod", "p", *conditions) | {"spec": spec}, facts())

    assert (told in lines[1]) if told else len(lines) == 1


@pytest.mark.parametrize(
    "older, newer, waits",
    [("Unschedulable", "Scheduled", False), ("Scheduled", "Unschedulable", True)],
)
def test_of_two_words_about_a_group_the_newer_counts(older: str, newer: str, waits: bool) -> None:
    words = [
        said(newer, "True", "now") | {"lastTransitionTime": "2024-06-01T12:00:05Z"},
        said(older, "True", "before"),
    ]
    lines = chain(a_body("PodGroup", "x", *words, phase="Running"), facts())

    assert len(lines) == (2 if waits else 1)


@pytest.mark.parametrize(
    "conditions, shown",
    [
        ((), "new"),
        (("Created",), "Created"),
        (("Created", "Running"), "Running"),
        (("Created", "Running", "Succeeded"), "Succeeded"),
    ],
)
def test_a_job_without_a_phase_tells_by_its_conditions_how_it_is(
    conditions: tuple[str, ...], shown: str
) -> None:
    body = a_body("PaddleJob", "x", *(said(c, "True", "") for c in conditions), phase="")

    assert chain(body, facts())[0] == f"paddlejob/x: {shown}"
