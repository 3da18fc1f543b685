"""Watches: nothing is missed, nothing is made up, and every event can be continued from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.contracts.objects import config_map, core, jobs, paddle_job
from tests.kubernetes.rest import Event, Rest

MINE = {"labelSelector": "mine"}


def take(events: Iterator[Event], count: int) -> list[tuple[str, str]]:
    """The next *count* events as (type, name)."""
    return [(event.type, event.name) for _, event in zip(range(count), events, strict=False)]


def put(rest: Rest, namespace: str, name: str, **data: str) -> str:
    """A ConfigMap with the label the watches here select by; its resourceVersion."""
    return rest.post(core(namespace, "configmaps"), config_map(name, {"mine": "yes"}, **data)).version


@pytest.mark.parametrize("version", [{}, {"resourceVersion": ""}, {"resourceVersion": "0"}])
def test_a_watch_from_nowhere_begins_with_what_exists(
    rest: Rest, namespace: str, version: dict[str, str]
) -> None:
    put(rest, namespace, "a")
    put(rest, namespace, "b")
    with rest.watch(core(namespace, "configmaps"), **MINE, **version) as events:
        assert sorted(take(events, 2)) == [("ADDED", "a"), ("ADDED", "b")]
        put(rest, namespace, "c")
        assert take(events, 1) == [("ADDED", "c")]


def test_a_watch_from_a_version_tells_all_that_came_after(rest: Rest, namespace: str) -> None:
    path = core(namespace, "configmaps")
    start = put(rest, namespace, "a")
    put(rest, namespace, "b")
    rest.merge(f"{path}/a", {"data": {"x": "1"}}).expect(200)
    rest.delete(f"{path}/a").expect(200)
    with rest.watch(path, resourceVersion=start, **MINE) as events:
        assert take(events, 3) == [("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_a_watch_continues_where_a_list_ended(rest: Rest, namespace: str) -> None:
    path = core(namespace, "configmaps")
    put(rest, namespace, "a")
    listed = rest.get(path, **MINE).version
    with rest.watch(path, resourceVersion=listed, **MINE) as events:
        put(rest, namespace, "b")
        assert take(events, 1) == [("ADDED", "b")]


def test_every_event_carries_the_whole_object_and_a_later_version(rest: Rest, namespace: str) -> None:
    path = core(namespace, "configmaps")
    with rest.watch(path, **MINE) as events:
        put(rest, namespace, "a", colour="red")
        rest.merge(f"{path}/a", {"data": {"colour": "blue"}}).expect(200)
        rest.delete(f"{path}/a").expect(200)
        seen = [next(events) for _ in range(3)]
    assert [e.object["data"]["colour"] for e in seen] == ["red", "blue", "blue"]
    assert {(e.object["kind"], e.object["apiVersion"]) for e in seen} == {("ConfigMap", "v1")}
    versions = [int(e.version) for e in seen]
    assert versions == sorted(set(versions))


def test_entering_and_leaving_a_selection_is_coming_and_going(rest: Rest, namespace: str) -> None:
    path = core(namespace, "configmaps")
    rest.post(path, config_map("a")).expect(201)
    with rest.watch(path, resourceVersion=rest.get(path).version, **MINE) as events:
        rest.merge(f"{path}/a", {"metadata": {"labels": {"mine": "yes"}}}).expect(200)
        rest.merge(f"{path}/a", {"data": {"x": "1"}}).expect(200)
        left = rest.merge(f"{path}/a", {"metadata": {"labels": {"mine": None}}}).version
        seen = [next(events) for _ in range(3)]
    assert [e.type for e in seen] == ["ADDED", "MODIFIED", "DELETED"]
    assert seen[-1].version == left


def test_one_object_can_be_watched_by_name(rest: Rest, namespace: str) -> None:
    path = core(namespace, "configmaps")
    put(rest, namespace, "a")
    with rest.watch(path, fieldSelector="metadata.name=b") as events:
        put(rest, namespace, "b")
        assert take(events, 1) == [("ADDED", "b")]


def test_a_watch_over_all_namespaces_sees_ours(rest: Rest, namespace: str) -> None:
    start = rest.get("/api/v1/configmaps").version
    field = f"metadata.namespace={namespace},metadata.name=a"
    with rest.watch("/api/v1/configmaps", resourceVersion=start, fieldSelector=field) as events:
        put(rest, namespace, "a")
        assert take(events, 1) == [("ADDED", "a")]


def test_a_watch_ends_when_it_said_it_would(rest: Rest, namespace: str) -> None:
    put(rest, namespace, "a")
    with rest.watch(core(namespace, "configmaps"), timeoutSeconds=1, **MINE) as events:
        assert [(e.type, e.name) for e in events] == [("ADDED", "a")]


def test_a_bookmark_tells_a_version_to_continue_from_before_the_end(rest: Rest, namespace: str) -> None:
    start = int(put(rest, namespace, "a"))
    query = {"allowWatchBookmarks": "true", "timeoutSeconds": 6, **MINE}
    with rest.watch(core(namespace, "configmaps"), **query) as events:
        marks = [e for e in events if e.type == "BOOKMARK"]
    assert marks, "no bookmark came before the watch ended"
    assert int(marks[-1].version) >= start
    assert marks[-1].object["kind"] == "ConfigMap"


def test_a_client_that_asks_for_streamed_lists_gets_one_or_is_told_to_list(
    rest: Rest, namespace: str
) -> None:
    # A server may have it switched off, as 1.33 has by default; silence would hang the client.
    put(rest, namespace, "a")
    query = {
        "watch": "true",
        "sendInitialEvents": "true",
        "allowWatchBookmarks": "true",
        "resourceVersionMatch": "NotOlderThan",
        "timeoutSeconds": 2,
        **MINE,
    }
    answer = rest.get(core(namespace, "configmaps"), **query)
    if answer.status == 422:
        assert answer.expect(422)["details"]["causes"][0]["field"] == "sendInitialEvents"
        return
    with rest.watch(core(namespace, "configmaps"), **query) as events:
        first, mark = next(events), next(events)
    assert (first.type, first.name) == ("ADDED", "a")
    assert mark.type == "BOOKMARK"
    assert mark.object["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_without_asking_no_bookmark_comes(rest: Rest, namespace: str) -> None:
    with rest.watch(core(namespace, "configmaps"), timeoutSeconds=2, **MINE) as events:
        assert list(events) == []


def test_a_version_that_is_long_gone_is_told_as_expired(rest: Rest, namespace: str) -> None:
    # Version 1 lies before everything a server keeps; some say so at once, some as the first event.
    with rest.watch(jobs(namespace), resourceVersion="1", timeoutSeconds=5) as events:
        first = next(events, None)
    assert first is None or (first.type, first.object["code"]) == ("ERROR", 410)


def test_the_status_of_our_kind_is_watched_too(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    start = rest.get(jobs(namespace)).version
    with rest.watch(jobs(namespace), resourceVersion=start) as events:
        rest.merge(jobs(namespace, "train/status"), {"status": {"phase": "Running"}}).expect(200)
        event = next(events)
    assert (event.type, event.object["status"]["phase"]) == ("MODIFIED", "Running")


def test_two_watchers_see_the_same(rest: Rest, namespace: str) -> None:
    path = core(namespace, "configmaps")
    with rest.watch(path, **MINE) as left, rest.watch(path, **MINE) as right:
        for name in "abc":
            put(rest, namespace, name)
        assert take(left, 3) == take(right, 3) == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]
