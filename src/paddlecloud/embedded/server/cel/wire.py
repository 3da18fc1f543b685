"""Protobuf without descriptors: the fields of a message by their numbers; pure.

For the tree of an expression, whose message types nobody else here knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Message:
    """The fields of a protobuf message by number; what is not there reads as nothing."""

    def __init__(self, data: bytes) -> None:
        self._fields: dict[int, list[Any]] = {}
        for number, value in fields(data):
            self._fields.setdefault(number, []).append(value)

    def has(self, number: int) -> bool:
        return number in self._fields

    def raw(self, number: int) -> list[Any]:
        return self._fields.get(number, [])

    def number(self, field: int) -> int:
        return int(self._fields.get(field, [0])[-1])

    def bytes(self, number: int) -> bytes:
        found: bytes = self._fields.get(number, [b""])[-1]
        return found

    def text(self, number: int) -> str:
        return self.bytes(number).decode()

    def message(self, number: int) -> Message:
        return Message(self.bytes(number))

    def all(self, number: int) -> list[Message]:
        return [Message(data) for data in self.raw(number)]

    def packed(self, number: int) -> Iterator[int]:
        for value in self.raw(number):
            if isinstance(value, int):
                yield value
                continue
            at = 0
            while at < len(value):
                one, at = varint(value, at)
                yield one


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
            yield key >> 3, value
            continue
        size = 8 if key & 7 == 1 else 4
        if key & 7 == 2:
            size, at = varint(data, at)
        yield key >> 3, data[at : at + size]
        at += size


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
