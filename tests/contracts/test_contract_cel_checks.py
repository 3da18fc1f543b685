# ruff: noqa: E501
"""What is found wrong with a rule in CEL when its definition is made: types, names, literals."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.definitions import DEFINITIONS, NUMBER, SPEC, definition, version
from tests.kubernetes.rest import Rest

SHORT = {"type": "string", "maxLength": 30}
POINT = {"type": "object", "properties": {"n": NUMBER, "s": SHORT}}
FIELDS = {
    "a": NUMBER,
    "f": {"type": "number"},
    "s": SHORT,
    "t": {"type": "boolean"},
    "l": {"type": "array", "maxItems": 5, "items": SHORT},
    "m": {"type": "object", "maxProperties": 5, "additionalProperties": NUMBER},
    "lo": {"type": "array", "maxItems": 5, "items": POINT},
    "p": {"x-kubernetes-int-or-string": True},
    "d": {"type": "string", "format": "date-time"},
    "u": {"type": "string", "format": "duration"},
    "nn": {"type": "integer", "nullable": True},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "none": {"x-kubernetes-preserve-unknown-fields": True},
    "fooBar": NUMBER,
    "foo_bar": NUMBER,
}


def ruled(**rule: Any) -> dict[str, Any]:
    spec = {"type": "object", "properties": FIELDS, "x-kubernetes-validations": [rule]}
    return definition(version({"type": "object", "properties": {"spec": spec}}))


def told(rest: Rest, **rule: Any) -> list[str]:
    """The causes of a refusal, without the value they show first."""
    causes = rest.post(DEFINITIONS, ruled(**rule), dryRun="All").expect(422)["details"]["causes"]
    return [cause["message"].rpartition("}: ")[2] for cause in causes]


def at(column: int, message: str, rule: str) -> str:
    return f"ERROR: <input>:1:{column}: {message}\n | {rule}\n | {'.' * (column - 1)}^"


@pytest.mark.parametrize(
    "rule, column, message",
    [
        ("self.s + 1 == 'a'", 8, "found no matching overload for '_+_' applied to '(string, int)'"),
        ("self.l.all(x, x > 1)", 17, "found no matching overload for '_>_' applied to '(string, int)'"),
        ("self.lo.all(x, x.n == 'a')", 20, "found no matching overload for '_==_' applied to '(int, string)'"),
        ("self.lo.all(x, x.zz == 1)", 17, "undefined field 'zz'"),
        ("self.m.k == 'a'", 10, "found no matching overload for '_==_' applied to '(int, string)'"),
        ("self.d > 1", 8, "found no matching overload for '_>_' applied to '(timestamp, int)'"),
        ("self.nn == null", 9, "found no matching overload for '_==_' applied to '(int, null)'"),
        ("self.free.x == 1", 10, "undefined field 'x'"),
        ("self.none.x == 1", 5, "undefined field 'none'"),
        ("self.metadata.name == ''", 5, "undefined field 'metadata'"),
        ("self.?a.orValue('x') == 'x'", 16, "found no matching overload for 'orValue' applied to 'optional_type(int).(string)'"),
        ("self.?a == 1", 9, "found no matching overload for '_==_' applied to '(optional_type(int), int)'"),
        ("self.?zz.hasValue()", 5, "undefined field 'zz'"),
        ("self.a.b == 1", 7, "type 'int' does not support field selection"),
        ("has(self)", 5, "invalid argument to has() macro"),
        ("self.l.all(self.s, true)", 16, "argument must be a simple name"),
        ("self.s.charAt('a') == ''", 14, "found no matching overload for 'charAt' applied to 'string.(string)'"),
        ("self.l.sum() == 'a'", 11, "found no matching overload for 'sum' applied to 'list(string).()'"),
        ("quantity('1') == 1", 15, "found no matching overload for '_==_' applied to '(kubernetes.Quantity, int)'"),
        ("sets.contains(self.l, [1])", 14, "found no matching overload for 'sets.contains' applied to '(list(string), list(int))'"),
        ("[1, 'a'].size() == 2", 5, "expected type 'int' but found 'string'"),
        ("{'a': 1, 'b': 'c'}.size() == 2", 15, "expected type 'int' but found 'string'"),
        ("self.s.matches('(')", 16, "invalid matches argument"),
        ("duration('1x') == self.u", 10, "invalid duration argument"),
        ("timestamp('x') == self.d", 11, "invalid timestamp argument"),
        ("'%d'.format(['a']) == 'b'", 14, "error during formatting: decimal clause can only be used on integers, was given string"),
        ("'%s %s'.format([self.s]) == ''", 15, "index 1 out of range"),
        ("'a'.format([self.s]) == ''", 11, "too many arguments supplied to string.format (expected 0, got 1)"),
        ("self.s.reverse() == ''", 15, "undeclared reference to 'reverse' (in container '')"),
        ("a.b.c", 1, "undeclared reference to 'a' (in container '')"),
    ],
)  # fmt: skip
def test_a_rule_of_wrong_types_is_refused(rest: Rest, rule: str, column: int, message: str) -> None:
    assert told(rest, rule=rule) == [f"compilation failed: {at(column, message, rule)}"]


def test_every_mistake_is_told_in_the_order_of_the_text(rest: Rest) -> None:
    rule = "unknown.all(x, x > self.zz)"
    [message] = told(rest, rule=rule)
    assert message == "compilation failed: " + "\n".join((
        at(1, "undeclared reference to 'unknown' (in container '')", rule),
        at(24, "undefined field 'zz'", rule),
    ))  # fmt: skip


@pytest.mark.parametrize(
    "rule",
    [
        "self.a > 1.5 && self.f > 1",
        "self.p > 1 || self.p == 'a'",
        "self.fooBar == self.foo_bar",
        "self.m.exists(k, self.m[k] > 1)",
        "self.u > duration('1h') && self.d > timestamp('2020-01-01T00:00:00Z')",
        "self.l.first().hasValue() && self.l[?0].orValue('') == 'a'",
        "'%s %d %.2f %x %b %o %e %%'.format([self.s, self.a, self.f, self.a, self.t, self.a, self.f]) != ''",
    ],
)
def test_a_rule_of_right_types_is_taken(rest: Rest, rule: str) -> None:
    rest.post(DEFINITIONS, ruled(rule=rule), dryRun="All").expect(201)


@pytest.mark.parametrize("rule", ["self.a", "self", "dyn(true)", "optional.none()", "'a'"])
def test_a_rule_answers_yes_or_no(rest: Rest, rule: str) -> None:
    assert told(rest, rule=rule) == ["cel expression must evaluate to a bool"]


@pytest.mark.parametrize(
    "rule, field, message",
    [
        ({"rule": "self.a >\n 1"}, "message", "Required value: message must be specified if rule contains line breaks"),
        ({"rule": "true", "messageExpression": " "}, "messageExpression", "Required value: messageExpression must be non-empty if specified"),
        ({"rule": "true", "fieldPath": ".lo[0]"}, "fieldPath", 'Invalid value: ".lo[0]": fieldPath must be a valid path'),
        ({"rule": "true", "fieldPath": "a"}, "fieldPath", 'Invalid value: "a": fieldPath must be a valid path'),
    ],
)  # fmt: skip
def test_what_is_written_beside_a_rule_is_read(
    rest: Rest, rule: dict[str, Any], field: str, message: str
) -> None:
    [cause] = rest.post(DEFINITIONS, ruled(**rule), dryRun="All").expect(422)["details"]["causes"]
    assert (cause["field"], cause["message"]) == (f"{SPEC}.x-kubernetes-validations[0].{field}", message)


def test_a_message_expression_makes_text(rest: Rest) -> None:
    assert told(rest, rule="true", messageExpression="self.a") == [
        "messageExpression must evaluate to a string"
    ]


def test_an_optional_past_has_the_type_of_the_present(rest: Rest) -> None:
    rule = "oldSelf.orValue(self).a == 'x'"
    found = told(rest, rule=rule, optionalOldSelf=True)
    assert found[0].endswith(at(25, "found no matching overload for '_==_' applied to '(int, string)'", rule))
