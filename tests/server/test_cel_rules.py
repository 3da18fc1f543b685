"""Rules about an object: when they are asked, what they cost, what an old one is worth."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.embedded.server import celrules
from paddlecloud.embedded.server.celcheck import rule_problems
from paddlecloud.embedded.server.fieldpaths import field_path

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a-b": {"type": "object", "properties": {"c": {"type": "string"}}},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}


def with_rules(schema: dict[str, Any], *rules: str) -> dict[str, Any]:
    return {**schema, "x-kubernetes-validations": [{"rule": rule} for rule in rules]}


def found(schema: dict[str, Any], body: Any, old: Any = None) -> list[tuple[str, str]]:
    return [(v.field, v.message) for v in celrules.asked(celrules.tree(schema), body, old, ())]


@pytest.mark.parametrize(
    "path, shown",
    [
        (".a-b.c", ".a-b.c"),
        ("['a-b'].c", ".a-b.c"),
        (".m.k", ".m[k]"),
        (".m['it\\'s']", ".m[it's]"),
        (".a-b.d", None),
        (".m.k.x", None),
        ("a-b", None),
        (".a-b[0]", None),
        ("", None),
    ],
)
def test_a_path_leads_to_a_field_or_nowhere(path: str, shown: str | None) -> None:
    assert field_path(path, SCHEMA) == shown


def test_a_rule_at_the_root_names_its_field_without_a_dot() -> None:
    schema = {**SCHEMA, "x-kubernetes-validations": [{"rule": "has(self.m)", "fieldPath": ".m"}]}
    assert found(schema, {}) == [("m", 'Invalid value: "object": failed rule: has(self.m)')]


def test_a_rule_that_this_server_cannot_read_refuses_and_tells_why() -> None:
    [(field, message)] = found(with_rules(SCHEMA, "nope(self)"), {})
    assert field == ""
    assert message.startswith('Invalid value: "object": rule compile error: ERROR: <input>:1:5: undeclared')


def test_after_a_rule_that_cost_too_much_no_other_is_asked() -> None:
    numbers = {"type": "array", "items": {"type": "integer"}}
    inner = with_rules(numbers, "self.all(x, self.all(y, self.all(z, x + y + z > 0)))", "false")
    schema = {"type": "object", "properties": {"l": inner, "m": with_rules({"type": "integer"}, "false")}}
    [(field, message)] = found(schema, {"l": [1] * 200, "m": 1})
    assert field == "l"
    assert (
        "no further validation rules will be run due to call cost exceeds limit for rule: self.all("
        in message
    )


def test_all_rules_of_an_object_share_one_budget() -> None:
    numbers = {"type": "array", "items": {"type": "integer"}}
    rules = [f"self.all(x, self.all(y, x + y > -{n}))" for n in range(40)]
    problems = found(with_rules(numbers, *rules), [1] * 300)
    assert problems == [
        (
            "",
            'Invalid value: "array": validation failed due to running out of cost budget, no further '
            "validation rules will be run",
        )
    ]


def test_maps_whose_names_differ_in_a_line_only_are_told_apart() -> None:
    text = {"type": "object", "additionalProperties": {"type": "string"}}
    schema = {"type": "object", "properties": {"foo_bar": text, "fooBar": text}}
    rule = "self.foo_bar.size() == self.fooBar.size()"
    assert rule_problems(with_rules(schema, rule), "spec") == ()


def test_fields_that_cannot_be_named_are_not_seen() -> None:
    schema = {"type": "object", "properties": {"a$b": {"type": "string"}, "ok": {"type": "string"}}}
    assert rule_problems(with_rules(schema, "self.ok == 'x'"), "spec") == ()
    assert found(with_rules(schema, "self.ok == 'x'"), {"a$b": "y", "ok": "x"}) == []


def test_an_embedded_object_has_a_name() -> None:
    inner = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "properties": {"spec": {"type": "object"}},
    }
    schema = {"type": "object", "properties": {"template": inner}}
    rule = "self.template.metadata.name == 'x' && self.template.kind == 'K'"
    assert rule_problems(with_rules(schema, rule), "spec") == ()
    body = {"template": {"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}}}
    assert found(with_rules(schema, rule), body) == []
