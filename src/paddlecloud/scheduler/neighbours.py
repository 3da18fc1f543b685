"""Which pods are where, counted by topology: the memory behind pod affinity.

Invariant: for every term asked about in this round, the count of each topology value is that of the pods
put in. A pod touches only the terms that mention one of its labels, and a new term reads only the pods
with a label it mentions, so that many pods with few templates never meet each other pairwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..api.meta import Key
from .selectors import Labels
from .terms import Attractions, Term

Anchor = tuple[str, str] | None
Tally = Counter[str]


class Settled(NamedTuple):
    """A pod on its node."""

    namespace: str
    labels: Labels
    near: Attractions
    place: Labels
    """The labels of the node."""


class Shelf:
    """Terms, found by the labels of the pods they may speak of."""

    def __init__(self) -> None:
        self.tallies: dict[Term, Tally] = {}
        self._by_anchor: dict[Anchor, list[Term]] = {}

    def tally(self, term: Term) -> Tally:
        """The counts of a term, empty when it is new."""
        if term not in self.tallies:
            self.tallies[term] = Counter()
            for anchor in term.anchors() or (None,):
                self._by_anchor.setdefault(anchor, []).append(term)
        return self.tallies[term]

    def change(self, term: Term, place: str | None, step: int) -> None:
        """Count in a place; a term without a count is forgotten."""
        change(self.tally(term), place, step)
        if not self.tallies[term]:
            del self.tallies[term]
            for anchor in term.anchors() or (None,):
                self._by_anchor[anchor].remove(term)
                if not self._by_anchor[anchor]:
                    del self._by_anchor[anchor]

    def perhaps(self, labels: Labels) -> Iterator[Term]:
        """Every term that may speak of a pod with these labels, once each."""
        if self.tallies:
            for anchor in (None, *labels.items()):
                yield from self._by_anchor.get(anchor, ())


class Neighbours:
    def __init__(self) -> None:
        self.namespaces: Mapping[str, Labels] = {}
        self._pods: dict[Key, Settled] = {}
        self._labelled: dict[tuple[str, str], dict[Key, Settled]] = {}
        self._met = Shelf()  # by what the pods are
        self._apart = Shelf()  # by what the pods refuse
        self._drawn = Shelf()  # by what the pods prefer

    def put(self, key: Key, pod: Settled) -> None:
        self._pods[key] = pod
        for pair in pod.labels.items():
            self._labelled.setdefault(pair, {})[key] = pod
        self._count(pod, 1)

    def remove(self, key: Key) -> None:
        if (pod := self._pods.pop(key, None)) is None:
            return
        for pair in pod.labels.items():
            del self._labelled[pair][key]
        self._count(pod, -1)

    def begin(self, namespaces: Mapping[str, Labels]) -> None:
        """Before a round of questions: terms of pods that no longer come are forgotten."""
        self.namespaces = namespaces
        self._met = Shelf()

    def count(self, term: Term) -> Tally:
        """How many of the pods the term speaks of are in each place."""
        if term not in self._met.tallies:
            tally = self._met.tally(term)
            for pod in self._candidates(term):
                if self._speaks(term, pod.namespace, pod.labels) and term.topology in pod.place:
                    tally[pod.place[term.topology]] += 1
        return self._met.tallies[term]

    def refusals(self, namespace: str, labels: Labels) -> set[tuple[str, str]]:
        """Places where somebody wants no pod like this, as labels of nodes."""
        return {
            (term.topology, place)
            for term in self._apart.perhaps(labels)
            if self._speaks(term, namespace, labels)
            for place, count in self._apart.tallies[term].items()
            if count > 0
        }

    def wishes(self, namespace: str, labels: Labels) -> Iterator[tuple[str, Tally]]:
        """What pods that are there would give for a pod like this, by label of nodes and its values."""
        for term in self._drawn.perhaps(labels):
            if self._speaks(term, namespace, labels):
                yield term.topology, self._drawn.tallies[term]

    def _candidates(self, term: Term) -> Iterable[Settled]:
        if not (pairs := term.anchors()):
            return self._pods.values()
        return [pod for pair in pairs for pod in self._labelled.get(pair, {}).values()]

    def _speaks(self, term: Term, namespace: str, labels: Labels) -> bool:
        return term.holds(namespace, labels, self.namespaces)

    def _count(self, pod: Settled, step: int) -> None:
        for term in self._met.perhaps(pod.labels):
            if self._speaks(term, pod.namespace, pod.labels):
                change(self._met.tally(term), pod.place.get(term.topology), step)
        for term in pod.near.apart:
            self._apart.change(term, pod.place.get(term.topology), step)
        for term, weight in pod.near.preferred:
            self._drawn.change(term, pod.place.get(term.topology), step * weight)
        for term in pod.near.singly:
            self._drawn.change(term, pod.place.get(term.topology), step)


def change(tally: Tally, place: str | None, step: int) -> None:
    if place is None:
        return
    tally[place] += step
    if not tally[place]:
        del tally[place]
