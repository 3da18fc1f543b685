"""YAML as the JSON it stands for, read in one pass over what the parser sees; pure.

No text of a few lines becomes gigabytes: a part that is repeated counts each time, and all of them together
may not be larger than a body may be. No text is followed deeper than any object goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import yaml

from . import yamlscalars

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DEEPEST = 1000
LARGEST = 3 * 1024 * 1024  # what is repeated makes a body larger than it came
MERGE = "<<"


def yaml_object(content: bytes, repeated: list[str] | None = None) -> Any:
    """The first document; the paths of fields that it says more than once are added to *repeated*.

    Raises `ValueError` or `TypeError` for what JSON cannot say, `YAMLError` for no YAML.
    """
    reader = Reader(repeated if repeated is not None else [])
    for event in yaml.parse(content, LOADER):
        if isinstance(event, yaml.DocumentEndEvent):
            break
        reader.read(event)
    return reader.document


@dataclass
class Part:
    """A list or a map that is being read."""

    value: list[Any] | dict[str, Any]
    anchor: str | None
    begun: int
    """How much had been read when it began."""
    key: str | None = None
    merges: bool = False
    """The key is the one that stands for another map's fields."""
    said: set[str] = field(default_factory=set)


@dataclass
class Reader:
    repeated: list[str]
    document: Any = None
    _parts: list[Part] = field(default_factory=list)
    _anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)
    _size: int = 0

    def read(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                value = self._scalar(event)
                self._size += len(event.value) + 1
                self._remember(event.anchor, value, len(event.value) + 1)
                self._place(value, merges=value == MERGE and event.implicit[0])
            case yaml.MappingStartEvent():
                self._open({}, event.anchor)
            case yaml.SequenceStartEvent():
                self._open([], event.anchor)
            case yaml.CollectionEndEvent():
                part = self._parts.pop()
                self._remember(part.anchor, part.value, self._size - part.begun)
                self._place(part.value)
            case yaml.AliasEvent():
                self._place(self._repeat(event.anchor or ""))

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        if event.tag and event.tag != "!":
            return yamlscalars.tagged(event.tag, event.value)
        return yamlscalars.plain(event.value) if event.implicit[0] else event.value

    def _open(self, value: list[Any] | dict[str, Any], anchor: str | None) -> None:
        if len(self._parts) >= DEEPEST:
            raise ValueError(f"exceeded max depth of {DEEPEST}")
        self._parts.append(Part(value, anchor, self._size))
        self._size += 2

    def _remember(self, anchor: str | None, value: Any, size: int) -> None:
        if anchor:
            self._anchors[anchor] = (value, size)

    def _repeat(self, anchor: str) -> Any:
        if any(part.anchor == anchor for part in self._parts):
            raise ValueError(f"anchor '{anchor}' value contains itself")
        if anchor not in self._anchors:
            raise ValueError(f"unknown anchor '{anchor}' referenced")
        value, size = self._anchors[anchor]
        self._size += size
        if self._size > LARGEST:
            raise ValueError("document contains excessive aliasing")
        # A copy: what is said twice can be changed in one place.
        return orjson.loads(orjson.dumps(value)) if isinstance(value, list | dict) else value

    def _place(self, value: Any, *, merges: bool = False) -> None:
        if not self._parts:
            self.document = value
            return
        part = self._parts[-1]
        if isinstance(part.value, list):
            part.value.append(value)
        elif part.key is None:
            if isinstance(value, list | dict):
                raise ValueError("invalid map key: a list or a map")
            part.key, part.merges = yamlscalars.key(value), merges
        else:
            self._set(part, part.value, value)
            part.key = None

    def _set(self, part: Part, fields: dict[str, Any], value: Any) -> None:
        name = part.key or ""
        if part.merges:
            for other in merged(value):
                fields.update(other)
            return
        if name in part.said:
            self.repeated.append(self._path(name))
        part.said.add(name)
        fields[name] = value

    def _path(self, name: str) -> str:
        path = ""
        for part in self._parts[:-1]:
            path += f"[{len(part.value)}]" if isinstance(part.value, list) else f".{part.key}"
        return f"{path}.{name}".lstrip(".")


def merged(value: Any) -> Iterator[dict[str, Any]]:
    """The maps whose fields are taken over, the strongest last."""
    for other in reversed(value) if isinstance(value, list) else [value]:
        if not isinstance(other, dict):
            raise ValueError("map merge requires map or sequence of maps as the value")
        yield other
