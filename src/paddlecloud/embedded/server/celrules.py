"""The `x-kubernetes-validations` of a schema, asked about an object and the one it replaces.

A rule stands where its field is: `self` is the value there, `oldSelf` the value that was there before,
where the two can be told to be the same thing. Rules that nobody's change touches are not asked again.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from . import cel
from .schema import EMBEDDED, Violation
from .structural import RULES

Schema = dict[str, Any]
REASONS = {
    "FieldValueInvalid": "Invalid value: {value}: {message}",
    "FieldValueRequired": "Required value: {message}",
    "FieldValueForbidden": "Forbidden: {message}",
    "FieldValueDuplicate": "Duplicate value: {value}",
}
RESERVED = frozenset((
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
    "import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
))  # fmt: skip
NOT_CHECKED = Violation(
    "<nil>",
    "FieldValueInvalid",
    'Invalid value: "null": some validation rules were not checked because the object was invalid; correct '
    "the existing errors to complete validation",
)
# An object that is wrong in one of these ways is not what the rules were written for.
BLOCKING = ("FieldValueRequired", "FieldValueTypeInvalid", "FieldValueTooLong", "FieldValueTooMany")
SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
TEXT: Schema = {"type": "string"}
# What a rule sees of an object beside its own fields.
IDENTITY: Schema = {
    "apiVersion": TEXT,
    "kind": TEXT,
    "metadata": {"type": "object", "properties": {"name": TEXT, "generateName": TEXT}},
}


@dataclass(frozen=True)
class Rule:
    rule: cel.Program
    message: str = ""
    expression: cel.Program | None = None
    reason: str = "FieldValueInvalid"
    path: str = ""
    optional_old: bool = False

    def violated(self, known: dict[str, Any], where: str, kind: str) -> Violation | None:
        try:
            if self.rule.ask(known) is True:
                return None
            message = self._message(known)
        except cel.CelError as error:
            return Violation(
                where,
                "FieldValueInvalid",
                f'Invalid value: "{kind}": {error} evaluating rule: {self.message or self.rule.source}',
            )
        text = REASONS[self.reason].format(value=f'"{kind}"', message=message)
        return Violation(where + self.path, self.reason, text)

    def _message(self, known: dict[str, Any]) -> str:
        if self.expression is not None:
            try:
                made = self.expression.ask(known)
            except cel.CelError:
                made = None
            if isinstance(made, str) and made.strip() and "\n" not in made:
                return made
        return self.message or f"failed rule: {self.rule.source.strip()}"


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
    """None where a schema has no rule at all; raises `CelError` for one that cannot be compiled."""
    rules = tuple(rule_of(r) for r in schema.get(RULES) or ())
    fields = {n: t for n, s in (schema.get("properties") or {}).items() if (t := tree(s, root=False))}
    items, rest = schema.get("items"), schema.get("additionalProperties")
    item = tree(items, root=False) if isinstance(items, dict) else None
    value = tree(rest, root=False) if isinstance(rest, dict) else None
    if not (rules or fields or item or value):
        return None
    return Node(schema, root, rules, fields, item, value)


def rule_of(body: dict[str, Any]) -> Rule:
    expression = body.get("messageExpression") or ""
    return Rule(
        cel.compiled(body["rule"]),
        body.get("message") or "",
        cel.compiled(expression) if expression else None,
        body.get("reason") or "FieldValueInvalid",
        body.get("fieldPath") or "",
        bool(body.get("optionalOldSelf")),
    )


MISSING: Any = object()


def asked(node: Node | None, body: Any, old: Any | None, found: Iterable[Violation]) -> Iterable[Violation]:
    """What the rules have against an object, once its types are right; *found*: what the schema has."""
    if node is None:
        return ()
    if any(v.reason in BLOCKING for v in found):
        return (NOT_CHECKED,)
    return broken(node, body, MISSING if old is None else old)


def broken(node: Node, body: Any, old: Any = MISSING, path: str = "") -> Iterator[Violation]:
    """Every rule that does not hold for *body*, *old* being what it replaces."""
    if body is None:
        return
    if node.rules:
        yield from broken_here(node, body, old, path)
    if isinstance(body, dict):
        for key, value in body.items():
            before = old.get(key, MISSING) if isinstance(old, dict) else MISSING
            if inner := node.fields.get(key):
                yield from broken(inner, value, before, f"{path}.{key}" if path else key)
            elif node.value and key not in node.fields:
                yield from broken(node.value, value, before, f"{path}[{key}]")
    elif isinstance(body, list) and node.item:
        known = by_keys(node.schema, old)
        for i, value in enumerate(body):
            before = known.get(key_of(node.schema, value), MISSING) if known else MISSING
            yield from broken(node.item, value, before, f"{path}[{i}]")


def broken_here(node: Node, body: Any, old: Any, path: str) -> Iterator[Violation]:
    unchanged = old is not MISSING and old == body
    kind = str(node.schema.get("type") or "string")
    known: dict[str, Any] = {}
    for rule in node.rules:
        if rule.rule.uses_old:
            if old is MISSING and not rule.optional_old:
                continue
        elif unchanged:
            continue
        known = known or {"self": seen(body, node.schema, root=node.root)}
        if rule.rule.uses_old:
            before = None if old is MISSING else seen(old, node.schema, root=node.root)
            given = cel.optional(before, present=old is not MISSING) if rule.optional_old else before
            found = rule.violated({**known, "oldSelf": given}, path, kind)
        else:
            found = rule.violated(known, path, kind)
        if found:
            yield found


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
        properties, rest = schema.get("properties") or {}, schema.get("additionalProperties")
        if isinstance(rest, dict):
            return {key: seen(value, rest) for key, value in body.items()}
        if root or schema.get(EMBEDDED):
            properties = {**properties, **IDENTITY}
        return {escaped(key): seen(body[key], inner) for key, inner in properties.items() if key in body}
    if isinstance(body, list):
        items = schema.get("items")
        return [seen(item, items if isinstance(items, dict) else {}) for item in body]
    if schema.get("type") == "number" and isinstance(body, int) and not isinstance(body, bool):
        return float(body)
    if isinstance(body, str) and "format" in schema:
        return meant(body, schema["format"])
    return body


def meant(text: str, form: str) -> Any:
    if form in ("date-time", "datetime"):
        return datetime.fromisoformat(text.upper())
    if form == "date":
        return datetime.fromisoformat(f"{text}T00:00:00Z")
    if form == "duration":
        return span(text)
    if form == "byte":
        return base64.b64decode(text)
    return text


def span(text: str) -> timedelta:
    total, number = 0.0, ""
    unit = ""
    for char in f"{text.lstrip('+-')} ":
        if unit and (char.isdigit() or char in ". "):
            total += float(number) * SECONDS[unit]
            number = unit = ""
        if char.isdigit() or char == ".":
            number += char
        else:
            unit += char.strip()
    return timedelta(seconds=-total if text.startswith("-") else total)


def escaped(name: str) -> str:
    """A field as an identifier of CEL."""
    if name in RESERVED:
        return f"__{name}__"
    return (
        name.replace("__", "__underscores__")
        .replace(".", "__dot__")
        .replace("-", "__dash__")
        .replace("/", "__slash__")
    )
