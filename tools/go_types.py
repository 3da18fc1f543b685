"""Reads the Go structs of the Kubernetes API: what a field is called on the wire, and when it is written.

A field is `name type flags number`: the JSON name, the Go type with its packages shortened to two words
(`core/v1.Pod`), `o` for omitempty and `i` for inline, and the number of the protobuf field (0: none).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

IMPORT = re.compile(r'^(?:import )?\s*(\w+)?\s*"([\w./-]+)"$', re.M)
STRUCT = re.compile(r"^type (\w+) struct\s*\{(\}|\n.*?^\})", re.M | re.S)
NAMED = re.compile(r"^type (\w+) (?!struct\b|interface\b)=?\s*([\w.\[\]*]+)$", re.M)
FIELD = re.compile(r"^\t(?:(\w+)[ \t]+)?([\w.\[\]*]+)[ \t]+`(.*)`", re.M)
# The marker may stand anywhere in the comment right above the type.
CHOICE = re.compile(r"^((?://.*\n)+)type (\w+) string$", re.M)
# `Name Type = "value"`, `Name = Type("value")` and `Name = Type(other.Name)`.
VALUE = re.compile(r'^(?:\t|const )(\w+)[ \t]+(\w+)[ \t]*=[ \t]*("[^"]*")', re.M)
CONVERTED = re.compile(r'^(?:\t|const )(\w+)[ \t]*=[ \t]*(\w+)\(("[^"]*"|\w+\.\w+)\)', re.M)
AROUND = re.compile(r"^\*?(\[\]|map\[.*\]|)\*?(.*)$")
NAME = re.compile(r"[A-Za-z_][\w]*(?:\.\w+)?")
SCALARS = frozenset(
    ("string", "bool", "byte", "int", "int32", "int64", "uint32", "float32", "float64", "map", "any")
)


@dataclass
class GoTypes:
    """All structs and named types that were read, by their shortened names."""

    structs: dict[str, list[str]] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    """The constants of the types that are marked as enums: texts in quotes, or the names of others."""
    constants: dict[str, str] = field(default_factory=dict)

    def read(self, package: str, folder: Path) -> None:
        """All sources of one package, whose import path is *package*."""
        for source in sorted(folder.glob("*.go")):
            if not source.name.startswith("zz_") and not source.name.endswith(("_test.go", ".pb.go")):
                self._read(short(package), source.read_text())

    def _read(self, package: str, text: str) -> None:
        imported = {alias or path.rsplit("/", 1)[-1]: short(path) for alias, path in IMPORT.findall(text)}
        for name, underlying in NAMED.findall(text):
            self.named[f"{package}.{name}"] = qualified(underlying, package, imported)
        for name, body in STRUCT.findall(text):
            self.structs[f"{package}.{name}"] = list(fields(body, package, imported))
        for comment, name in CHOICE.findall(text):
            if re.search(r"^// *\+enum$", comment, re.M):
                self.choices.setdefault(f"{package}.{name}", [])
        for name, kind, value in (*VALUE.findall(text), *CONVERTED.findall(text)):
            known = value if value.startswith('"') else qualified(value, package, imported)
            self.constants[f"{package}.{name}"] = known
            self.choices.get(f"{package}.{kind}", []).append(known)

    def chosen(self, struct: str) -> Iterator[tuple[str, str, list[str]]]:
        """The fields whose values are told: name, what is around them (`[]`, `map[…]`), the values."""
        for line in self.structs.get(struct, ()):
            name, go_type, flags, _ = line.split(" ")
            [(around, kind)] = AROUND.findall(go_type)
            if "i" in flags:
                yield from self.chosen(kind)
            elif values := self.choices.get(kind):
                yield name, around, sorted(self._text(value) for value in values)

    def _text(self, value: str) -> str:
        while not value.startswith('"'):
            value = self.constants[value]
        return value.strip('"')

    def closure(self, roots: list[str]) -> tuple[dict[str, list[str]], dict[str, str]]:
        """The structs and named types that the roots are made of, roots included."""
        found: dict[str, list[str]] = {}
        named: dict[str, str] = {}
        waiting = list(roots)
        while waiting:
            name = waiting.pop()
            if name in self.named and name not in named:
                named[name] = self.named[name]
                waiting += names_in(self.named[name])
            if name in self.structs and name not in found:
                found[name] = self.structs[name]
                for line in found[name]:
                    waiting += names_in(line.split()[1])
        return dict(sorted(found.items())), dict(sorted(named.items()))


def short(path: str) -> str:
    return "/".join(path.split("/")[-2:])


def names_in(expression: str) -> list[str]:
    return re.findall(r"[\w-]+/[\w-]+\.\w+", expression)


def qualified(expression: str, package: str, imported: dict[str, str]) -> str:
    def one(match: re.Match[str]) -> str:
        alias, _, name = match[0].rpartition(".")
        if not alias:
            return name if name in SCALARS else f"{package}.{name}"
        return f"{imported.get(alias, alias)}.{name}"

    return NAME.sub(one, expression)


def fields(body: str, package: str, imported: dict[str, str]) -> Iterator[str]:
    for _, go_type, tags in FIELD.findall(body):
        json = re.search(r'json:"([^"]*)"', tags)
        if not json or json[1] == "-":
            continue
        name, *options = json[1].split(",")
        number = re.search(r'protobuf:"\w+,(\d+)', tags)
        inline = "inline" in options or not name
        flags = ("i" if inline else "") + ("o" if "omitempty" in options else "") or "-"
        yield f"{name or '-'} {qualified(go_type, package, imported)} {flags} {number[1] if number else 0}"
