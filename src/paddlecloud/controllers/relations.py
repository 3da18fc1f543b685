"""Who looks at whom: from an object that changed to the objects whose decisions read it.

A mirror of what `Controller.related` said about every object; asking it costs no walk over all objects:
a selection is found by its namespace and its first label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..api.meta import Key, Resource
from .contract import Ref, Selection
from .ownership import owner_uid

Name = tuple[type[Resource], str, str]
Label = tuple[str, str]
Shelf = tuple[type[Resource], str, Label | None]


class Relations:
    def __init__(self) -> None:
        self._wishes: dict[Key, tuple[Ref | Selection, ...]] = {}
        self._readers: dict[Name, set[Key]] = {}
        self._selections: dict[Shelf, dict[Key, set[Selection]]] = {}

    def wants(self, reader: Key, wishes: Iterable[Ref | Selection]) -> None:
        """*reader* now wants to see exactly these."""
        self._forget(reader)
        self._wishes[reader] = tuple(wishes)
        for wish in self._wishes[reader]:
            if isinstance(wish, Ref):
                self._readers.setdefault((wish.kind, wish.namespace, wish.name), set()).add(reader)
            else:
                self._selections.setdefault(shelf(wish), {}).setdefault(reader, set()).add(wish)
        if not self._wishes[reader]:
            del self._wishes[reader]

    def readers(self, obj: Resource) -> set[Key]:
        """The keys of all objects that want to see *obj*."""
        by_name = self._readers.get((type(obj), obj.namespace, obj.name), set())
        return by_name | {
            reader
            for place in shelves(obj)
            for reader, wishes in self._selections.get(place, {}).items()
            if any(selects(w, obj) for w in wishes)
        }

    def _forget(self, reader: Key) -> None:
        for wish in self._wishes.pop(reader, ()):
            if isinstance(wish, Ref):
                name = (wish.kind, wish.namespace, wish.name)
                self._readers[name].discard(reader)
                if not self._readers[name]:
                    del self._readers[name]
            elif (place := shelf(wish)) in self._selections:
                self._selections[place].pop(reader, None)
                if not self._selections[place]:
                    del self._selections[place]


def shelf(selection: Selection) -> Shelf:
    return selection.kind, selection.namespace, selection.labels[0] if selection.labels else None


def shelves(obj: Resource) -> Iterator[Shelf]:
    """Where a selection that takes *obj* can lie."""
    for namespace in {"", obj.namespace}:
        for label in (None, *obj.metadata.labels.items()):
            yield type(obj), namespace, label


def selects(selection: Selection, obj: Resource) -> bool:
    labels = obj.metadata.labels
    return (
        selection.namespace in ("", obj.namespace)
        and not (selection.orphans and owner_uid(obj))
        and all(labels.get(name) == value for name, value in selection.labels)
    )
