"""Request bodies in protobuf, as kubectl's subcommands, helm and Go's typed clients send them, made JSON.

An envelope names the kind, the message inside follows the descriptors of the facts. The wire cannot tell a
zero that was written from one that nobody meant: a field counts as unset when it is zero and Go keeps the
value itself and not a pointer. The library is loaded with the first such body and not before.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from ...errors import BadRequest, UnsupportedMedia
from .facts.book import book, content
from .facts.structs import Field, fields_of

if TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import Message

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
DESCRIPTORS = "kubernetes-1.33.protoset.gz"
ENVELOPE = "k8s.io.apimachinery.pkg.runtime.Unknown"
# Sent with every group; they are of none.
OPTIONS = ("DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions")
Body = dict[str, Any]


def decoded(body: bytes) -> Body:
    """The object in the body; raises `BadRequest` where there is none, `UnsupportedMedia` for other kinds."""
    if not body.startswith(MAGIC):
        raise BadRequest(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        )
    envelope: Any = parsed(ENVELOPE, body[len(MAGIC) :])
    api_version, kind = envelope.typeMeta.apiVersion, envelope.typeMeta.kind
    group, _, version = api_version.rpartition("/")
    package = "meta/v1" if kind in OPTIONS else f"{(group or 'core').split('.')[0]}/{version}"
    name = message_names().get(f"{package}.{kind}")
    if name is None or f"{package}.{kind}" not in book()["structs"]:
        raise UnsupportedMedia(f"{api_version}, Kind={kind} cannot be read from protobuf")
    made = as_json(parsed(name, envelope.raw), f"{package}.{kind}")
    return {"apiVersion": api_version, "kind": kind, **made}


@functools.cache
def pool() -> DescriptorPool:
    from google.protobuf import descriptor_pb2, descriptor_pool

    made = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(content(DESCRIPTORS)).file:
        made.Add(file)
    return made


@functools.cache
def message_names() -> Mapping[str, str]:
    """From a Go type, `core/v1.Pod`, to the full name of its message."""
    from google.protobuf import descriptor_pb2

    found: dict[str, str] = {}
    for file in descriptor_pb2.FileDescriptorSet.FromString(content(DESCRIPTORS)).file:
        package = "/".join(file.name.split("/")[-3:-1])
        found |= {f"{package}.{m.name}": f"{file.package}.{m.name}" for m in file.message_type}
    return found


@functools.cache
def message_class(name: str) -> type[Message]:
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(pool().FindMessageTypeByName(name))


def parsed(name: str, content: bytes) -> Message:
    from google.protobuf.message import DecodeError

    try:
        return message_class(name).FromString(content)
    except DecodeError as error:
        raise BadRequest(f"the body cannot be read: {error}") from error


@functools.cache
def by_number(struct: str) -> Mapping[int, Field]:
    return {field.number: field for field in fields_of(struct) if field.number}


def as_json(message: Any, struct: str) -> Body:
    made: Body = {}
    fields = by_number(struct)
    for descriptor, value in message.ListFields():
        field = fields.get(descriptor.number)
        if field is None:
            continue
        converted = converter(field.go_type)(value)
        if field.inline:
            made |= converted
        elif converted is not None and (converted or field.pointer or isinstance(converted, dict)):
            made[field.name] = converted
    return made


@functools.cache
def converter(go_type: str) -> Callable[[Any], Any]:
    if special := SPECIAL.get(go_type):
        return special
    named: Mapping[str, str] = book()["named"]
    if go_type.endswith(".ExtraValue"):
        return lambda message: list(message.items)
    if go_type in named:
        return converter(named[go_type])
    if go_type == "[]byte":
        return lambda value: base64.b64encode(value).decode()
    if go_type.startswith("[]"):
        item = converter(go_type[2:].removeprefix("*"))
        return lambda values: [item(v) for v in values]
    if go_type.startswith("map["):
        inner = converter(go_type[go_type.index("]") + 1 :].removeprefix("*"))
        return lambda values: {key: inner(values[key]) for key in values}
    if "/" in go_type:
        return lambda message: as_json(message, go_type)
    return lambda value: value


def time(message: Any) -> str | None:
    return moment(message, "%Y-%m-%dT%H:%M:%SZ")


def micro_time(message: Any) -> str | None:
    return moment(message, "%Y-%m-%dT%H:%M:%S.%fZ")


def moment(message: Any, layout: str) -> str | None:
    """None for the time that was never set, which arrives as an empty message."""
    if not message.ListFields():
        return None
    found = datetime.fromtimestamp(message.seconds, UTC).replace(microsecond=message.nanos // 1000)
    return found.strftime(layout)


def int_or_string(message: Any) -> int | str:
    return str(message.strVal) if message.type else int(message.intVal)


def raw(content: bytes) -> Any:
    try:
        return orjson.loads(content) if content else None
    except ValueError as error:
        raise BadRequest(f"the body cannot be read: {error}") from error


def schema(message: Any) -> Body:
    return as_json(message, "apiextensions/v1.JSONSchemaProps")


SPECIAL: dict[str, Callable[[Any], Any]] = {
    "api/resource.Quantity": lambda m: m.string or "0",
    "util/intstr.IntOrString": int_or_string,
    "meta/v1.Time": time,
    "meta/v1.MicroTime": micro_time,
    "meta/v1.Duration": lambda m: f"{m.duration / 1e9:g}s",
    "meta/v1.FieldsV1": lambda m: raw(m.Raw),
    "pkg/runtime.RawExtension": lambda m: raw(m.raw),
    "apiextensions/v1.JSON": lambda m: raw(m.raw),
    "apiextensions/v1.JSONSchemaPropsOrArray": lambda m: (
        schema(m.schema) if m.HasField("schema") else [schema(s) for s in m.jSONSchemas]
    ),
    "apiextensions/v1.JSONSchemaPropsOrBool": lambda m: (
        schema(m.schema) if m.HasField("schema") else m.allows
    ),
    "apiextensions/v1.JSONSchemaPropsOrStringArray": lambda m: (
        schema(m.schema) if m.HasField("schema") else list(m.property)
    ),
}
