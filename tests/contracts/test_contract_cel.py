# ruff: noqa: E501
"""Validation rules in CEL: which are taken, when they are asked, and what they say."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.definitions import DEFINITIONS, NUMBER, SPEC, definition, served, version
from tests.kubernetes.rest import Rest

SHORT = {"type": "string", "maxLength": 30}
WORDS = {"type": "array", "maxItems": 5, "items": SHORT}
FIELDS = {"a": NUMBER, "b": NUMBER, "s": SHORT, "l": WORDS, "f": {"type": "number"}, "t": {"type": "boolean"}}


@pytest.fixture
def namespace(common_namespace: str) -> str:
    """One for all: every case has a kind of its own, and takes its objects with it."""
    return common_namespace


def ruled(*rules: dict[str, Any] | str, **fields: Any) -> dict[str, Any]:
    """A definition whose spec has these rules."""
    listed = [{"rule": r} if isinstance(r, str) else r for r in rules]
    spec = {"type": "object", "properties": fields or FIELDS, "x-kubernetes-validations": listed}
    return definition(version({"type": "object", "properties": {"spec": spec}}))


def with_rule(schema: dict[str, Any], **rule: Any) -> dict[str, Any]:
    return {**schema, "x-kubernetes-validations": [rule]}


@pytest.mark.parametrize(
    "rule, message",
    [
        ("self.a >", "compilation failed: ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting"),
        ("self.nope > 1", "compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope > 1\n | ....^"),
        ("self.s.nope()", "compilation failed: ERROR: <input>:1:12: undeclared reference to 'nope' (in container '')"),
        ("foo > 1", "compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')"),
        ("math.greatest(1, 2) == 2", "ERROR: <input>:1:14: undeclared reference to 'greatest' (in container '')"),
        ("self.a + 1", "cel expression must evaluate to a bool"),
        ("self.s", "cel expression must evaluate to a bool"),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_asked_is_refused_with_its_definition(
    rest: Rest, rule: str, message: str
) -> None:
    answer = rest.post(DEFINITIONS, ruled(rule)).expect(422)
    [cause] = answer["details"]["causes"]
    assert cause["field"] == f"{SPEC}.x-kubernetes-validations[0].rule"
    assert message in cause["message"]


@pytest.mark.parametrize(
    "rule, field, message",
    [
        ({"rule": "  "}, "rule", "Required value: rule is not specified"),
        ({"rule": "true", "message": "a\nb"}, "message", 'Invalid value: "a\\nb": message must not contain line breaks'),
        ({"rule": "true", "message": "  "}, "message", 'Invalid value: "  ": message must be non-empty if specified'),
        ({"rule": "true", "reason": "Nope"}, "reason", 'Unsupported value: "Nope": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"'),
        ({"rule": "true", "fieldPath": ".zz"}, "fieldPath", 'Invalid value: ".zz": fieldPath must be a valid path'),
        ({"rule": "self.a > 1", "optionalOldSelf": True}, "optionalOldSelf", "Invalid value: true: may not be set if oldSelf is not used in rule"),
    ],
)  # fmt: skip
def test_what_goes_with_a_rule_is_checked_too(
    rest: Rest, rule: dict[str, Any], field: str, message: str
) -> None:
    answer = rest.post(DEFINITIONS, ruled(rule)).expect(422)
    [cause] = answer["details"]["causes"]
    assert (cause["field"], cause["message"]) == (f"{SPEC}.x-kubernetes-validations[0].{field}", message)


def test_a_message_expression_is_compiled_with_its_rule(rest: Rest) -> None:
    answer = rest.post(DEFINITIONS, ruled({"rule": "true", "messageExpression": "self.nope"})).expect(422)
    [cause] = answer["details"]["causes"]
    assert cause["field"] == f"{SPEC}.x-kubernetes-validations[0].messageExpression"
    assert (
        "messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'nope'" in cause["message"]
    )


def test_items_that_cannot_be_told_apart_have_no_past(rest: Rest) -> None:
    items = with_rule({"type": "object", "properties": {"n": NUMBER}}, rule="self.n == oldSelf.n")
    body = ruled("true", l={"type": "array", "items": items})
    [cause] = rest.post(DEFINITIONS, body).expect(422)["details"]["causes"]
    assert "oldSelf cannot be used on the uncorrelatable portion of the schema" in cause["message"]


@pytest.mark.parametrize(
    "rule, good, bad",
    [
        ("self.a <= self.b", {"a": 1, "b": 2}, {"a": 2, "b": 1}),
        ("has(self.a) != has(self.b)", {"a": 1}, {"a": 1, "b": 1}),
        ("self.s.size() == 2", {"s": "é€"}, {"s": "é"}),
        ("size(self.l) < 2", {"l": ["a"]}, {"l": ["a", "b"]}),
        ("self.l.all(x, x.startsWith('a'))", {"l": ["a", "ab"]}, {"l": ["a", "b"]}),
        ("self.l.exists(x, x == 'b')", {"l": ["a", "b"]}, {"l": ["a"]}),
        ("self.l.exists_one(x, x.endsWith('b'))", {"l": ["a", "b"]}, {"l": ["b", "b"]}),
        ("self.l.map(x, x + '!') == ['a!']", {"l": ["a"]}, {"l": ["b"]}),
        ("self.l.filter(x, x.contains('a')).size() == 1", {"l": ["a", "b"]}, {"l": ["a", "ab"]}),
        ("self.s.matches('^[a-z]+$')", {"s": "abc"}, {"s": "a1"}),
        ("self.s in ['red', 'blue']", {"s": "red"}, {"s": "green"}),
        ("self.f * 2.0 > 3.0", {"f": 2}, {"f": 1}),
        ("self.t ? self.a > 0 : self.a < 0", {"t": True, "a": 1}, {"t": False, "a": 1}),
        ("type(self.a) == int && string(self.a) == '3'", {"a": 3}, {"a": 4}),
        ("self.s.lowerAscii() == 'abc' && self.s.upperAscii() == 'ABC'", {"s": "aBc"}, {"s": "x"}),
        ("self.s.split(',') == ['a', 'b']", {"s": "a,b"}, {"s": "a;b"}),
        ("self.l.join('-') == 'a-b'", {"l": ["a", "b"]}, {"l": ["b", "a"]}),
        ("self.s.replace('a', 'b') == 'bb' && self.s.trim() == 'ab'", {"s": "ab"}, {"s": "aa"}),
        ("self.s.substring(1, 3) == 'bc' && self.s.indexOf('c') == 2", {"s": "abcd"}, {"s": "xbcd"[::-1]}),
        ("self.s.find('[0-9]+') == '12' && self.s.findAll('[0-9]+').size() == 2", {"s": "a12b3"}, {"s": "a12"}),
        ("self.l.isSorted() && self.l.min() == 'a' && self.l.max() == 'c'", {"l": ["a", "c"]}, {"l": ["c", "a"]}),
        ("[self.a, self.b].sum() == 5", {"a": 2, "b": 3}, {"a": 2, "b": 2}),
        ("quantity(self.s).isGreaterThan(quantity('1Gi'))", {"s": "2Gi"}, {"s": "500Mi"}),
        ("isQuantity(self.s) && quantity(self.s).isInteger()", {"s": "2k"}, {"s": "500m"}),
        ("isURL(self.s) && url(self.s).getHost() == 'example.org:80'", {"s": "http://example.org:80/x"}, {"s": "http://example.com/"}),
        ("isIP(self.s) && ip(self.s).family() == 4", {"s": "10.0.0.1"}, {"s": "::1"}),
        ("cidr('10.0.0.0/8').containsIP(self.s)", {"s": "10.1.2.3"}, {"s": "11.1.2.3"}),
        ("sets.contains(self.l, ['a', 'b'])", {"l": ["b", "a"]}, {"l": ["a"]}),
        ("duration(self.s) < duration('1h')", {"s": "59m"}, {"s": "61m"}),
        ("timestamp(self.s).getFullYear() == 2024", {"s": "2024-05-01T00:00:00Z"}, {"s": "2023-05-01T00:00:00Z"}),
    ],
)  # fmt: skip
def test_a_rule_lets_the_good_in_and_keeps_the_bad_out(
    rest: Rest, namespace: str, rule: str, good: dict[str, Any], bad: dict[str, Any]
) -> None:
    with served(rest, namespace, ruled({"rule": rule, "message": "no"})) as widgets:
        widgets.create(**good).expect(201)
        answer = rest.post(widgets.path(), widgets.body("y", spec=bad)).expect(422)
        [cause] = answer["details"]["causes"]
        assert cause == {
            "reason": "FieldValueInvalid",
            "message": 'Invalid value: "object": no',
            "field": "spec",
        }


def test_names_that_are_no_identifiers_are_escaped(rest: Rest, namespace: str) -> None:
    rule = "self.__namespace__ == 'x' && self.a__dash__b == 1 && self.c__dot__d == 2"
    fields = {"namespace": SHORT, "a-b": NUMBER, "c.d": NUMBER}
    with served(rest, namespace, ruled(rule, **fields)) as widgets:
        widgets.create(**{"namespace": "x", "a-b": 1, "c.d": 2}).expect(201)
        assert (
            rest.post(widgets.path(), widgets.body("y", spec={"namespace": "y", "a-b": 1, "c.d": 2})).status
            == 422
        )


def test_texts_of_known_formats_are_what_they_mean(rest: Rest, namespace: str) -> None:
    fields = {"d": {"type": "string", "format": "duration"}, "w": {"type": "string", "format": "date-time"}}
    rule = "self.d > duration('1m') && self.w > timestamp('2020-01-01T00:00:00Z')"
    with served(rest, namespace, ruled(rule, **fields)) as widgets:
        widgets.create(d="1m30s", w="2021-01-01T00:00:00Z").expect(201)
        late = widgets.body("y", spec={"d": "30s", "w": "2021-01-01T00:00:00Z"})
        assert rest.post(widgets.path(), late).status == 422


def test_a_number_or_a_text_can_be_told_apart(rest: Rest, namespace: str) -> None:
    rule = "type(self.p) == int ? self.p > 1 : self.p == 'all'"
    with served(rest, namespace, ruled(rule, p={"x-kubernetes-int-or-string": True})) as widgets:
        widgets.create(p="all").expect(201)
        assert rest.post(widgets.path(), widgets.body("y", spec={"p": 1})).status == 422


def test_a_rule_without_a_message_shows_itself(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, ruled("self.a < 5")) as widgets:
        answer = widgets.create(a=6).expect(422)
        assert answer["message"].endswith('spec: Invalid value: "object": failed rule: self.a < 5')


def test_a_rule_without_an_answer_says_why(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, ruled("10 / self.a > 1", {"rule": "self.b > 1", "message": "b"})) as widgets:
        messages = [c["message"] for c in widgets.create(a=0).expect(422)["details"]["causes"]]
        assert messages == [
            'Invalid value: "object": division by zero evaluating rule: 10 / self.a > 1',
            'Invalid value: "object": no such key: b evaluating rule: b',
        ]


def test_a_message_can_be_made_from_the_value(rest: Rest, namespace: str) -> None:
    rule = {"rule": "self.s != 'bad'", "messageExpression": "'got ' + self.s", "message": "static"}
    with served(rest, namespace, ruled(rule)) as widgets:
        [cause] = widgets.create(s="bad").expect(422)["details"]["causes"]
        assert cause["message"] == 'Invalid value: "object": got bad'


def test_a_rule_can_name_its_field_and_its_reason(rest: Rest, namespace: str) -> None:
    rule = {
        "rule": "self.a < self.b",
        "fieldPath": ".a",
        "reason": "FieldValueForbidden",
        "message": "too large",
    }
    with served(rest, namespace, ruled(rule)) as widgets:
        [cause] = widgets.create(a=2, b=1).expect(422)["details"]["causes"]
        assert cause == {
            "reason": "FieldValueForbidden",
            "message": "Forbidden: too large",
            "field": "spec.a",
        }


def test_rules_stand_at_items_and_at_values_of_maps(rest: Rest, namespace: str) -> None:
    items = with_rule({"type": "object", "properties": {"n": NUMBER}}, rule="self.n > 0", message="too small")
    fields = {
        "l": {"type": "array", "maxItems": 5, "items": items},
        "m": {
            "type": "object",
            "maxProperties": 5,
            "additionalProperties": with_rule(NUMBER, rule="self < 10"),
        },
    }
    with served(rest, namespace, ruled("true", **fields)) as widgets:
        answer = widgets.create(l=[{"n": 1}, {"n": 0}], m={"k": 11}).expect(422)
        found = {c["field"]: c["message"] for c in answer["details"]["causes"]}
        assert found == {
            "spec.l[1]": 'Invalid value: "object": too small',
            "spec.m[k]": 'Invalid value: "integer": failed rule: self < 10',
        }


def test_rules_are_not_asked_of_what_has_the_wrong_type(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, ruled("self.a < 5")) as widgets:
        causes = widgets.create(a="x").expect(422)["details"]["causes"]
        assert [c["field"] for c in causes] == ["spec.a", "<nil>"]
        assert "some validation rules were not checked because the object was invalid" in causes[1]["message"]


def test_what_is_immutable_can_be_set_and_kept(rest: Rest, namespace: str) -> None:
    fixed = with_rule(SHORT, rule="self == oldSelf", message="s stays as it is")
    with served(rest, namespace, ruled("true", s=fixed, a=NUMBER)) as widgets:
        widgets.create(a=1).expect(201)
        rest.merge(widgets.path("x"), {"spec": {"s": "one"}}).expect(200)
        [cause] = rest.merge(widgets.path("x"), {"spec": {"s": "two"}}).expect(422)["details"]["causes"]
        assert cause["message"] == 'Invalid value: "string": s stays as it is'
        rest.merge(widgets.path("x"), {"spec": {"s": "one", "a": 2}}).expect(200)


def test_an_optional_past_lets_a_rule_run_at_the_first_time(rest: Rest, namespace: str) -> None:
    rule = {
        "rule": "oldSelf.hasValue() || self == 'first'",
        "optionalOldSelf": True,
        "message": "first is first",
    }
    with served(rest, namespace, ruled("true", s=with_rule(SHORT, **rule))) as widgets:
        assert widgets.create(s="second").status == 422
        widgets.create(s="first").expect(201)
        rest.merge(widgets.path("x"), {"spec": {"s": "third"}}).expect(200)


def test_items_with_keys_are_compared_with_what_they_were(rest: Rest, namespace: str) -> None:
    items = {"type": "object", "required": ["n"], "properties": {"n": SHORT, "v": NUMBER}}
    grows = with_rule(items, rule="self.v >= oldSelf.v", message="v only grows")
    keyed = {"type": "array", "maxItems": 5, "items": grows, "x-kubernetes-list-type": "map"}
    with served(rest, namespace, ruled("true", l={**keyed, "x-kubernetes-list-map-keys": ["n"]})) as widgets:
        widgets.create(l=[{"n": "a", "v": 1}, {"n": "b", "v": 5}]).expect(201)
        swapped = {"spec": {"l": [{"n": "b", "v": 6}, {"n": "a", "v": 1}, {"n": "c", "v": 0}]}}
        rest.merge(widgets.path("x"), swapped).expect(200)
        shrunk = {"spec": {"l": [{"n": "a", "v": 1}, {"n": "b", "v": 2}]}}
        [cause] = rest.merge(widgets.path("x"), shrunk).expect(422)["details"]["causes"]
        assert cause["field"] == "spec.l[1]"


def test_a_rule_that_came_later_does_not_hold_up_other_changes(rest: Rest, namespace: str) -> None:
    inner = {"type": "object", "properties": {"n": NUMBER}}
    with served(rest, namespace, ruled("true", a=NUMBER, o=inner)) as widgets:
        widgets.create(o={"n": 9}).expect(201)
        stricter = ruled("true", a=NUMBER, o=with_rule(inner, rule="self.n < 5"))["spec"]["versions"]
        rest.merge(widgets.at, {"spec": {"versions": stricter}}).expect(200)
        refused = widgets.body("y", spec={"o": {"n": 9}})
        while rest.post(widgets.path(), refused, dryRun="All").status == 201:
            pass  # the new rule is not in force yet
        rest.merge(widgets.path("x"), {"spec": {"a": 1}}).expect(200)
        assert rest.merge(widgets.path("x"), {"spec": {"o": {"n": 8}}}).status == 422
