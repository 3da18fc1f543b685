"""Owners of fields after a write, and the names of those who write."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.test_field_sets import SHAPE

from paddlecloud.embedded.server import ownership
from paddlecloud.embedded.server.ownership import Writer, check_manager, entries_of, manager_of, updated
from paddlecloud.errors import Invalid

NOW, THEN = "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"
BOB = Writer("bob", "v1")
Body = dict[str, Any]


def entry(manager: str, **fields: Any) -> Body:
    return Writer(manager, "v1").entry({f"f:{name}": {} for name in fields}, THEN)


def test_a_change_moves_a_field_to_its_writer() -> None:
    before = [entry("alice", text=1, args=1)]
    after = updated(before, {"text": "a"}, {"text": "b"}, SHAPE, BOB, NOW, {})
    assert [(e["manager"], e["fieldsV1"], e["time"]) for e in after] == [
        ("alice", {"f:args": {}}, THEN),
        ("bob", {"f:text": {}}, NOW),
    ]


def test_a_write_that_changes_nothing_leaves_the_entries_as_they_are() -> None:
    before = [entry("alice", text=1)]
    assert updated(before, {"text": "a"}, {"text": "a"}, SHAPE, BOB, NOW, {}) is before


def test_a_removal_leaves_the_writer_without_a_field() -> None:
    before = [entry("alice", text=1), entry("bob", args=1)]
    after = updated(before, {"text": "a"}, {}, SHAPE, BOB, NOW, {})
    assert after == [before[1]]


def test_the_same_manager_through_another_door_is_another_owner() -> None:
    before = [entry("bob", args=1)]
    door = BOB._replace(subresource="status")
    after = updated(before, {}, {"text": "a"}, SHAPE, door, NOW, {})
    assert [e.get("subresource") for e in after] == [None, "status"]


def test_fields_that_are_reset_are_nobodys() -> None:
    assert updated([], {}, {"text": "a"}, SHAPE, BOB, NOW, {"f:text": {}}) == []


def test_a_list_that_cannot_be_told_apart_ends_the_tracking() -> None:
    assert updated([entry("alice", text=1)], {}, {"ports": [{"name": "x"}]}, SHAPE, BOB, NOW, {}) == []


def test_the_oldest_of_many_updaters_are_thrown_together() -> None:
    before = [
        Writer(f"m{i:02}", "v1").entry({"f:labels": {f"f:{i}": {}}}, f"2026-01-01T00:00:{i:02}Z")
        for i in range(10)
    ]
    after = updated(before, {}, {"text": "a"}, SHAPE, BOB, NOW, {})
    assert len(after) == ownership.MOST_UPDATERS
    [bucket] = [e for e in after if e["manager"] == ownership.BUCKET]
    assert bucket["fieldsV1"] == {"f:labels": {"f:0": {}, "f:1": {}}}
    assert bucket["time"] == "2026-01-01T00:00:01Z"


@pytest.mark.parametrize(
    "given, subresource, kept",
    [
        (None, "", "old"),
        ([], "", "none"),
        ([{}], "", "none"),
        ([entry("new", text=1)], "", "given"),
        ([entry("new", text=1)], "status", "old"),
        ([{"manager": "new", "operation": "Guess"}], "", "old"),
        ("nonsense", "", "old"),
    ],
)
def test_the_entries_a_write_starts_from(given: Any, subresource: str, kept: str) -> None:
    old = {"metadata": {"managedFields": [entry("old", text=1)]}}
    wanted = {"old": old["metadata"]["managedFields"], "given": given, "none": []}[kept]
    assert entries_of(old, {"metadata": {"managedFields": given}}, subresource) == wanted


@pytest.mark.parametrize(
    "given, agent, name",
    [
        ("me", "kubectl/v1", "me"),
        ("", "kubectl/v1.33 (linux)", "kubectl"),
        ("", "a\tb/1", "ab"),
        ("", "", "unknown"),
        ("", "é" * 100, "é" * 64),
    ],
)
def test_a_writer_has_a_name(given: str, agent: str, name: str) -> None:
    assert manager_of(given, agent) == name


@pytest.mark.parametrize("name", ["x" * 129, "a\x00b", "é" * 65])
def test_a_name_that_cannot_be_shown_is_refused(name: str) -> None:
    with pytest.raises(Invalid, match="fieldManager"):
        check_manager(name, "PatchOptions")
