"""Built-in objects as Go's types read and write them: what fits, what is left out, what is always there.

A real server reads every object into a struct and writes the struct out again. That decides which fields
are unknown, which zeros vanish (`omitempty`), which appear though nobody wrote them, and in which words a
value of the wrong type is refused. Here the structs are facts, compiled once into functions on JSON.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from . import scalars
from .book import book
from .scalars import Mismatch

Convert = Callable[[Any, list[str]], Any]
"""From a value to the value as it is stored; the names of unknown fields go to the list."""


class Field(NamedTuple):
    name: str
    go_type: str
    pointer: bool
    omit: bool
    inline: bool
    number: int
    """Of the protobuf field; 0 where there is none."""


class Handling(NamedTuple):
    """A type: how a value is read, and what stands where there is none."""

    convert: Convert
    zero: Callable[[], Any]
    struct: bool = False
    """Go's omitempty does not know when a struct is empty: it is always written."""


def nothing() -> None:
    return None


@functools.cache
def fields_of(struct: str) -> tuple[Field, ...]:
    found = []
    for line in filter(None, book()["structs"][struct].split("\n")):
        name, go_type, flags, number = line.split(" ")
        plain = go_type.removeprefix("*")
        found.append(Field(name, plain, plain != go_type, "o" in flags, "i" in flags, int(number)))
    return tuple(found)


def flattened(struct: str) -> list[Field]:
    """The fields as JSON has them: those of inlined structs are the outer one's own."""
    found = []
    for field in fields_of(struct):
        if not field.inline:
            found.append(field)
        else:
            # Nothing of an inlined pointer is written while it is nil.
            found += [f._replace(omit=f.omit or field.pointer) for f in flattened(field.go_type)]
    return found


def shown(go_type: str) -> str:
    """A type as Go's own messages write it: v1.PodSpec, []uint8."""
    head, slash, tail = go_type.rpartition("/")
    if not slash:
        return go_type.replace("[]byte", "[]uint8")
    for opening in ("]", "["):
        if opening in head:
            return f"{shown(head[: head.rindex(opening)])}{opening}{tail}"
    return tail


@functools.cache
def handling(go_type: str) -> Handling:
    if special := SPECIAL.get(go_type):
        return special
    if go_type == "[]byte":
        return Handling(lambda value, _: scalars.binary(value), nothing)
    if go_type.startswith("[]"):
        return Handling(a_list(go_type, go_type), nothing)
    if go_type.startswith("map["):
        return Handling(a_map(go_type, go_type), nothing)
    named: Mapping[str, str] = book()["named"]
    if go_type in named:
        return alias(go_type, named[go_type])
    return Handling(a_struct(go_type), zero_of(go_type), struct=True)


def alias(name: str, underlying: str) -> Handling:
    if underlying == "string":
        return Handling(a_scalar(str, shown(name)), str)
    if underlying.startswith("[]"):
        return Handling(a_list(name, underlying), nothing)
    if underlying.startswith("map["):
        return Handling(a_map(name, underlying), nothing)
    return handling(underlying)


def zero_of(struct: str) -> Callable[[], Any]:
    return lambda: handling(struct).convert({}, [])


def a_scalar(kind: type, go_type: str) -> Convert:
    def convert(value: Any, _: list[str]) -> Any:
        if type(value) is not kind:
            raise Mismatch(value, go_type)
        return value

    return convert


def a_list(name: str, underlying: str) -> Convert:
    item = underlying[2:].removeprefix("*")

    def convert(value: Any, unknown: list[str]) -> Any:
        if type(value) is not list:
            raise Mismatch(value, shown(name))
        one, zero, _ = handling(item)
        made = []
        for index, inner in enumerate(value):
            before = len(unknown)
            made.append(zero() if inner is None else one(inner, unknown))
            for i in range(before, len(unknown)):
                unknown[i] = f"[{index}]{'' if unknown[i].startswith('[') else '.'}{unknown[i]}"
        return made

    return convert


def a_map(name: str, underlying: str) -> Convert:
    inner_type = underlying[underlying.index("]") + 1 :].removeprefix("*")

    def convert(value: Any, unknown: list[str]) -> Any:
        if type(value) is not dict:
            raise Mismatch(value, shown(name))
        one, zero, _ = handling(inner_type)
        made = {}
        for key, inner in value.items():
            before = len(unknown)
            made[key] = zero() if inner is None else one(inner, unknown)
            for i in range(before, len(unknown)):
                unknown[i] = joined(key, unknown[i])
        return made

    return convert


