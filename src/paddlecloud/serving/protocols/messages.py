"""Protobuf messages from a table of fields: no generated code, no compiler, one page to read.

    {"Message": "name 1 string, shape 3 int64*, input 5 .Other*"}        a star repeats, a dot is a message

Fields that a table leaves out are kept by protobuf as unknown ones, and do no harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

KINDS = {
    "double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "bool": 8, "string": 9,
    "bytes": 12, "uint32": 13,
}  # fmt: skip
OPTIONAL, REPEATED, MESSAGE = 1, 3, 11


def messages(package: str, table: Mapping[str, str], syntax: str = "proto3") -> dict[str, Any]:
    """The classes of the table's messages, in a pool of their own."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax=syntax)
    for name, fields in table.items():
        message = file.message_type.add(name=name)
        for text in filter(None, (part.strip() for part in fields.split(","))):
            field, number, kind = text.split()
            repeated, kind = kind.endswith("*"), kind.rstrip("*")
            added = message.field.add(name=field, number=int(number))
            added.label = REPEATED if repeated else OPTIONAL  # type: ignore[assignment,unused-ignore]
            if kind.startswith("."):
                added.type, added.type_name = MESSAGE, f".{package}{kind}"  # type: ignore[assignment,unused-ignore]
            else:
                added.type = KINDS[kind]  # type: ignore[assignment,unused-ignore]
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # type: ignore[no-untyped-call,unused-ignore]
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in table
    }
