"""Deleting: what keeps an object, for how long, and when it goes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from paddlecloud.embedded.server.deletion import DeleteOptions, begin_deletion, may_go, options_of
from paddlecloud.embedded.server.kinds import Kind
from paddlecloud.errors import BadRequest, Conflict

NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)
PODS, CONFIG = Kind("", "v1", "Pod", "pods"), Kind("", "v1", "ConfigMap", "configmaps")
SPACES = Kind("", "v1", "Namespace", "namespaces", namespaced=False)


def an_object(kind: str = "ConfigMap", finalizers: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    metadata = {"name": "x", "uid": "u", "resourceVersion": "7", "finalizers": list(finalizers)}
    return {"kind": kind, "metadata": metadata, **more}


def a_pod(node: str = "node-0", phase: str = "Running", grace: int = 30) -> dict[str, Any]:
    spec = {"terminationGracePeriodSeconds": grace} | ({"nodeName": node} if node else {})
    return an_object("Pod", spec=spec, status={"phase": phase})


@pytest.mark.parametrize(
    "kind, body, grace, seconds",
    [
        (CONFIG, an_object(), None, None),
        (CONFIG, an_object(), 30, None),  # only pods have time to say goodbye
        (CONFIG, an_object(finalizers=("f",)), None, 0),
        (PODS, a_pod(), None, 30),
        (PODS, a_pod(grace=5), None, 5),
        (PODS, a_pod(), 3, 3),
        (PODS, a_pod(), 0, None),
        (PODS, a_pod(), -1, None),
        (PODS, a_pod(node=""), None, None),  # it runs nowhere
        (PODS, a_pod(phase="Succeeded"), None, None),
        (PODS, a_pod(phase="Failed"), 30, None),
        (SPACES, an_object("Namespace", spec={"finalizers": ["kubernetes"]}), None, 0),
    ],
)
def test_what_keeps_an_object_and_for_how_long(
    kind: Kind, body: dict[str, Any], grace: int | None, seconds: int | None
) -> None:
    new = begin_deletion(kind, body, DeleteOptions(grace=grace), NOW)

    assert (None if new is None else new["metadata"]["deletionGracePeriodSeconds"]) == seconds
    assert "deletionTimestamp" not in body["metadata"]


def test_the_time_of_a_deletion_is_when_the_grace_is_over() -> None:
    new = begin_deletion(PODS, a_pod(), DeleteOptions(), NOW)

    assert new is not None and new["metadata"]["deletionTimestamp"] == "2024-06-01T12:00:30Z"


@pytest.mark.parametrize("grace, seconds", [(None, 30), (60, 30), (5, 5)])
def test_a_second_deletion_may_only_shorten_the_grace(grace: int | None, seconds: int) -> None:
    first = begin_deletion(PODS, a_pod(), DeleteOptions(), NOW)
    assert first is not None
    second = begin_deletion(PODS, first, DeleteOptions(grace=grace), NOW)

    assert second is not None and second["metadata"]["deletionGracePeriodSeconds"] == seconds


def test_a_second_deletion_without_grace_ends_it() -> None:
    first = begin_deletion(PODS, a_pod(), DeleteOptions(), NOW)
    assert first is not None

    assert begin_deletion(PODS, first, DeleteOptions(grace=0), NOW) is None


def test_a_namespace_that_goes_says_so() -> None:
    body = an_object("Namespace", spec={"finalizers": ["kubernetes"]}, status={"phase": "Active"})
    new = begin_deletion(SPACES, body, DeleteOptions(), NOW)

    assert new is not None and new["status"] == {"phase": "Terminating"}


@pytest.mark.parametrize(
    "metadata, more, goes",
    [
        ({}, {}, False),
        ({"deletionTimestamp": "t"}, {}, True),
        ({"deletionTimestamp": "t", "finalizers": ["f"]}, {}, False),
        ({"deletionTimestamp": "t", "deletionGracePeriodSeconds": 5}, {}, False),
        ({"deletionTimestamp": "t", "deletionGracePeriodSeconds": 0}, {}, True),
        ({"deletionTimestamp": "t"}, {"kind": "Namespace", "spec": {"finalizers": ["kubernetes"]}}, False),
        ({"deletionTimestamp": "t"}, {"kind": "Namespace", "spec": {"finalizers": []}}, True),
        ({"deletionTimestamp": "t"}, {"kind": "Other", "spec": {"finalizers": ["mine"]}}, True),
    ],
)
def test_an_object_goes_with_the_last_that_held_it(
    metadata: dict[str, Any], more: dict[str, Any], goes: bool
) -> None:
    assert may_go({"metadata": metadata, **more}) is goes


@pytest.mark.parametrize("options", [DeleteOptions(uid="other"), DeleteOptions(revision="6")])
def test_a_precondition_that_does_not_hold_is_a_conflict(options: DeleteOptions) -> None:
    with pytest.raises(Conflict, match="Precondition failed"):
        options.check(CONFIG, an_object())


def test_a_precondition_that_holds_is_none() -> None:
    DeleteOptions(uid="u", revision="7").check(CONFIG, an_object())


@pytest.mark.parametrize(
    "body, query, options",
    [
        ({}, {}, DeleteOptions()),
        ({"gracePeriodSeconds": 0}, {"gracePeriodSeconds": "5"}, DeleteOptions(grace=0)),
        ({}, {"gracePeriodSeconds": "5"}, DeleteOptions(grace=5)),
        ({"preconditions": {"uid": "u", "resourceVersion": "1"}}, {}, DeleteOptions(uid="u", revision="1")),
        ({"propagationPolicy": "Orphan"}, {}, DeleteOptions(propagation="Orphan")),
        ({}, {"propagationPolicy": "Foreground"}, DeleteOptions(propagation="Foreground")),
        ({"dryRun": ["All"]}, {}, DeleteOptions(dry_run=True)),
        ({}, {"dryRun": "All"}, DeleteOptions(dry_run=True)),
    ],
)
def test_options_come_from_the_body_first(
    body: dict[str, Any], query: dict[str, str], options: DeleteOptions
) -> None:
    assert options_of(body, query) == options


@pytest.mark.parametrize("grace", ["soon", [], {}])
def test_a_grace_that_is_no_number_is_refused(grace: Any) -> None:
    with pytest.raises(BadRequest, match="gracePeriodSeconds"):
        options_of({"gracePeriodSeconds": grace}, {})