def joined(key: str, rest: str) -> str:
    return f"{key}{rest}" if rest.startswith("[") else f"{key}.{rest}"


def a_struct(name: str) -> Convert:
    """The fields are looked up when first needed: types may contain themselves."""

    @functools.cache
    def compiled() -> tuple[dict[str, tuple[Convert, bool]], tuple[tuple[str, Callable[[], Any]], ...]]:
        fields, always = {}, []
        for field in flattened(name):
            how = handling(field.go_type)
            kept = field.pointer or how.struct or not field.omit
            fields[field.name] = (how.convert, kept)
            if not field.pointer and (how.struct or not field.omit):
                always.append((field.name, how.zero))
        return fields, tuple(always)

    short = name.rpartition(".")[2]

    def convert(value: Any, unknown: list[str]) -> Any:
        if type(value) is not dict:
            raise Mismatch(value, shown(name))
        fields, always = compiled()
        made = {}
        key = ""
        try:
            for key, inner in value.items():
                known = fields.get(key)
                if known is None:
                    unknown.append(key)
                elif inner is not None:
                    before = len(unknown)
                    converted = known[0](inner, unknown)
                    if len(unknown) != before:
                        unknown[before:] = [joined(key, rest) for rest in unknown[before:]]
                    if converted or known[1]:
                        made[key] = converted
        except Mismatch as error:
            error.struct = error.struct or short
            error.path.append(key)
            raise
        for key, zero in always:
            if key not in made:
                made[key] = zero()
        return made

    return convert


def raw(value: Any, _: list[str]) -> Any:
    return value


def schema_or(other: type) -> Convert:
    """A schema, or in its place a list of schemas, a list of texts, a truth value."""

    def convert(value: Any, unknown: list[str]) -> Any:
        schema = handling("apiextensions/v1.JSONSchemaProps").convert
        if isinstance(value, dict):
            return schema(value, unknown)
        if isinstance(value, list) and other is list:
            return [schema(v, unknown) if isinstance(v, dict) else v for v in value]
        return value

    return convert


def any_number(value: Any, _: list[str]) -> Any:
    if type(value) not in (int, float):
        raise Mismatch(value, "float64")
    return value


def an_integer(go_type: str) -> Convert:
    bound = scalars.BOUNDS[go_type]

    def convert(value: Any, _: list[str]) -> Any:
        if type(value) is not int or not -bound <= value < bound:
            raise Mismatch(value, go_type)
        return value

    return convert


SPECIAL: dict[str, Handling] = {
    "string": Handling(a_scalar(str, "string"), str),
    "bool": Handling(a_scalar(bool, "bool"), bool),
    "int": Handling(an_integer("int"), int),
    "int32": Handling(an_integer("int32"), int),
    "int64": Handling(an_integer("int64"), int),
    "float64": Handling(any_number, int),
    "api/resource.Quantity": Handling(lambda v, _: scalars.quantity(v), lambda: "0", struct=True),
    "util/intstr.IntOrString": Handling(lambda v, _: scalars.int_or_string(v), int, struct=True),
    "meta/v1.Time": Handling(lambda v, _: scalars.time(v), nothing, struct=True),
    "meta/v1.MicroTime": Handling(lambda v, _: scalars.micro_time(v), nothing, struct=True),
    "meta/v1.Duration": Handling(a_scalar(str, "string"), lambda: "0s", struct=True),
    "meta/v1.FieldsV1": Handling(raw, nothing, struct=True),
    "pkg/runtime.RawExtension": Handling(raw, nothing, struct=True),
    "apiextensions/v1.JSON": Handling(raw, nothing, struct=True),
    "apiextensions/v1.JSONSchemaPropsOrArray": Handling(schema_or(list), nothing, struct=True),
    "apiextensions/v1.JSONSchemaPropsOrBool": Handling(schema_or(bool), nothing, struct=True),
    "apiextensions/v1.JSONSchemaPropsOrStringArray": Handling(schema_or(list), nothing, struct=True),
}
