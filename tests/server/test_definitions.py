"""Definitions: names given first come, first served; scales; versions in front of the same bytes."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from paddlecloud.embedded.server import scale
from paddlecloud.embedded.server.definitions import established, with_names
from paddlecloud.embedded.server.formats import fits_format
from paddlecloud.embedded.server.kinds import Kind
from paddlecloud.embedded.server.versions import as_read
from paddlecloud.embedded.store import Entry, Place

NOW = "2024-05-01T00:00:00Z"


def definition(plural: str = "widgets", kind: str = "Widget", group: str = "a.org", **names: Any) -> Any:
    own = {"plural": plural, "kind": kind, "singular": kind.lower(), "listKind": f"{kind}List", **names}
    versions = [{"name": "v1", "storage": True}]
    return {
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "names": own, "versions": versions},
    }


def test_the_first_gets_its_names_and_is_established() -> None:
    named = with_names(definition(), [], NOW)
    assert established(named)
    assert named["status"]["acceptedNames"] == definition()["spec"]["names"]
    assert named["status"]["storedVersions"] == ["v1"]


@pytest.mark.parametrize(
    "second, reason",
    [
        (definition("gadgets", "Widget"), "ListKindConflict"),
        (definition("gadgets", "Gadget", singular="widget"), "SingularConflict"),
        (definition("gadgets", "Gadget", shortNames=["wd"]), "ShortNamesConflict"),
        (definition("gadgets", "Gadget"), "NoConflicts"),
        (definition("widgets", "Widget", "b.org"), "NoConflicts"),
    ],
)
def test_names_of_one_group_are_given_once(second: Any, reason: str) -> None:
    first = with_names(definition(shortNames=["wd"]), [], NOW)
    named = with_names(second, [first], NOW)
    assert named["status"]["conditions"][0]["reason"] == reason
    assert established(named) == (reason == "NoConflicts")


def test_a_look_at_what_is_in_order_changes_nothing() -> None:
    named = with_names(definition(), [], NOW)
    assert with_names(named, [], "2030-01-01T00:00:00Z") == named


def test_what_was_established_stays_so_when_its_new_names_are_taken() -> None:
    other = with_names(definition("gadgets", "Gadget", shortNames=["x"]), [], NOW)
    named = with_names(definition(), [other], NOW)
    named["spec"]["names"]["shortNames"] = ["x"]
    again = with_names(named, [other], NOW)
    assert again["status"]["conditions"][0]["status"] == "False"
    assert established(again)


def test_an_object_is_read_in_another_version_without_being_parsed() -> None:
    kind = Kind("a.org", "v2", "Widget", "widgets", custom=True, several=True)
    body = {"apiVersion": "a.org/v1", "kind": "Widget", "metadata": {"name": "x"}, "spec": {"kind": "q"}}
    entry = Entry(Place("a.org/widgets", "n", "x"), 7, orjson.dumps(body))
    assert orjson.loads(as_read(kind, entry).value) == {**body, "apiVersion": "a.org/v2"}
    same = Entry(entry.place, 7, as_read(kind, entry).value)
    assert as_read(kind, same) is same


PATHS = scale.ScalePaths(".spec.size.n", ".status.n", ".status.sel", custom=True)


def test_a_scale_changes_one_number_and_copies_the_rest() -> None:
    body = {"metadata": {"name": "x"}, "spec": {"size": {"n": 1, "m": 2}}, "status": {"n": 1}}
    made = scale.scaled(body, {"spec": {"replicas": 5}}, PATHS)
    assert made["spec"] == {"size": {"n": 5, "m": 2}}
    assert body["spec"] == {"size": {"n": 1, "m": 2}}


@pytest.mark.parametrize(
    "selector, text",
    [
        ({"a": "b", "c": "d"}, "a=b,c=d"),
        ({"matchLabels": {"a": "b"}}, "a=b"),
        ({"matchExpressions": [{"key": "k", "operator": "NotIn", "values": ["y", "x"]}]}, "k notin (x,y)"),
        ({"matchExpressions": [{"key": "k", "operator": "DoesNotExist"}]}, "!k"),
        ({}, ""),
    ],
)
def test_a_selector_as_text(selector: Any, text: str) -> None:
    assert scale.selector_text({"spec": {"selector": selector}}) == text


@pytest.mark.parametrize(
    "form, good, bad",
    [
        ("date-time", "2024-05-01T10:00:00Z", "2024-05-01"),
        ("date", "2024-05-01", "2024-13-01"),
        ("duration", "1h30m", "1 hour"),
        ("ipv6", "::1", "10.0.0.1"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
        ("byte", "aGFsbG8=", "#"),
        ("email", "a@b.org", "a"),
        ("hostname", "a.b", "-a"),
        ("uuid4", "7b067435-61e0-459c-b528-6a39d1ee0b15", "7b067435-61e0-159c-b528-6a39d1ee0b15"),
    ],
)
def test_formats(form: str, good: str, bad: str) -> None:
    assert fits_format(good, form)
    assert not fits_format(bad, form)
