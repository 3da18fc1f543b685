"""Server-side apply: what becomes of the object, and who owns it afterwards."""

from __future__ import annotations

import pytest
from tests.contracts.applying import NAME
from tests.contracts.objects import config_map, core
from tests.contracts.owners import apply, owners
from tests.kubernetes.rest import Rest


@pytest.fixture
def path(namespace: str) -> str:
    return core(namespace, "configmaps", NAME)


def test_applying_what_is_not_there_creates_it(rest: Rest, path: str) -> None:
    made = apply(rest, path, config_map(a="1", labels={"x": "y"})).expect(201)
    assert made["data"] == {"a": "1"}
    assert owners(made) == {"alice Apply": "/data/a /metadata/labels/x"}


def test_applying_the_same_again_changes_nothing(rest: Rest, path: str) -> None:
    made = apply(rest, path, config_map(a="1")).expect(201)
    again = apply(rest, path, config_map(a="1")).expect(200)
    assert again == made


def test_a_second_manager_adds_its_own_fields(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    made = apply(rest, path, config_map(b="2"), "bob").expect(200)
    assert made["data"] == {"a": "1", "b": "2"}
    assert owners(made) == {"alice Apply": "/data/a", "bob Apply": "/data/b"}


def test_the_same_value_is_owned_by_both(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    made = apply(rest, path, config_map(a="1"), "bob").expect(200)
    assert owners(made) == {"alice Apply": "/data/a", "bob Apply": "/data/a"}


def test_an_owner_that_came_without_a_change_has_no_time(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    made = apply(rest, path, config_map(a="1"), "bob").expect(200)
    times = {e["manager"]: "time" in e for e in made["metadata"]["managedFields"]}
    assert times == {"alice": True, "bob": False}


def test_another_value_is_a_conflict(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    answer = apply(rest, path, config_map(a="2"), "bob").expect(409)
    assert answer["reason"] == "Conflict"
    assert answer["message"] == 'Apply failed with 1 conflict: conflict with "alice": .data.a'
    assert answer["details"] == {
        "causes": [{"reason": "FieldManagerConflict", "message": 'conflict with "alice"', "field": ".data.a"}]
    }
    assert rest.get(path).expect(200)["data"] == {"a": "1"}


def test_a_conflict_with_an_update_names_its_version(rest: Rest, namespace: str, path: str) -> None:
    rest.post(core(namespace, "configmaps"), config_map(a="1")).expect(201)
    answer = apply(rest, path, config_map(a="2")).expect(409)
    assert answer["message"] == 'Apply failed with 1 conflict: conflict with "contracts" using v1: .data.a'


def test_many_conflicts_are_told_by_manager(rest: Rest, namespace: str, path: str) -> None:
    rest.post(core(namespace, "configmaps"), config_map(a="1", c="3"), fieldManager="carol").expect(201)
    rest.merge(path, {"data": {"b": "2"}}, fieldManager="bob").expect(200)
    answer = apply(rest, path, config_map(a="x", b="x", c="x")).expect(409)
    assert answer["message"] == (
        'Apply failed with 3 conflicts: conflicts with "bob" using v1:\n- .data.b\n'
        'conflicts with "carol" using v1:\n- .data.a\n- .data.c'
    )
    assert sorted(c["field"] for c in answer["details"]["causes"]) == [".data.a", ".data.b", ".data.c"]


def test_force_takes_over(rest: Rest, namespace: str, path: str) -> None:
    rest.post(core(namespace, "configmaps"), config_map(a="1", b="1")).expect(201)
    made = apply(rest, path, config_map(a="2"), force="true").expect(200)
    assert made["data"] == {"a": "2", "b": "1"}
    assert owners(made) == {"alice Apply": "/data/a", "contracts Update": "/data /data/b"}


def test_force_takes_from_an_applier_too(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    made = apply(rest, path, config_map(a="2"), "bob", force="true").expect(200)
    assert owners(made) == {"bob Apply": "/data/a"}


def test_what_is_no_longer_said_is_removed(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1", b="2")).expect(201)
    made = apply(rest, path, config_map(a="1")).expect(200)
    assert made["data"] == {"a": "1"}
    assert owners(made) == {"alice Apply": "/data/a"}


def test_what_another_one_owns_too_stays(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1", b="2")).expect(201)
    apply(rest, path, config_map(b="2"), "bob").expect(200)
    made = apply(rest, path, config_map(a="1")).expect(200)
    assert made["data"] == {"a": "1", "b": "2"}
    assert owners(made) == {"alice Apply": "/data/a", "bob Apply": "/data/b"}


def test_what_an_updater_owns_too_stays(rest: Rest, namespace: str, path: str) -> None:
    rest.post(core(namespace, "configmaps"), config_map(a="1", b="2")).expect(201)
    apply(rest, path, config_map(b="2")).expect(200)
    made = apply(rest, path, config_map(c="3")).expect(200)
    assert made["data"] == {"a": "1", "b": "2", "c": "3"}
    assert owners(made) == {"alice Apply": "/data/c", "contracts Update": "/data /data/a /data/b"}


def test_saying_nothing_gives_up_everything(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1", labels={"x": "y"})).expect(201)
    bare = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}}
    made = apply(rest, path, bare).expect(200)
    assert "data" not in made and "labels" not in made["metadata"]
    assert owners(made) == {}


def test_an_empty_map_is_owned_as_such(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    apply(rest, path, config_map(a="1"), "bob").expect(200)
    assert owners(apply(rest, path, config_map()).expect(200))["alice Apply"] == "/data"
    made = apply(rest, path, config_map(), "bob").expect(200)
    assert "data" not in made
    assert owners(made) == {"alice Apply": "/data", "bob Apply": "/data"}


def test_an_update_takes_a_field_from_its_applier(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1", b="2")).expect(201)
    made = rest.merge(path, {"data": {"a": "9"}}, fieldManager="bob").expect(200)
    assert owners(made) == {"alice Apply": "/data/b", "bob Update": "/data/a"}


def test_who_has_lost_a_field_and_says_it_no_more_leaves_it(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1", b="2")).expect(201)
    rest.merge(path, {"data": {"a": "9"}}, fieldManager="bob").expect(200)
    made = apply(rest, path, config_map(b="2")).expect(200)
    assert made["data"] == {"a": "9", "b": "2"}


def test_a_field_that_is_removed_is_nobodys(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1", b="2")).expect(201)
    made = rest.merge(path, {"data": {"a": None}}, fieldManager="bob").expect(200)
    assert owners(made) == {"alice Apply": "/data/b"}
