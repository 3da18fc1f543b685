"""Whether the rules of a schema can be asked, and at what cost: told when the definition is made; pure."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from . import cel
from .cel import LARGEST, Size, cost_of, size_of, typed
from .celrules import REASONS
from .complaints import forbidden, invalid, required, unsupported
from .fieldpaths import field_path
from .gotext import quoted
from .schema import EMBEDDED, Violation
from .structural import RULES

Schema = dict[str, Any]
MOST, MOST_ALL = 10_000_000, 100_000_000
"""What one rule and what all rules of a schema may cost by estimate."""
SHARE = MOST_ALL // 100
NAMED = 4
ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and "
    "strings are declared)"
)


@dataclass(frozen=True)
class Spot:
    path: str
    root: bool = False
    uncorrelated: str = ""
    """The list above whose items of today cannot be matched with those of yesterday."""
    times: int | None = 1
    """How often a value can be there in one object; None where nothing limits it."""

    def inside(self, step: str, schema: Schema) -> Spot:
        """The place one step further down in *schema*."""
        most = limit_of(schema)
        times = None if self.times is None or most is None else min(self.times * most, LARGEST)
        return replace(self, path=f"{self.path}.{step}", root=False, times=times)


@dataclass
class Bill:
    """What all rules of a schema cost together, and which of them cost most."""

    total: int = 0
    largest: list[tuple[int, str]] = field(default_factory=list)

    def add(self, path: str, cost: int) -> None:
        self.total = min(self.total + cost, LARGEST)
        if cost >= SHARE:
            self.largest = sorted([*self.largest, (cost, path)], key=lambda one: -one[0])[:NAMED]

    def problems(self, path: str) -> Iterator[Violation]:
        if self.total <= MOST_ALL:
            return
        for _, rule in self.largest:
            yield forbidden(
                rule,
                "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
            )
        name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        yield forbidden(path, too_much(name, self.total, MOST_ALL))


def rule_problems(schema: Schema, path: str) -> tuple[Violation, ...]:
    return known_problems(json.dumps(schema), path)


@functools.lru_cache(maxsize=32)
def known_problems(schema: str, path: str) -> tuple[Violation, ...]:
    """A definition is looked at several times on its way into the store; the answer stays the same."""
    bill, whole = Bill(), json.loads(schema)
    return (*below(whole, Spot(path, root=True), bill), *bill.problems(path))


def below(schema: Schema, spot: Spot, bill: Bill) -> Iterator[Violation]:
    for name, inner in (schema.get("properties") or {}).items():
        yield from below(inner, spot.inside(f"properties[{name}]", schema), bill)
    if isinstance(rest := schema.get("additionalProperties"), dict):
        yield from below(rest, spot.inside("additionalProperties", schema), bill)
    if isinstance(items := schema.get("items"), dict):
        keyed = schema.get("x-kubernetes-list-type") == "map"
        lost = spot.uncorrelated or ("" if keyed else spot.path)
        yield from below(items, replace(spot.inside("items", schema), uncorrelated=lost), bill)
    rules = [(rule, f"{spot.path}.{RULES}[{i}]") for i, rule in enumerate(schema.get(RULES) or ())]
    described = [problem for rule, path in rules for problem in description(rule, schema, path)]
    yield from described
    if rules and not described:
        yield from expressions(rules, schema, spot, bill)


def description(rule: Schema, schema: Schema, path: str) -> Iterator[Violation]:
    """What is wrong with what goes with an expression."""
    source, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
    if not source:
        yield required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        yield invalid(f"{path}.message", message, "message must be non-empty if specified")
    elif "\n" in message.strip():
        yield invalid(f"{path}.message", message, "message must not contain line breaks")
    elif "\n" in source and not message:
        yield required(f"{path}.message", "message must be specified if rule contains line breaks")
    if rule.get("messageExpression") and not rule["messageExpression"].strip():
        yield required(f"{path}.messageExpression", "messageExpression must be non-empty if specified")
    if rule.get("reason") and rule["reason"] not in REASONS:
        yield unsupported(f"{path}.reason", rule["reason"], tuple(sorted(REASONS)))
    where = rule.get("fieldPath") or ""
    if where and not where.strip():
        yield invalid(f"{path}.fieldPath", where, "fieldPath must be non-empty if specified")
    if "\n" in where:
        yield invalid(f"{path}.fieldPath", where, "fieldPath must not contain line breaks")
    if where and field_path(where, schema) is None:
        yield invalid(f"{path}.fieldPath", where, "fieldPath must be a valid path")


def expressions(
    rules: list[tuple[Schema, str]], schema: Schema, spot: Spot, bill: Bill
) -> Iterator[Violation]:
    root = spot.root or bool(schema.get(EMBEDDED))
    types, size = typed(schema, root=root), size_of(schema, root=root)
    if types is None or size is None:
        return
    checkers: dict[bool, cel.Checker] = {}
    for rule, path in rules:
        optional = bool(rule.get("optionalOldSelf"))
        if optional not in checkers:
            checkers[optional] = cel.Checker(types, optional_old=optional)
        yield from expression(rule, replace(spot, path=path), Measured(checkers[optional], size, bill))


@dataclass(frozen=True)
class Measured:
    checker: cel.Checker
    size: Size
    bill: Bill


def expression(rule: Schema, spot: Spot, by: Measured) -> Iterator[Violation]:
    where, source = f"{spot.path}.rule", rule["rule"]
    try:
        tree, kind = by.checker.checked(source)
    except cel.CelError as error:
        yield wrong(where, rule, f"compilation failed: {error}")
        return
    if kind.kind != "bool":
        yield wrong(where, rule, "cel expression must evaluate to a bool")
        return
    times = by.size.repeated if spot.times is None else spot.times
    cost = min(cost_of(tree, by.size) * times, LARGEST)
    by.bill.add(where, cost)
    if cost > MOST:
        yield forbidden(where, too_much("estimated rule cost", cost, MOST))
    yield from message_expression(rule, spot, by)
    if "oldSelf" not in tree.names:
        if rule.get("optionalOldSelf") is not None:
            message = "may not be set if oldSelf is not used in rule"
            yield invalid(f"{spot.path}.optionalOldSelf", rule["optionalOldSelf"], message)
    elif spot.uncorrelated:
        portion = f"the uncorrelatable portion of the schema within {spot.uncorrelated}"
        yield invalid(where, source, f"oldSelf cannot be used on {portion}")


def message_expression(rule: Schema, spot: Spot, by: Measured) -> Iterator[Violation]:
    source, where = rule.get("messageExpression"), f"{spot.path}.messageExpression"
    if not source:
        return
    try:
        tree, kind = by.checker.checked(source)
    except cel.CelError as error:
        yield wrong(where, rule, f"messageExpression compilation failed: {error}")
        return
    if kind.kind != "string":
        yield wrong(where, rule, "messageExpression must evaluate to a string")
        return
    cost = cost_of(tree, by.size)
    by.bill.add(where, cost)
    if cost > MOST:
        yield forbidden(where, too_much("estimated messageExpression cost", cost, MOST))


def too_much(name: str, cost: int, most: int) -> str:
    factor = cost / most
    # Not rounded where that would read as if nothing was exceeded.
    shown = f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x" if factor <= 100 else "more than 100x"
    return f"{name} exceeds budget by factor of {shown} {ADVICE}"


def limit_of(schema: Schema) -> int | None:
    """How many values a schema allows right below it; None where it does not limit them."""
    name = {"array": "maxItems"}.get(schema.get("type") or "")
    if schema.get("type") == "object" and schema.get("additionalProperties") is not None:
        name = "maxProperties"
    if name is None:
        return 1
    return None if schema.get(name) is None else max(int(schema[name]), 0)


def wrong(where: str, rule: Schema, message: str) -> Violation:
    reason = f"(*apiextensions.FieldValueErrorReason)({'nil' if not rule.get('reason') else '0x0'})"
    old = f"(*bool)({'nil' if rule.get('optionalOldSelf') is None else '0x0'})"
    shown = [quoted(rule.get(k) or "") for k in ("rule", "message", "messageExpression", "fieldPath")]
    value = (
        f"apiextensions.ValidationRule{{Rule:{shown[0]}, Message:{shown[1]}, MessageExpression:{shown[2]}, "
        f"Reason:{reason}, FieldPath:{shown[3]}, OptionalOldSelf:{old}}}"
    )
    return Violation(where, "FieldValueInvalid", f"Invalid value: {value}: {message}")
