"""The schema of a custom kind as types that the checker of CEL understands; pure.

Objects become protobuf messages, because those are the only types whose fields the checker knows by name.
A list of lists has no place in a message: there the inner type is `dyn`, and what is wrong inside is told
when the rule is asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..schema import EMBEDDED

if TYPE_CHECKING:
    # Imported by whoever makes a message: a cluster whose kinds are all known starts without protobuf.
    from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto

Schema = dict[str, Any]
Config = dict[str, Any]
INT_OR_STRING = "x-kubernetes-int-or-string"
PACKAGE = "paddlecloud.self"
SCALARS = {"int": "INT64", "double": "DOUBLE", "bool": "BOOL", "string": "STRING", "bytes": "BYTES"}
MESSAGES = {
    "timestamp": ".google.protobuf.Timestamp",
    "duration": ".google.protobuf.Duration",
    "dyn": ".google.protobuf.Value",
}
SIMPLE = {"integer": "int", "number": "double", "boolean": "bool"}
MEANINGS = {"byte": "bytes", "duration": "duration", "date": "timestamp", "date-time": "timestamp"}
IDENTIFIER = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
RESERVED = frozenset((
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
    "import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
))  # fmt: skip
TEXT: Schema = {"type": "string"}
# What a rule sees of an object beside its own fields.
IDENTITY: Schema = {
    "apiVersion": TEXT,
    "kind": TEXT,
    "metadata": {"type": "object", "properties": {"name": TEXT, "generateName": TEXT}},
}


@dataclass
class Typed:
    """A schema as a type: what `self` is declared to be, and the messages that the declaration names."""

    type: Config = field(default_factory=dict)
    messages: list[DescriptorProto] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """What a message is called before authors: where its value stands below `self`."""

    def files(self) -> list[bytes]:
        from google.protobuf import descriptor_pb2, duration_pb2, struct_pb2, timestamp_pb2

        imports = [m.DESCRIPTOR for m in (struct_pb2, timestamp_pb2, duration_pb2)]
        made = descriptor_pb2.FileDescriptorProto(name="self.proto", package=PACKAGE, syntax="proto2")
        made.dependency.extend(file.name for file in imports)
        made.message_type.extend(self.messages)
        return [*(file.serialized_pb for file in imports), made.SerializeToString()]


def typed(schema: Schema, *, root: bool) -> Typed | None:
    """None for a value that no rule can be about, because nobody says what it is."""
    made = Typed()
    found = declared(schema, made, "self", root=root)
    if found is None:
        return None
    made.type = found
    return made


def declared(schema: Schema, into: Typed, where: str, *, root: bool = False) -> Config | None:
    if schema.get(INT_OR_STRING):
        return {"type_name": "dyn"}
    kind, items, rest = schema.get("type"), schema.get("items"), schema.get("additionalProperties")
    if kind == "string":
        return {"type_name": MEANINGS.get(schema.get("format") or "", "string")}
    if kind == "array":
        inner = declared(items, into, f"{where}.@idx") if isinstance(items, dict) else None
        return {"type_name": "list", "params": [inner]} if inner else None
    if kind == "object" and isinstance(rest, dict):
        inner = declared(rest, into, f"{where}.@elem")
        return {"type_name": "map", "params": [{"type_name": "string"}, inner]} if inner else None
    if kind == "object":
        return {"type_name": message(schema, into, where, root=root)}
    return {"type_name": SIMPLE[kind]} if kind in SIMPLE else None


def message(schema: Schema, into: Typed, where: str, *, root: bool) -> str:
    from google.protobuf.descriptor_pb2 import DescriptorProto

    made = DescriptorProto(name=f"Object{len(into.messages)}")
    made.options.deprecated_legacy_json_field_conflicts = True
    into.messages.append(made)
    into.names[f"{PACKAGE}.{made.name}"] = where
    for name, inner in fields_of(schema, root=root).items():
        identifier = escaped(name)
        found = declared(inner, into, f"{where}.{identifier}")
        if found is not None and identifier:
            add(made, identifier, found)
    return f"{PACKAGE}.{made.name}"


def add(to: DescriptorProto, name: str, kind: Config) -> None:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Proto

    made = to.field.add(name=name, number=len(to.field) + 1, label=Proto.LABEL_OPTIONAL)
    if kind["type_name"] == "list":
        made.label = Proto.LABEL_REPEATED
        set_type(made, kind["params"][0])
        return
    if kind["type_name"] != "map":
        set_type(made, kind)
        return
    made.label = Proto.LABEL_REPEATED
    # The one name that protobuf allows for the entries of a map.
    entry = "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Entry"
    made.type, made.type_name = Proto.TYPE_MESSAGE, f".{PACKAGE}.{to.name}.{entry}"
    if any(known.name == entry for known in to.nested_type):
        made.label, made.type_name = Proto.LABEL_OPTIONAL, ".google.protobuf.Struct"
        return
    pair = to.nested_type.add(name=entry)
    pair.options.map_entry = True
    pair.field.add(name="key", number=1, label=Proto.LABEL_OPTIONAL, type=Proto.TYPE_STRING)
    set_type(pair.field.add(name="value", number=2, label=Proto.LABEL_OPTIONAL), kind["params"][1])


def set_type(made: FieldDescriptorProto, kind: Config) -> None:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Proto

    name = kind["type_name"]
    if name in SCALARS:
        made.type = Proto.Type.Value(f"TYPE_{SCALARS[name]}")
        return
    made.type = Proto.TYPE_MESSAGE
    nested = name in ("list", "map")
    made.type_name = MESSAGES["dyn"] if nested else MESSAGES.get(name, f".{name}")


def fields_of(schema: Schema, *, root: bool) -> Schema:
    """The fields a rule can name, by the names they have in the object."""
    properties: Schema = schema.get("properties") or {}
    return {**properties, **IDENTITY} if root or schema.get(EMBEDDED) else properties


def escaped(name: str) -> str:
    """A field as an identifier of CEL; empty for a name that cannot be one."""
    if name in RESERVED:
        return f"__{name}__"
    for text, word in (("__", "underscores"), (".", "dot"), ("-", "dash"), ("/", "slash")):
        name = name.replace(text, f"__{word}__")
    return name if IDENTIFIER.fullmatch(name) else ""
