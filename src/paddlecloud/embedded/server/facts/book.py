"""The book of facts: one compressed file, opened once, each page turned when somebody asks for it.

Schemas and structs stay texts until they are needed: most of them never are, and parsed they would be ten
times as large. What has been parsed is shared by all who ask and must not be changed.
"""

from __future__ import annotations

import functools
import gzip
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

import orjson

from ..kinds import Kind, Subresource
from ..typed import Schema, Type

FILE = "kubernetes-1.33.json.gz"
# Who serves a group is not for clients to say: there is one server.
ANSWERED = ("apiservices",)
READ = ("get", "list", "watch")
# Kinds whose objects are kept as those of another.
KEPT = {
    ("events.k8s.io", "v1", "events"): "/events",
    ("autoscaling", "v1", "horizontalpodautoscalers"): "autoscaling/horizontalpodautoscalers",
}
# Where users of a version should go instead, in the server's own words.
DEPRECATED = {
    ("", "v1", "componentstatuses"): "v1 ComponentStatus is deprecated in v1.19+",
    ("", "v1", "endpoints"): ("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
}


def content(name: str) -> bytes:
    """A file of this folder, unpacked."""
    return gzip.decompress(resources.files(__package__).joinpath(name).read_bytes())


@functools.cache
def book() -> Mapping[str, Any]:
    read: Mapping[str, Any] = orjson.loads(content(FILE))
    return read


def version() -> str:
    """Of the Kubernetes the facts are about: v1.33.13."""
    return str(book()["kubernetes"])


def digest() -> str:
    """Another one whenever a fact is another one."""
    return str(book()["digest"])


class Definitions(Mapping[str, Schema]):
    """Schemas by their OpenAPI names, parsed when first looked at."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self._parsed: dict[str, Schema] = {}

    def __getitem__(self, name: str) -> Schema:
        if (known := self._parsed.get(name)) is None:
            known = self._parsed[name] = orjson.loads(self.texts[name])
        return known

    def __contains__(self, name: object) -> bool:
        return name in self.texts

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)


@functools.cache
def definitions() -> Definitions:
    return Definitions(book()["definitions"])


@functools.cache
def kinds() -> tuple[Kind, ...]:
    """The built-in kinds, stored or only answered (`Kind.stored`)."""
    return tuple(kind_of(entry) for entry in book()["resources"])


def kind_of(entry: Mapping[str, Any]) -> Kind:
    return Kind(
        entry["group"],
        entry["version"],
        entry["kind"],
        entry["plural"],
        entry["namespaced"],
        tuple(entry["short"]),
        tuple(entry["categories"]),
        tuple(subresource(s, entry["kind"]) for s in entry["subresources"]),
        entry["singular"],
        READ if entry["plural"] in ANSWERED else tuple(entry["verbs"]),
        deprecation=DEPRECATED.get((entry["group"], entry["version"], entry["plural"]), ""),
        kept=KEPT.get((entry["group"], entry["version"], entry["plural"]), ""),
    )


def subresource(entry: Mapping[str, Any], kind: str) -> Subresource:
    name = "" if entry["kind"] == kind and not entry["group"] else entry["kind"]
    return Subresource(entry["name"], name, entry["group"], entry["version"], tuple(entry["verbs"]))


@functools.cache
def _entries() -> Mapping[tuple[str, str, str], Mapping[str, Any]]:
    return {(e["group"], e["version"], e["plural"]): e for e in book()["resources"]}


def schema_of(kind: Kind) -> Schema | None:
    """The schema of a built-in kind; None where the kind is a custom one."""
    entry = _entries().get((kind.group, kind.version, kind.plural))
    return definitions()[entry["schema"]] if entry else None


def type_of(kind: Kind) -> Type:
    """A built-in kind as merging sees it; one tree of types a kind, grown where it is used."""
    return _type(kind.group, kind.version, kind.plural)


@functools.cache
def _type(group: str, version: str, plural: str) -> Type:
    return Type(definitions()[_entries()[group, version, plural]["schema"]], definitions())


def schema_name(kind: Kind) -> str:
    """The name of a built-in kind's schema among the definitions, or an empty text."""
    entry = _entries().get((kind.group, kind.version, kind.plural))
    return str(entry["schema"]) if entry else ""


def struct_name(kind: Kind) -> str:
    """The Go type behind a built-in kind, or an empty text."""
    entry = _entries().get((kind.group, kind.version, kind.plural))
    return str(entry["type"]) if entry else ""


def names_in(group: str, version: str) -> list[str]:
    """The schemas that the document of a group and version holds."""
    found: list[str] = book()["documents"].get(f"{group}/{version}" if group else version, [])
    return found
