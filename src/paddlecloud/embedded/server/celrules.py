"""The `x-kubernetes-validations` of a schema, asked about an object and the one it replaces.

A rule stands where its field is: `self` is the value there, `oldSelf` the value that was there before,
where the two can be told to be the same thing. Rules that nobody's change touches are not asked again.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from . import cel
from .cel import escaped, fields_of
from .cel.conversions import to_moment, to_span
from .cel.values import Partly
from .fieldpaths import field_path
from .schema import Violation
from .structural import RULES

Schema = dict[str, Any]
REASONS = {
    "FieldValueInvalid": "Invalid value: {value}: {message}",
    "FieldValueRequired": "Required value: {message}",
    "FieldValueForbidden": "Forbidden: {message}",
    "FieldValueDuplicate": "Duplicate value: {value}",
}
NOT_CHECKED = Violation(
    "<nil>",
    "FieldValueInvalid",
    'Invalid value: "null": some validation rules were not checked because the object was invalid; correct '
    "the existing errors to complete validation",
)
# An object that is wrong in one of these ways is not what the rules were written for.
BLOCKING = ("FieldValueRequired", "FieldValueTypeInvalid", "FieldValueTooLong", "FieldValueTooMany")
BUDGET = 10_000_000
"""What all rules about one object may cost."""
LONGEST = 5 * 1024
SPENT = "validation failed due to running out of cost budget, no further validation rules will be run"


@dataclass
class Purse:
    """What is left to be spent on an object; nothing once a rule has taken too much."""

    left: int = BUDGET

    def pay(self, cost: int) -> bool:
        self.left = self.left - cost if cost <= self.left else -1
        return self.left >= 0


@dataclass(frozen=True)
class Rule:
    rule: cel.Program
    message: str = ""
    expression: cel.Program | None = None
    reason: str = "FieldValueInvalid"
    path: str = ""
    optional_old: bool = False

    @property
    def shown(self) -> str:
        return self.message.strip() or self.rule.source.strip()

    def violated(self, known: dict[str, Any], spot: Spot, purse: Purse) -> Violation | None:
        try:
            held, cost = self.rule.ask(known)
        except cel.Exceeded as error:
            purse.left = -1
            return spot.wrong(
                f"'{error}': no further validation rules will be run due to call cost exceeds limit for "
                f"rule: {self.shown}"
            )
        except cel.NoOverload as error:
            return spot.wrong(
                f"'{error}': call arguments did not match a supported operator, function or macro signature "
                f"for rule: {self.shown}"
            )
        except cel.CelError as error:
            return spot.wrong(f"{error} evaluating rule: {self.shown}")
        if not purse.pay(cost):
            return spot.wrong(SPENT)
        if held is True:
            return None
        text = REASONS[self.reason].format(value=f'"{spot.kind}"', message=self._message(known, purse))
        return Violation(f"{spot.path}{self.path}".removeprefix("."), self.reason, text)

    def _message(self, known: dict[str, Any], purse: Purse) -> str:
        if self.expression is not None:
            try:
                made, cost = self.expression.ask(known)
            except cel.CelError:
                made, cost = None, 0
            purse.pay(cost)
            text = made.strip() if isinstance(made, str) else ""
            if text and "\n" not in text and len(text.encode()) <= LONGEST:
                return text
        return self.message.strip() or f"failed rule: {self.shown}"


@dataclass(frozen=True)
class Spot:
    """Where in an object a rule is asked."""

    path: str
    kind: str

    def wrong(self, message: str) -> Violation:
        return Violation(self.path, "FieldValueInvalid", f'Invalid value: "{self.kind}": {message}')


@dataclass(frozen=True)
class Node:
    """The rules of a schema and of what is below it; only made where there are any."""

    schema: Schema
    root: bool = False
    rules: tuple[Rule, ...] = ()
    fields: dict[str, Node] = field(default_factory=dict)
    item: Node | None = None
    value: Node | None = None


def tree(schema: Schema, *, root: bool = True) -> Node | None:
    """None where a schema has no rule at all."""
    rules = tuple(rule_of(r, schema) for r in schema.get(RULES) or ())
    fields = {n: t for n, s in (schema.get("properties") or {}).items() if (t := tree(s, root=False))}
    items, rest = schema.get("items"), schema.get("additionalProperties")
    item = tree(items, root=False) if isinstance(items, dict) else None
    value = tree(rest, root=False) if isinstance(rest, dict) else None
    if not (rules or fields or item or value):
        return None
    return Node(schema, root, rules, fields, item, value)


def rule_of(body: dict[str, Any], schema: Schema) -> Rule:
    expression = body.get("messageExpression") or ""
    return Rule(
        program_of(body["rule"]),
        body.get("message") or "",
        program_of(expression) if expression else None,
        body.get("reason") or "FieldValueInvalid",
        field_path(body.get("fieldPath") or "", schema) or "",
        bool(body.get("optionalOldSelf")),
    )


def program_of(source: str) -> cel.Program:
    """The program of a rule; of one that an older server took and this one cannot read, its error."""
    try:
        return cel.compiled(source)
    except cel.CelError as error:
        return cel.failing(source, f"rule compile error: {error}")


MISSING: Any = object()


def asked(node: Node | None, body: Any, old: Any | None, found: Iterable[Violation]) -> Iterable[Violation]:
    """What the rules have against an object, once its types are right; *found*: what the schema has."""
    if node is None:
        return ()
    if any(v.reason in BLOCKING for v in found):
        return (NOT_CHECKED,)
    return broken(node, body, MISSING if old is None else old)


def broken(
    node: Node, body: Any, old: Any = MISSING, path: str = "", purse: Purse | None = None
) -> Iterator[Violation]:
    """Every rule that does not hold for *body*, *old* being what it replaces."""
    purse = purse or Purse()
    if body is None or purse.left < 0:
        return
    if node.rules:
        yield from broken_here(node, body, old, path, purse)
    if isinstance(body, dict):
        for key, value in body.items():
            before = old.get(key, MISSING) if isinstance(old, dict) else MISSING
            if inner := node.fields.get(key):
                yield from broken(inner, value, before, f"{path}.{key}" if path else key, purse)
            elif node.value and key not in node.fields:
                yield from broken(node.value, value, before, f"{path}[{key}]", purse)
    elif isinstance(body, list) and node.item:
        known = by_keys(node.schema, old)
        for i, value in enumerate(body):
            before = known.get(key_of(node.schema, value), MISSING) if known else MISSING
            yield from broken(node.item, value, before, f"{path}[{i}]", purse)


def broken_here(node: Node, body: Any, old: Any, path: str, purse: Purse) -> Iterator[Violation]:
    unchanged = old is not MISSING and old == body
    spot = Spot(path, str(node.schema.get("type") or ""))
    known: dict[str, Any] = {}
    for rule in node.rules:
        if rule.rule.uses_old:
            if old is MISSING and not rule.optional_old:
                continue
        elif unchanged:
            continue
        known = known or {"self": seen(body, node.schema, root=node.root)}
        given = known
        if rule.rule.uses_old:
            before = None if old is MISSING else seen(old, node.schema, root=node.root)
            past = before
            if rule.optional_old:
                past = cel.NONE if old is MISSING else cel.some(before)
            given = {**known, "oldSelf": past}
        if found := rule.violated(given, spot, purse):
            yield found
        if purse.left < 0:
            return


def key_of(schema: Schema, item: Any) -> tuple[Any, ...] | None:
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    return tuple(str(item.get(k)) for k in keys) if keys and isinstance(item, dict) else None


def by_keys(schema: Schema, old: Any) -> dict[Any, Any]:
    """The items of the old list that can be found again: those with keys."""
    if not isinstance(old, list) or schema.get("x-kubernetes-list-type") != "map":
        return {}
    return {key_of(schema, item): item for item in old}


def seen(body: Any, schema: Schema, *, root: bool = False) -> Any:
    """The value as a rule sees it: only what the schema names, texts of known formats as what they mean."""
    if isinstance(body, dict):
        rest = schema.get("additionalProperties")
        if isinstance(rest, dict):
            return {key: seen(value, rest) for key, value in body.items()}
        properties = fields_of(schema, root=root)
        named = {escaped(key): seen(body[key], inner) for key, inner in properties.items() if key in body}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            return named
        return Partly(named, {key: value for key, value in body.items() if key not in properties})
    if isinstance(body, list):
        items = schema.get("items")
        return [seen(item, items if isinstance(items, dict) else {}) for item in body]
    if schema.get("type") == "number" and isinstance(body, int) and not isinstance(body, bool):
        return float(body)
    if isinstance(body, str) and "format" in schema:
        return meant(body, schema["format"])
    return body


def meant(text: str, form: str) -> Any:
    if form == "date-time":
        return to_moment(text)
    if form == "date":
        return to_moment(f"{text}T00:00:00Z")
    if form == "duration":
        return to_span(text)
    return base64.b64decode(text) if form == "byte" else text
