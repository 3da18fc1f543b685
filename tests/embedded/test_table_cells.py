"""The cells of `kubectl get`: ages and the one word about a pod, as kubectl prints them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from paddlecloud.embedded.server.ages import Ago, age, span
from paddlecloud.embedded.server.kinds import Kind
from paddlecloud.embedded.server.rows import Printing, printed
from paddlecloud.embedded.server.tables import layout
from paddlecloud.embedded.server.tables_workloads import pod_status
from paddlecloud.embedded.store import Entry, Place

NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)
MINUTE, HOUR, DAY = 60, 3600, 86400


@pytest.mark.parametrize(
    "seconds, text",
    [
        (-2, "<invalid>"), (-1, "0s"), (0, "0s"), (0.9, "0s"), (1, "1s"), (119, "119s"),
        (2 * MINUTE, "2m"), (3 * MINUTE + 4, "3m4s"), (10 * MINUTE - 1, "9m59s"), (10 * MINUTE + 5, "10m"),
        (3 * HOUR - 1, "179m"), (3 * HOUR, "3h"), (3 * HOUR + 5 * MINUTE, "3h5m"), (8 * HOUR - 1, "7h59m"),
        (8 * HOUR + 59 * MINUTE, "8h"), (48 * HOUR - 1, "47h"), (2 * DAY, "2d"), (2 * DAY + 5 * HOUR, "2d5h"),
        (8 * DAY - 1, "7d23h"), (8 * DAY + 5 * HOUR, "8d"), (730 * DAY - 1, "729d"), (730 * DAY, "2y"),
        (731 * DAY, "2y1d"), (8 * 365 * DAY + 40 * DAY, "8y"),
    ],
)  # fmt: skip
def test_an_age_is_as_exact_as_people_need_it(seconds: float, text: str) -> None:
    assert span(seconds) == text


@pytest.mark.parametrize(
    "stamp, text",
    [
        ("2024-06-01T11:59:00Z", "60s"),
        ("2024-06-01T13:59:00+02:00", "60s"),
        (None, "<unknown>"),
        ("", "<unknown>"),
        ("yesterday", "<invalid>"),
        (17, "<invalid>"),
    ],
)
def test_an_age_from_a_time(stamp: Any, text: str) -> None:
    found = age(stamp)

    assert (found.text(NOW.timestamp()) if isinstance(found, Ago) else found) == text


def waiting(reason: str) -> dict[str, Any]:
    return {"state": {"waiting": {"reason": reason}}}


def ended(code: int, reason: str = "", signal: int = 0) -> dict[str, Any]:
    return {"state": {"terminated": {"exitCode": code, "reason": reason, "signal": signal}}}


UP: dict[str, Any] = {"ready": True, "state": {"running": {}}}
READY = {"conditions": [{"type": "Ready", "status": "True"}]}


@pytest.mark.parametrize(
    "status, word",
    [
        ({}, "Pending"),
        ({"phase": "Running"}, "Running"),
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
        ({"phase": "Pending", "containerStatuses": [waiting("ContainerCreating")]}, "ContainerCreating"),
        ({"phase": "Running", "containerStatuses": [UP, waiting("CrashLoopBackOff")]}, "CrashLoopBackOff"),
        ({"phase": "Succeeded", "containerStatuses": [ended(0, "Completed")]}, "Completed"),
        ({"phase": "Failed", "containerStatuses": [ended(1, "Error")]}, "Error"),
        ({"phase": "Failed", "containerStatuses": [ended(3)]}, "ExitCode:3"),
        ({"phase": "Failed", "containerStatuses": [ended(137, signal=9)]}, "Signal:9"),
        ({"phase": "Failed", "containerStatuses": [ended(1, "Error"), ended(0, "Completed")]}, "Error"),
        ({"phase": "Running", "containerStatuses": [ended(0, "Completed"), UP], **READY}, "Running"),
        ({"phase": "Running", "containerStatuses": [ended(0, "Completed"), UP]}, "NotReady"),
        ({"phase": "Pending", "initContainerStatuses": [{"state": {"running": {}}}]}, "Init:0/2"),
        ({"phase": "Pending", "initContainerStatuses": [ended(0), waiting("PodInitializing")]}, "Init:1/2"),
        ({"phase": "Pending", "initContainerStatuses": [ended(0), waiting("ErrX")]}, "Init:ErrX"),
        ({"phase": "Failed", "initContainerStatuses": [ended(2)]}, "Init:ExitCode:2"),
        ({"phase": "Failed", "initContainerStatuses": [ended(2, "Error")]}, "Init:Error"),
        ({"phase": "Running", "initContainerStatuses": [ended(0)], "containerStatuses": [UP]}, "Running"),
    ],
)  # fmt: skip
def test_one_word_about_a_pod(status: dict[str, Any], word: str) -> None:
    body = {"metadata": {"name": "p"}, "spec": {"initContainers": [{}, {}]}, "status": status}

    assert pod_status(body) == word


@pytest.mark.parametrize("status", [{"phase": "Running"}, {"initContainerStatuses": [waiting("X")]}])
def test_a_pod_that_goes_is_terminating(status: dict[str, Any]) -> None:
    body = {"metadata": {"name": "p", "deletionTimestamp": "2024-06-01T12:00:00Z"}, "status": status}

    assert pod_status(body) == "Terminating"


def cells(kind: Kind, body: dict[str, Any]) -> dict[str, Any]:
    entry = Entry(Place(kind.resource, "", "x"), 1, orjson.dumps(body))
    table = orjson.loads(printed(kind, [entry], {}, Printing("Metadata", NOW)))
    columns, [row] = table["columnDefinitions"], table["rows"]
    assert row["object"]["metadata"] == body["metadata"]
    return dict(zip((c["name"] for c in columns), row["cells"], strict=True))


def built_in(plural: str, group: str = "") -> Kind:
    return Kind(group, "v1", plural, plural)


NAME = {"name": "x", "creationTimestamp": "2024-06-01T11:00:00Z"}


@pytest.mark.parametrize(
    "kind, body, shown",
    [
        (built_in("leases", "coordination.k8s.io"), {}, {"Name": "x", "Age": "60m"}),
        (
            built_in("pods"),
            {"spec": {"containers": [{}, {}]}, "status": {"containerStatuses": [UP | {"restartCount": 2}]}},
            {"Ready": "1/2", "Restarts": "2", "IP": "<none>", "Node": "<none>"},
        ),
        (
            built_in("services"),
            {"spec": {"clusterIP": "127.65.0.1", "ports": [{"port": 80}, {"port": 53, "protocol": "UDP"}]}},
            {"Type": "ClusterIP", "Cluster-IP": "127.65.0.1", "Port(s)": "80/TCP,53/UDP"},
        ),
        (
            built_in("nodes"),
            {"spec": {"unschedulable": True}, "status": READY},
            {"Status": "Ready,SchedulingDisabled", "Roles": "<none>"},
        ),
        (
            built_in("persistentvolumeclaims"),
            {
                "spec": {"volumeName": "v"},
                "status": {"phase": "Bound", "accessModes": ["ReadWriteMany", "ReadWriteOnce"]},
            },
            {"Status": "Bound", "Access Modes": "RWO,RWX"},
        ),
        (built_in("configmaps"), {"data": {"a": "", "b": ""}, "binaryData": {"c": ""}}, {"Data": 3}),
        (built_in("statefulsets", "apps"), {"spec": {"replicas": 3, "template": {}}}, {"Ready": "0/3"}),
        (
            built_in("events"),
            {"involvedObject": {"kind": "Pod", "name": "p"}, "lastTimestamp": "2024-06-01T11:59:30Z"},
            {"Last Seen": "30s", "Object": "pod/p"},
        ),
    ],
)  # fmt: skip
def test_what_is_shown_of_built_in_kinds(kind: Kind, body: dict[str, Any], shown: dict[str, Any]) -> None:
    assert shown.items() <= cells(kind, {"metadata": NAME, **body}).items()


def test_a_custom_kind_shows_its_columns_whatever_is_in_them() -> None:
    columns = (
        {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
        {"name": "Since", "type": "date", "jsonPath": ".status.since"},
        {"name": "Wide", "type": "integer", "jsonPath": ".spec.n", "priority": 1},
    )
    kind = Kind("g", "v1", "K", "ks", custom=True, columns=columns)

    assert cells(kind, {"metadata": NAME, "status": {"phase": "Up", "since": "soon"}}) == {
        "Name": "x", "Phase": "Up", "Since": "<invalid>", "Wide": None,
    }  # fmt: skip
    assert [c["priority"] for c in layout(kind)[0]] == [0, 0, 0, 1]


def test_a_custom_kind_without_columns_shows_its_age() -> None:
    assert cells(Kind("g", "v1", "K", "ks", custom=True), {"metadata": NAME}) == {"Name": "x", "Age": "60m"}


def test_days_are_not_rounded_up() -> None:
    assert span(timedelta(days=2, hours=23, minutes=59).total_seconds()) == "2d23h"
