# ruff: noqa: E501
"""What a rule in CEL can ask: optional values, macros with two variables, the functions of Kubernetes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.definitions import NUMBER, definition, served, version
from tests.kubernetes.rest import Rest

SHORT = {"type": "string", "maxLength": 60}
FIELDS: dict[str, Any] = {
    "a": NUMBER,
    "s": SHORT,
    "l": {"type": "array", "maxItems": 5, "items": SHORT},
    "m": {"type": "object", "maxProperties": 5, "additionalProperties": NUMBER},
    "o": {"type": "object", "properties": {"x": NUMBER}},
    "lo": {"type": "array", "maxItems": 5, "items": {"type": "object", "properties": {"n": NUMBER}}},
    "p": {"x-kubernetes-int-or-string": True},
    "b": {"type": "string", "format": "byte", "maxLength": 60},
    "d": {"type": "string", "format": "date-time"},
}


@pytest.fixture
def namespace(common_namespace: str) -> str:
    """One for all: every case has a kind of its own, and takes its objects with it."""
    return common_namespace


def ruled(**rule: Any) -> dict[str, Any]:
    spec = {"type": "object", "properties": FIELDS, "x-kubernetes-validations": [rule]}
    return definition(version({"type": "object", "properties": {"spec": spec}}))


@pytest.mark.parametrize(
    "rule, good, bad",
    [
        ("self.?a.orValue(3) == 3", {}, {"a": 4}),
        ("self.?o.?x.orValue(1) > 0 && self.?o.x.optMap(n, n + 1).orValue(9) == 9", {}, {"o": {"x": 1}}),
        ("self.l[?1].hasValue() && self.m[?'k'].orValue(0) == 2", {"l": ["a", "b"], "m": {"k": 2}}, {"l": ["a"], "m": {"k": 2}}),
        ("[?self.?a, 7].size() == 1 && !('k' in {?'k': self.?a})", {}, {"a": 1}),
        ("self.l.first().hasValue() && self.l.last().hasValue() && self.l[0] == 'a'", {"l": ["a", "b"]}, {"l": ["b", "a"]}),
        ("self.l.all(i, v, i < 2 || v == 'c')", {"l": ["a", "b", "c"]}, {"l": ["a", "b", "d"]}),
        ("self.m.exists(k, v, k == 'x' && v == 1)", {"m": {"x": 1}}, {"m": {"x": 2, "y": 1}}),
        ("self.m.existsOne(k, v, v == 1)", {"m": {"x": 1, "y": 2}}, {"m": {"x": 1, "y": 1}}),
        ("self.l.transformList(i, v, v + '!') == ['a!', 'b!']", {"l": ["a", "b"]}, {"l": ["b", "a"]}),
        ("self.m.transformMap(k, v, v > 1, v * 10) == {'y': 20}", {"m": {"x": 1, "y": 2}}, {"m": {"y": 3}}),
        ("self.lo.all(x, x.n == 1)", {"lo": [{"n": 1}]}, {"lo": [{}, {"n": 2}]}),
        ("self.s.charAt(1) == 'b' && self.s.lastIndexOf('a') == 3 && self.s.indexOf('a', 1) == 3", {"s": "abca"}, {"s": "abcb"}),
        ("self.s.split('-', 2) == ['a', 'b-c'] && self.s.replace('-', '', 1) == 'ab-c'", {"s": "a-b-c"}, {"s": "a-b"}),
        ("'%s=%d in %s'.format([self.s, self.a, self.l]) == 'n=3 in [\"x\", \"y\"]'", {"s": "n", "a": 3, "l": ["x", "y"]}, {"s": "n", "a": 4, "l": []}),
        ("strings.quote(self.s) == '\"a\\\\\"b\"'", {"s": 'a"b'}, {"s": "ab"}),
        ("self.s.findAll('([a-z])[0-9]', 1) == ['a1'] && self.s.find('[b-z](.)') == 'b2'", {"s": "a1b2"}, {"s": "a1c2"}),
        ("self.l.indexOf('b') == 1 && self.l.lastIndexOf('b') == 2", {"l": ["a", "b", "b"]}, {"l": ["b", "b"]}),
        ("sets.equivalent(self.l, ['a', 'b']) && sets.intersects(self.l, ['b', 'z'])", {"l": ["b", "a", "b"]}, {"l": ["a"]}),
        ("quantity(self.s).add(quantity('500m')).compareTo(quantity('2')) == 0 && sign(quantity(self.s)) == 1", {"s": "1500m"}, {"s": "1"}),
        ("quantity(self.s).sub(1).asInteger() == 1023 && quantity(self.s).asApproximateFloat() > 1000.0", {"s": "1Ki"}, {"s": "1k"}),
        ("quantity(self.s) == quantity('1000m')", {"s": "1"}, {"s": "2"}),
        ("url(self.s).getScheme() == 'https' && url(self.s).getHostname() == 'h' && url(self.s).getPort() == '8' && url(self.s).getEscapedPath() == '/p' && url(self.s).getQuery() == {'q': ['1', '2']}", {"s": "https://h:8/p?q=1&q=2"}, {"s": "https://h:8/p?q=1"}),
        ("ip(self.s).isLoopback() || ip(self.s).isGlobalUnicast()", {"s": "127.0.0.1"}, {"s": "169.254.0.1"}),
        ("isIP(self.s) && ip.isCanonical(self.s) && ip(self.s).family() == 6", {"s": "2001:db8::1"}, {"s": "2001:DB8::1"}),
        ("cidr(self.s).containsCIDR('10.1.0.0/16') && cidr(self.s).prefixLength() == 8 && string(cidr(self.s).masked()) == '10.0.0.0/8'", {"s": "10.9.9.9/8"}, {"s": "10.0.0.0/16"}),
        ("!format.dns1123Label().validate(self.s).hasValue()", {"s": "my-name"}, {"s": "My_Name"}),
        ("format.named('uuid').value().validate(self.s).orValue([]).size() == 0", {"s": "123e4567-e89b-12d3-a456-426614174000"}, {"s": "x"}),
        ("!format.dns1035LabelPrefix().validate(self.s).hasValue() && !format.labelValue().validate(self.s).hasValue()", {"s": "a-b"}, {"s": "1a-"}),
        ("type(self.p) == int ? self.p < 3 : self.p.endsWith('%')", {"p": "5%"}, {"p": "5"}),
        ("string(self.b) == 'hey' && self.b.size() == 3", {"b": "aGV5"}, {"b": "aGV"}),
        ("self.d.getHours('America/New_York') == 19 && string(self.d) == '2024-05-01T23:30:00Z'", {"d": "2024-05-01T23:30:00Z"}, {"d": "2024-05-01T22:30:00Z"}),
        ("-7 / 2 == -3 && -7 % 2 == -1 && self.a / 2 == 3", {"a": 7}, {"a": 8}),
        ("1 < 1.5 && 2u > 1 && dyn(self.a) < 1.5", {"a": 1}, {"a": 2}),
        ("self.a in self.lo.map(x, x.n) && self.lo.filter(x, x.n > 1).map(x, x.n).sum() == 5", {"a": 1, "lo": [{"n": 1}, {"n": 2}, {"n": 3}]}, {"a": 9, "lo": [{"n": 5}]}),
    ],
)  # fmt: skip
def test_what_a_rule_asks_is_answered_alike(
    rest: Rest, namespace: str, rule: str, good: dict[str, Any], bad: dict[str, Any]
) -> None:
    with served(rest, namespace, ruled(rule=rule, message="no")) as widgets:
        widgets.create(**good).expect(201)
        answer = rest.post(widgets.path(), widgets.body("y", spec=bad)).expect(422)
        assert [cause["field"] for cause in answer["details"]["causes"]] in (["spec"], ["spec.b", "<nil>"])


@pytest.mark.parametrize(
    "rule, spec, problem",
    [
        ("self.p > 'a'", {"p": 1}, "'no such overload': call arguments did not match a supported operator, function or macro signature for rule: no"),
        ("self.l[3] == 'a'", {"l": ["a"]}, "index out of bounds: 3 evaluating rule: no"),
        ("self.m['q'] == 1", {"m": {"a": 1}}, "no such key: q evaluating rule: no"),
        ("self.o.x == 1", {"o": {}}, "no such key: x evaluating rule: no"),
        ("int(self.s) == 1", {"s": "x"}, "type conversion error from 'string' to 'int' evaluating rule: no"),
        ("self.s.substring(9) == ''", {"s": "abc"}, "index out of range: 9 evaluating rule: no"),
        ("duration(self.s) == duration('1s')", {"s": "x"}, "type conversion error from 'string' to 'google.protobuf.Duration' evaluating rule: no"),
        ("self.l.min() == 'a'", {"l": []}, "min called on empty list evaluating rule: no"),
        ("self.s.matches(self.l[0])", {"s": "a", "l": ["("]}, "error parsing regexp: missing closing ): `(` evaluating rule: no"),
        ("9223372036854775807 + self.a > 0", {"a": 1}, "integer overflow evaluating rule: no"),
        ("self.a % 0 == 1", {"a": 1}, "modulus by zero evaluating rule: no"),
        ("optional.none().value() == 1", {"a": 1}, "optional.none() dereference evaluating rule: no"),
        ("ip(self.s).family() == 4", {"s": "x"}, 'IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP evaluating rule: no'),
        ("self.lo.all(x, x.n == 1)", {"lo": [{"n": 1}, {}]}, "no such key: n evaluating rule: no"),
    ],
)  # fmt: skip
def test_a_rule_that_has_no_answer_tells_why(
    rest: Rest, namespace: str, rule: str, spec: dict[str, Any], problem: str
) -> None:
    with served(rest, namespace, ruled(rule=rule, message="no")) as widgets:
        [cause] = widgets.create(**spec).expect(422)["details"]["causes"]
        assert cause["message"] == f'Invalid value: "object": {problem}'


@pytest.mark.parametrize(
    "path, shown",
    [(".m.k", "spec.m[k]"), (".m['k']", "spec.m[k]"), (".o.x", "spec.o.x"), ("['o']['x']", "spec.o.x")],
)
def test_a_rule_can_name_a_field_further_down(rest: Rest, namespace: str, path: str, shown: str) -> None:
    with served(rest, namespace, ruled(rule="self.a > 1", fieldPath=path, message="no")) as widgets:
        [cause] = widgets.create(a=1).expect(422)["details"]["causes"]
        assert cause["field"] == shown


@pytest.mark.parametrize("made", ["''", "'a\\nb'", "string(1 / self.a)"])
def test_a_message_that_cannot_be_made_leaves_the_one_that_is_written(
    rest: Rest, namespace: str, made: str
) -> None:
    rule = {"rule": "self.a > 1", "messageExpression": made, "message": " written "}
    with served(rest, namespace, ruled(**rule)) as widgets:
        [cause] = widgets.create(a=0, s="s").expect(422)["details"]["causes"]
        assert cause["message"] == 'Invalid value: "object": written'


def test_an_optional_past_is_an_optional_value(rest: Rest, namespace: str) -> None:
    rule = "oldSelf.optMap(o, o.a <= self.a).orValue(self.a == 1)"
    with served(rest, namespace, ruled(rule=rule, optionalOldSelf=True, message="no")) as widgets:
        assert widgets.create(a=2).status == 422
        widgets.create(a=1).expect(201)
        rest.merge(widgets.path("x"), {"spec": {"a": 3}}).expect(200)
        assert rest.merge(widgets.path("x"), {"spec": {"a": 2}}).status == 422
