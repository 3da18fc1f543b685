# ruff: noqa: E501
"""What a rule in CEL may cost: estimated when its definition is made, counted when it is asked."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.definitions import DEFINITIONS, SHARED, SPEC, definition, served, version
from tests.kubernetes.rest import Rest

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "integer"}
ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and "
    "strings are declared)"
)


@pytest.fixture
def namespace(common_namespace: str) -> str:
    """One for all: every case has a kind of its own, and takes its objects with it."""
    return common_namespace


def text(most: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": most}


def array(items: dict[str, Any], most: int | None = None) -> dict[str, Any]:
    return {"type": "array", "items": items, **({} if most is None else {"maxItems": most})}


def mapping(values: dict[str, Any], most: int | None = None) -> dict[str, Any]:
    made = {"type": "object", "additionalProperties": values}
    return {**made, **({} if most is None else {"maxProperties": most})}


def fields(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def ruled(spec: dict[str, Any], *rules: str) -> dict[str, Any]:
    own = {**spec, "x-kubernetes-validations": [{"rule": rule} for rule in rules]}
    return definition(version(fields(spec=own)))


@pytest.mark.parametrize(
    "rule, schema, factor",
    [
        ("self.all(x, x > 1 && x < 5)", array(NUMBER), "1.101004x"),
        ("self.all(x, self.all(y, x == y))", array(NUMBER), "more than 100x"),
        ("self.all(k, self[k].matches('^[a-z]+$'))", mapping(TEXT), "more than 100x"),
        ("self.all(x, x.s.matches('^[a-z0-9-]+$'))", array(fields(s=TEXT)), "more than 100x"),
        ("self.all(x, x.s.matches('^[a-z0-9-]+$'))", array({**fields(s=text(63)), "required": ["s"]}), "2.6x"),
        ("self.l.all(x, self.m.exists(k, k == x))", fields(l=array(TEXT), m=mapping(TEXT)), "more than 100x"),
        ("self.map(x, x + 'a').all(y, y.size() < 5)", array(TEXT), "more than 100x"),
        ("self.filter(x, x > 1).size() < 5", array(NUMBER), "2.4x"),
        ("self.isSorted()", array(TEXT), "more than 100x"),
        ("self.indexOf('a') == 1", array(TEXT), "more than 100x"),
        ("self.join(',') == 'a'", array(TEXT), "more than 100x"),
        ("self.split(',').all(x, x.size() < 5)", TEXT, "2.0x"),
        ("self.split(',').all(x, x.matches('^a+$'))", TEXT, "more than 100x"),
        ("format.dns1123Label().validate(self).hasValue()", TEXT, "1.006634x"),
        ("self.all(x, x.all(y, y > 1))", array(array(NUMBER)), "more than 100x"),
        ("self.?s.orValue('a').matches('^[a-z]+$')", fields(s=TEXT), "more than 100x"),
        ("self.all(k, v, v.matches('^a+$'))", mapping(TEXT), "more than 100x"),
        ("self.transformList(i, v, v).size() == 1", array(NUMBER), "2.0x"),
        ("self.all(x, [1,2,3].exists(y, y == x))", array(NUMBER), "5.0x"),
        ("self.all(x, has(x.s) && x.s in ['a','b'])", array(fields(s=TEXT)), "1.9x"),
        ("self.all(x, string(x).matches('^1+$'))", array(NUMBER), "more than 100x"),
    ],
)  # fmt: skip
def test_a_rule_that_may_cost_too_much_is_refused(
    rest: Rest, rule: str, schema: dict[str, Any], factor: str
) -> None:
    answer = rest.post(DEFINITIONS, ruled(schema, rule), dryRun="All").expect(422)
    cause = answer["details"]["causes"][0]
    assert cause == {
        "reason": "FieldValueForbidden",
        "message": f"Forbidden: estimated rule cost exceeds budget by factor of {factor} {ADVICE}",
        "field": f"{SPEC}.x-kubernetes-validations[0].rule",
    }


@pytest.mark.parametrize(
    "rule, schema",
    [
        ("self.all(x, x == 1)", array(NUMBER)),
        ("self.all(x, x == 'a')", array(TEXT)),
        ("self.all(x, self.exists_one(y, x == y))", array(NUMBER, 100)),
        ("self.all(x, self.exists_one(y, x == y))", array(NUMBER, 1000)),
        ("self.all(x, self.exists_one(y, x == y))", array(text(10), 1000)),
        ("self.contains('a')", TEXT),
        ("self.matches('^[a-z]+$')", TEXT),
        ("self.matches('^[a-z]+$')", text(100)),
        ("self.size() > 1", TEXT),
        ("self == oldSelf", TEXT),
        ("self == 'abc'", TEXT),
        ("self.startsWith('abc')", TEXT),
        ("self.all(k, self[k] == 1)", mapping(NUMBER)),
        ("self.all(k, k.matches('^[a-z]+$'))", mapping(NUMBER)),
        ("self.all(k, self[k].matches('^[a-z]+$'))", mapping(text(20), 50)),
        ("self.all(x, x.s.matches('^[a-z0-9-]+$'))", array(fields(s=text(63)), 1000)),
        ("self.isSorted()", array(NUMBER)),
        ("self.sum() == 1", array(NUMBER)),
        ("self.join(',').matches('^a+$')", array(text(10), 100)),
        ("self.split(',').all(x, x.matches('^a+$'))", text(1000)),
        ("self.replace('a','bb').contains('abc')", TEXT),
        ("self.replace('a','bb').matches('^[abc]+$')", text(5000)),
        ("self.lowerAscii() == 'a'", TEXT),
        ("self.find('^[a-z]+$') == 'a'", TEXT),
        ("self.findAll('^[a-z]+$').size() == 1", TEXT),
        ("self in ['a','b','c']", TEXT),
        ("'a' in self", array(TEXT)),
        ("quantity(self).isGreaterThan(quantity('1'))", TEXT),
        ("isURL(self)", TEXT),
        ("isIP(self)", TEXT),
        ("cidr('10.0.0.0/8').containsIP(self)", TEXT),
        ("format.dns1123Label().validate(self).hasValue()", text(500)),
        ("self + self == 'aa'", TEXT),
        ("self.all(x, x.all(y, y > 1))", array(array(NUMBER, 100), 100)),
        ("self.all(x, x.all(y, y.all(z, z > 1)))", array(array(array(NUMBER, 100), 100), 100)),
        ("type(self) == string ? self.matches('^a$') : self > 1", {"x-kubernetes-int-or-string": True}),
        ("self.?s.orValue('abc') == 'abc'", fields(s=TEXT)),
        ("self.l == self.m", fields(l=array(TEXT), m=array(TEXT))),
        ("self.all(i, v, v == 1)", array(NUMBER)),
        ("[self.a, self.b].all(x, x.matches('^a+$'))", fields(a=TEXT, b=TEXT)),
        ("(self.t ? self.a : self.b).matches('^a+$')", fields(a=TEXT, b=TEXT, t={"type": "boolean"})),
        ("self > duration('1s')", {"type": "string", "format": "duration"}),
        ("self.all(x, x > timestamp('2020-01-01T00:00:00Z'))", array({"type": "string", "format": "date-time"})),
        ("self.matches('^[a-z]+$')", {"type": "string", "enum": ["aa", "b"]}),
        ("self.all(x, x.matches('^[a-z]+$'))", array({"type": "string", "enum": ["aa", "b"]})),
        ("'%s'.format([self]) == 'a'", TEXT),
        ("strings.quote(self).contains('abc')", TEXT),
        ("self.trim().substring(1).size() == 1", TEXT),
        ("sets.contains(self, ['a'])", array(TEXT)),
        ("sets.equivalent(self, self)", array(TEXT, 1000)),
        ("bytes(self).size() > 1", TEXT),
        ("self[0] == 'a'", array(TEXT)),
        ("self.exists(x, x[0] == 'a')", array(array(TEXT))),
    ],
)  # fmt: skip
def test_a_rule_whose_values_are_small_is_taken(rest: Rest, rule: str, schema: dict[str, Any]) -> None:
    rest.post(DEFINITIONS, ruled(schema, rule), dryRun="All").expect(201)


def test_a_rule_costs_more_where_it_is_asked_more_often(rest: Rest) -> None:
    item = {**text(1000), "x-kubernetes-validations": [{"rule": "self.matches('^[a-z]+$')"}]}
    rest.post(DEFINITIONS, definition(version(fields(spec=array(item, 100)))), dryRun="All").expect(201)
    answer = rest.post(DEFINITIONS, definition(version(fields(spec=array(item)))), dryRun="All").expect(422)
    assert answer["details"]["causes"][0]["field"] == f"{SPEC}.items.x-kubernetes-validations[0].rule"


def test_all_rules_together_may_cost_too_much(rest: Rest) -> None:
    rules = [f"self.all(x, x.matches('^[a-z]+{n}$'))" for n in range(60)]
    answer = rest.post(DEFINITIONS, ruled(array(text(200), 10000), *rules), dryRun="All").expect(422)
    causes = answer["details"]["causes"]
    most = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
    assert [c["message"] for c in causes[:4]] == [f"Forbidden: {most}"] * 4
    assert causes[4]["field"] == SHARED
    assert causes[4]["message"].startswith(
        "Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds "
        "budget by factor of "
    )


def test_a_rule_that_takes_too_long_is_ended(rest: Rest, namespace: str) -> None:
    rule = "self.l.all(x, self.l.all(y, x + y >= 0))"
    with served(
        rest, namespace, ruled(fields(l=array(NUMBER, 1000)), rule, "self.l.size() > 5000")
    ) as widgets:
        widgets.body("x")
        [cause] = widgets.create(l=[1] * 1000).expect(422)["details"]["causes"]
        assert cause["message"] == (
            "Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further "
            f"validation rules will be run due to call cost exceeds limit for rule: {rule}"
        )


def test_many_steps_are_not_too_many(rest: Rest, namespace: str) -> None:
    rule = "self.l.all(x, self.l.exists_one(y, y == x))"
    with served(rest, namespace, ruled(fields(l=array(NUMBER, 200)), rule)) as widgets:
        widgets.create(l=list(range(150))).expect(201)
