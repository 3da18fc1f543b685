"""Pod affinity as values: which pods a term speaks of, and over which label of nodes it looks; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .selectors import Labels, Requirements, anchors, hold, label_selector

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class Crowd(NamedTuple):
    """The pods a term speaks of."""

    namespaces: frozenset[str]
    namespace_labels: Requirements | None
    """Namespaces with these labels too; None: no others."""
    labels: Requirements | None

    def holds(self, namespace: str, labels: Labels, namespaces: Mapping[str, Labels]) -> bool:
        if self.labels is None or not hold(self.labels, labels):
            return False
        if namespace in self.namespaces:
            return True
        return self.namespace_labels is not None and hold(
            self.namespace_labels, namespaces.get(namespace, {})
        )


class Term(NamedTuple):
    """Pods that are in every one of *crowds*, counted over the nodes with the same value of *topology*."""

    crowds: tuple[Crowd, ...]
    topology: str

    def anchors(self) -> tuple[tuple[str, str], ...]:
        return anchors(self.crowds[0].labels or ())

    def holds(self, namespace: str, labels: Labels, namespaces: Mapping[str, Labels]) -> bool:
        return all(crowd.holds(namespace, labels, namespaces) for crowd in self.crowds)


class Attractions(NamedTuple):
    """What a pod says of the pods around it."""

    required: tuple[Term, ...] = ()
    """Affinity: each term speaks of the pods that meet all of them, as Kubernetes counts."""
    singly: tuple[Term, ...] = ()
    """The same terms, each for itself: what they mean to pods that come later."""
    apart: tuple[Term, ...] = ()
    preferred: tuple[tuple[Term, int], ...] = ()
    """With weights, negative for pods to keep away from."""

    @property
    def silent(self) -> bool:
        return not (self.required or self.apart or self.preferred)


NOTHING = Attractions()


def attractions(affinity: Mapping[str, Any], namespace: str) -> Attractions:
    to, from_ = affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}
    if not to and not from_:
        return NOTHING
    singly = tuple(term(t, namespace) for t in to.get(REQUIRED) or ())
    crowds = tuple(t.crowds[0] for t in singly)
    return Attractions(
        required=tuple(Term(crowds, t.topology) for t in singly),
        singly=singly,
        apart=tuple(term(t, namespace) for t in from_.get(REQUIRED) or ()),
        preferred=(*weighed(to, namespace, 1), *weighed(from_, namespace, -1)),
    )


def weighed(said: Mapping[str, Any], namespace: str, sign: int) -> Iterator[tuple[Term, int]]:
    for one in said.get(PREFERRED) or ():
        yield term(one["podAffinityTerm"], namespace), sign * one["weight"]


def term(said: Mapping[str, Any], namespace: str) -> Term:
    named, labels = said.get("namespaces") or (), said.get("namespaceSelector")
    # Without a word about namespaces it is about the pod's own.
    namespaces = frozenset(named) if named or labels is not None else frozenset((namespace,))
    crowd = Crowd(namespaces, label_selector(labels), label_selector(said.get("labelSelector")))
    return Term((crowd,), said["topologyKey"])
