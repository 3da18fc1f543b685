"""Events of two groups: one object, two vocabularies."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.kubectl import Kubectl
from tests.kubernetes.rest import Rest

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def core(namespace: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{namespace}/events" + (f"/{name}" if name else "")


def newer(namespace: str, name: str = "") -> str:
    return f"/apis/events.k8s.io/v1/namespaces/{namespace}/events" + (f"/{name}" if name else "")


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def old_style(namespace: str, name: str = "a") -> dict[str, Any]:
    seconds = now()[:19] + "Z"
    return {
        "metadata": {"name": name},
        "involvedObject": {"kind": "Pod", "namespace": namespace, "name": "p"},
        "reason": "Pulled",
        "message": "there it is",
        "source": {"component": "kubelet", "host": "n"},
        "firstTimestamp": seconds,
        "lastTimestamp": seconds,
        "count": 3,
        "type": "Normal",
    }


def new_style(namespace: str, name: str = "b", **more: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "eventTime": now(),
        "reportingController": "example.org/c",
        "reportingInstance": "c-1",
        "action": "Binding",
        "reason": "Scheduled",
        "regarding": {"kind": "Pod", "namespace": namespace, "name": "p"},
        "note": "on its way",
        "type": "Normal",
        **more,
    }


def test_a_core_event_is_seen_under_the_newer_names(rest: Rest, namespace: str) -> None:
    made = rest.post(core(namespace), old_style(namespace)).expect(201)
    seen = rest.get(newer(namespace, "a")).expect(200)
    assert (seen["apiVersion"], seen["kind"]) == ("events.k8s.io/v1", "Event")
    assert seen["metadata"] == made["metadata"]
    wanted = {
        "regarding": made["involvedObject"],
        "note": "there it is",
        "deprecatedSource": {"component": "kubelet", "host": "n"},
        "deprecatedFirstTimestamp": made["firstTimestamp"],
        "deprecatedLastTimestamp": made["lastTimestamp"],
        "deprecatedCount": 3,
        "eventTime": None,
        "reason": "Pulled",
        "type": "Normal",
    }
    assert {k: v for k, v in seen.items() if k not in ("apiVersion", "kind", "metadata")} == wanted


def test_a_newer_event_is_seen_under_the_core_names(rest: Rest, namespace: str) -> None:
    made = rest.post(newer(namespace), new_style(namespace)).expect(201)
    seen = rest.get(core(namespace, "b")).expect(200)
    assert (seen["apiVersion"], seen["message"]) == ("v1", "on its way")
    assert seen["involvedObject"] == made["regarding"]
    assert (seen["reportingComponent"], seen["reportingInstance"]) == ("example.org/c", "c-1")
    assert (seen["source"], seen["firstTimestamp"], seen["lastTimestamp"]) == ({}, None, None)
    assert seen["eventTime"] == made["eventTime"]


def test_both_groups_list_the_same_objects(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace), old_style(namespace)).expect(201)
    rest.post(newer(namespace), new_style(namespace)).expect(201)
    lists = [rest.get(path(namespace)).expect(200) for path in (core, newer)]
    assert [answer["apiVersion"] for answer in lists] == ["v1", "events.k8s.io/v1"]
    names = [[item["metadata"]["name"] for item in answer["items"]] for answer in lists]
    assert names == [["a", "b"], ["a", "b"]]
    tables = [rest.get_as(TABLE, path(namespace)).expect(200) for path in (core, newer)]
    rows = [[row["cells"][1:5] for row in table["rows"]] for table in tables]
    assert rows[0] == rows[1]


def test_a_watch_of_either_group_tells_in_its_own_words(rest: Rest, namespace: str) -> None:
    revision = rest.get(core(namespace)).version
    with (
        rest.watch(core(namespace), resourceVersion=revision) as plain,
        rest.watch(newer(namespace), resourceVersion=revision) as other,
    ):
        rest.post(newer(namespace), new_style(namespace)).expect(201)
        first, second = next(plain), next(other)
    assert (first.object["apiVersion"], first.object["message"]) == ("v1", "on its way")
    assert (second.object["apiVersion"], second.object["note"]) == ("events.k8s.io/v1", "on its way")


def test_a_series_is_counted_on(rest: Rest, namespace: str) -> None:
    series = {"count": 2, "lastObservedTime": now()}
    rest.post(newer(namespace), new_style(namespace, series=series)).expect(201)
    changed = rest.merge(newer(namespace, "b"), {"series": {"count": 9}}).expect(200)
    assert changed["series"]["count"] == 9
    assert rest.get(core(namespace, "b")).expect(200)["series"]["count"] == 9


def test_what_a_newer_event_says_stays_said(rest: Rest, namespace: str) -> None:
    rest.post(newer(namespace), new_style(namespace)).expect(201)
    answer = rest.merge(newer(namespace, "b"), {"note": "other"}).expect(422)
    assert answer["message"] == ('Event "b" is invalid: message: Invalid value: "other": field is immutable')
    assert rest.merge(core(namespace, "b"), {"message": "other"}).expect(200)["message"] == "other"


@pytest.mark.parametrize(
    "more, message",
    [
        ({"eventTime": None}, "eventTime: Required value"),
        ({"type": "Odd"}, 'type: Invalid value: "": has invalid value: Odd'),
        ({"action": ""}, "action: Required value"),
        ({"reportingInstance": ""}, "reportingInstance: Required value"),
        ({"note": "x" * 1025}, 'message: Invalid value: "": can have at most 1024 characters'),
        ({"deprecatedCount": 1}, 'count: Invalid value: "": needs to be unset'),
        (
            {"series": {"count": 1, "lastObservedTime": now()}},
            'series.count: Invalid value: "": should be at least 2',
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_newer_event_must_be_complete(
    rest: Rest, namespace: str, more: dict[str, Any], message: str
) -> None:
    answer = rest.post(newer(namespace), new_style(namespace, **more)).expect(422)
    assert answer["message"] == f'Event "b" is invalid: {message}'


@pytest.mark.parametrize(
    "path, selector, known",
    [
        (newer, "regarding.kind=Pod", True),
        (newer, "reportingController=example.org/c", True),
        (newer, "involvedObject.kind=Pod", False),
        (core, "involvedObject.kind=Pod", True),
        (core, "reportingComponent=example.org/c", True),
        (core, "regarding.kind=Pod", False),
    ],
)
def test_events_are_selected_by_the_names_of_their_group(
    rest: Rest, namespace: str, path: Any, selector: str, known: bool
) -> None:
    rest.post(newer(namespace), new_style(namespace)).expect(201)
    answer = rest.get(path(namespace), fieldSelector=selector)
    if known:
        assert [e["metadata"]["name"] for e in answer.expect(200)["items"]] == ["b"]
    else:
        assert answer.expect(400)["message"] == f"field label not supported: {selector.partition('=')[0]}"


def test_errors_name_the_group_that_was_asked(rest: Rest, namespace: str) -> None:
    assert rest.get(newer(namespace, "c")).expect(404)["message"] == 'events.events.k8s.io "c" not found'
    rest.post(newer(namespace), new_style(namespace)).expect(201)
    answer = rest.post(newer(namespace), new_style(namespace)).expect(409)
    assert answer["message"] == 'events.events.k8s.io "b" already exists'


def test_kubectl_shows_events_of_both_groups(rest: Rest, namespace: str, kubectl: Kubectl) -> None:
    rest.post(newer(namespace), new_style(namespace)).expect(201)
    for words in (("events",), ("get", "events"), ("get", "events.events.k8s.io")):
        assert "on its way" in kubectl(*words)
