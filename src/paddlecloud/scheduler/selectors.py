"""Label selectors and node selectors: parsed once into comparable values, then asked often; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

Labels = Mapping[str, str]


class Requirement(NamedTuple):
    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: Labels) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return self._compares(value)
        return False

    def _compares(self, value: str | None) -> bool:
        try:
            have, limit = int(value or ""), int(self.values[0])
        except (ValueError, IndexError):
            return False
        return have > limit if self.operator == "Gt" else have < limit


Requirements = tuple[Requirement, ...]


def hold(requirements: Requirements, labels: Labels) -> bool:
    # A loop and not `all`: this is the innermost question of placing pods.
    for requirement in requirements:  # noqa: SIM110
        if not requirement.holds(labels):
            return False
    return True


def label_selector(selector: Mapping[str, Any] | None) -> Requirements | None:
    """The requirements of a selector; None selects nothing, an empty tuple everything."""
    if selector is None:
        return None
    pairs = (Requirement(k, "In", (v,)) for k, v in sorted((selector.get("matchLabels") or {}).items()))
    return (*pairs, *expressions(selector.get("matchExpressions")))


def expressions(found: Iterable[Mapping[str, Any]] | None) -> Iterator[Requirement]:
    for one in found or ():
        yield Requirement(one["key"], one["operator"], tuple(one.get("values") or ()))


def anchors(requirements: Requirements) -> tuple[tuple[str, str], ...]:
    """Labels of which whoever is selected has at least one; empty when there are no such labels."""
    found = [r for r in requirements if r.operator == "In"]
    if not found:
        return ()
    narrowest = min(found, key=lambda r: len(r.values))
    return tuple((narrowest.key, value) for value in narrowest.values)


class NodeTerm(NamedTuple):
    """One of the alternatives of a node selector."""

    labels: Requirements
    fields: Requirements

    def holds(self, name: str, labels: Labels) -> bool:
        if not self.labels and not self.fields:
            return False  # an empty term selects no node
        return hold(self.labels, labels) and hold(self.fields, {"metadata.name": name})


def node_terms(selector: Mapping[str, Any] | None) -> tuple[NodeTerm, ...] | None:
    """The alternatives of a node selector; None where there is none to hold."""
    if selector is None:
        return None
    return tuple(node_term(term) for term in selector.get("nodeSelectorTerms") or ())


def node_term(term: Mapping[str, Any]) -> NodeTerm:
    return NodeTerm(
        tuple(expressions(term.get("matchExpressions"))), tuple(expressions(term.get("matchFields")))
    )


def names_asked(terms: tuple[NodeTerm, ...]) -> frozenset[str] | None:
    """The nodes that every alternative names; None when some alternative names none."""
    names: set[str] = set()
    for term in terms:
        asked = [set(r.values) for r in term.fields if r.key == "metadata.name" and r.operator == "In"]
        if not asked:
            return None
        names |= set.intersection(*asked)
    return frozenset(names) if terms else None
