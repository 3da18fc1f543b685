"""Whether the rules of a schema can be asked at all, told when the definition is made; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from . import cel
from .celrules import IDENTITY, REASONS, escaped
from .complaints import invalid, required, unsupported
from .schema import EMBEDDED, Violation
from .structural import RULES

Schema = dict[str, Any]
COMPARING = ("&&", "||", "==", "!=", "<", "<=", ">", ">=", "in")
ANSWERS = frozenset((
    "has", "all", "exists", "exists_one", "startsWith", "endsWith", "contains", "matches", "isSorted",
    "isURL", "isIP", "isCIDR", "isQuantity", "isInteger", "isGreaterThan", "isLessThan", "containsIP",
    "containsCIDR", "isUnspecified", "isLoopback", "isGlobalUnicast", "isLinkLocalUnicast",
    "isLinkLocalMulticast", "hasValue", "bool", "equivalent", "intersects", "isCanonical", "dyn", "value",
    "orValue",
))  # fmt: skip


@dataclass(frozen=True)
class Spot:
    path: str
    root: bool = False
    uncorrelated: str = ""
    """The list above whose items of today cannot be matched with those of yesterday."""


def rule_problems(schema: Schema, path: str) -> Iterator[Violation]:
    yield from below(schema, Spot(path, root=True))


def below(schema: Schema, spot: Spot) -> Iterator[Violation]:
    for i, rule in enumerate(schema.get(RULES) or ()):
        yield from check(rule, schema, replace(spot, path=f"{spot.path}.{RULES}[{i}]"))
    for name, inner in (schema.get("properties") or {}).items():
        yield from below(inner, Spot(f"{spot.path}.properties[{name}]", uncorrelated=spot.uncorrelated))
    if isinstance(rest := schema.get("additionalProperties"), dict):
        yield from below(rest, Spot(f"{spot.path}.additionalProperties", uncorrelated=spot.uncorrelated))
    if isinstance(items := schema.get("items"), dict):
        keyed = schema.get("x-kubernetes-list-type") == "map"
        lost = spot.uncorrelated or ("" if keyed else spot.path)
        yield from below(items, Spot(f"{spot.path}.items", uncorrelated=lost))


def check(rule: dict[str, Any], schema: Schema, spot: Spot) -> Iterator[Violation]:
    path, source = spot.path, rule.get("rule") or ""
    if not source.strip():
        yield required(f"{path}.rule", "rule is not specified")
        return
    message = rule.get("message")
    if message is not None and message != "" and not message.strip():
        yield invalid(f"{path}.message", message, "message must be non-empty if specified")
    elif message and "\n" in message:
        yield invalid(f"{path}.message", message, "message must not contain line breaks")
    if rule.get("reason") and rule["reason"] not in REASONS:
        yield unsupported(f"{path}.reason", rule["reason"], tuple(sorted(REASONS)))
    if rule.get("fieldPath") and not names_a_field(rule["fieldPath"], schema):
        yield invalid(f"{path}.fieldPath", rule["fieldPath"], "fieldPath must be a valid path")
    try:
        program = understood(source, schema, root=spot.root)
    except cel.CelError as error:
        yield wrong(f"{path}.rule", rule, f"compilation failed: {error}")
        return
    if not may_be_bool(program.tokens, schema):
        yield wrong(f"{path}.rule", rule, "cel expression must evaluate to a bool")
    if rule.get("optionalOldSelf") is not None and not program.uses_old:
        message = "may not be set if oldSelf is not used in rule"
        yield invalid(f"{path}.optionalOldSelf", rule["optionalOldSelf"], message)
    if program.uses_old and spot.uncorrelated:
        message = (
            f"oldSelf cannot be used on the uncorrelatable portion of the schema within {spot.uncorrelated}"
        )
        yield invalid(f"{path}.rule", source, message)
    if expression := rule.get("messageExpression"):
        try:
            understood(expression, schema, root=spot.root)
        except cel.CelError as error:
            yield wrong(f"{path}.messageExpression", rule, f"messageExpression compilation failed: {error}")


def wrong(field: str, rule: dict[str, Any], message: str) -> Violation:
    reason = f"(*apiextensions.FieldValueErrorReason)({'nil' if not rule.get('reason') else '0x0'})"
    old = f"(*bool)({'nil' if rule.get('optionalOldSelf') is None else '0x0'})"
    texts = [rule.get(k) or "" for k in ("rule", "message", "messageExpression", "fieldPath")]
    shown = [f'"{t}"' for t in texts]
    value = (
        f"apiextensions.ValidationRule{{Rule:{shown[0]}, Message:{shown[1]}, MessageExpression:{shown[2]}, "
        f"Reason:{reason}, FieldPath:{shown[3]}, OptionalOldSelf:{old}}}"
    )
    return Violation(field, "FieldValueInvalid", f"Invalid value: {value}: {message}")


def understood(source: str, schema: Schema, *, root: bool) -> cel.Program:
    """The program, after a look at the fields it names; raises `CelError`."""
    program = cel.compiled(source)
    if problems := list(undefined(program, schema, root=root)):
        raise cel.CelError("\n".join(problems))
    return program


def undefined(program: cel.Program, schema: Schema, *, root: bool) -> Iterator[str]:
    """Fields after `self` and `oldSelf` that the schema does not have."""
    tokens, bound = program.tokens, set(cel.bound_names(program.tokens))
    for i, token in enumerate(tokens):
        if token.text not in ("self", "oldSelf") or token.text in bound or (i and tokens[i - 1].text == "."):
            continue
        inner: Schema | None = schema
        at_root, at = root, i + 1
        while inner is not None and at + 1 < len(tokens) and tokens[at].text == ".":
            name = tokens[at + 1].text
            if at + 2 < len(tokens) and tokens[at + 2].text == "(":
                break  # a function of the value
            found = field_of(inner, name, root=at_root)
            if found is None and closed(inner):
                inside_has = i >= 2 and tokens[i - 2].text == "has"
                where = tokens[i - 1].at if inside_has else tokens[at].at
                yield cel.located(program.source, where, f"undefined field '{name}'")
                break
            inner, at_root, at = found, False, at + 2


def field_of(schema: Schema, name: str, *, root: bool) -> Schema | None:
    properties = schema.get("properties") or {}
    if root or schema.get(EMBEDDED):
        properties = {**properties, **IDENTITY}
    for key, inner in properties.items():
        if escaped(key) == name:
            found: Schema = inner
            return found
    rest = schema.get("additionalProperties")
    return rest if isinstance(rest, dict) else None


def closed(schema: Schema) -> bool:
    """Whether the schema tells all fields a rule can see."""
    return schema.get("type") == "object" and not isinstance(schema.get("additionalProperties"), dict)


def names_a_field(path: str, schema: Schema) -> bool:
    if not path.startswith("."):
        return False
    inner: Schema | None = schema
    for name in path[1:].split("."):
        name, _, index = name.partition("[")
        inner = (inner or {}).get("properties", {}).get(name)
        if inner is None:
            return False
        if index:
            inner = inner.get("additionalProperties") or inner.get("items")
    return True


def may_be_bool(tokens: tuple[cel.Token, ...], schema: Schema) -> bool:
    """Whether the outermost operation of an expression answers yes or no, as far as its text tells."""
    while len(tokens) > 1 and tokens[0].text == "(" and closing(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    depth, texts = 0, []
    for token in tokens:
        depth -= token.text in (")", "]", "}")
        if depth == 0:
            texts.append(token.text)
        depth += token.text in ("(", "[", "{")
    if "?" in texts:
        at = max(i for i, token in enumerate(tokens) if token.text == ":")
        return may_be_bool(tokens[at + 1 :], schema)
    if any(t in COMPARING for t in texts) or texts[0] in ("!", "true", "false"):
        return True
    if any(t in ("+", "-", "*", "/", "%") for t in texts):
        return False
    if tokens[-1].text == ")":
        opening = next(i for i in range(len(tokens)) if closing(tokens, i) == len(tokens) - 1)
        return opening > 0 and tokens[opening - 1].text in ANSWERS
    if tokens[0].kind in ("number", "text") and len(tokens) == 1:
        return False
    return field_may_be_bool(tokens, schema)


def field_may_be_bool(tokens: tuple[cel.Token, ...], schema: Schema) -> bool:
    inner: Schema | None = schema
    for token in tokens[1:]:
        if token.text != ".":
            inner = field_of(inner or {}, token.text, root=False)
    return inner is None or inner.get("type") in (None, "boolean")


def closing(tokens: tuple[cel.Token, ...], opening: int) -> int:
    """The place of the bracket that closes the one at *opening*; -1 where there is none."""
    if tokens[opening].text != "(":
        return -1
    depth = 0
    for i in range(opening, len(tokens)):
        depth += (tokens[i].text in ("(", "[", "{")) - (tokens[i].text in (")", "]", "}"))
        if depth == 0:
            return i
    return -1
