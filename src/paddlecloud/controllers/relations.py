"""Who looks at whom: from an object that changed to the objects whose decisions read it.

A mirror of what `Controller.related` said about every object; asking it costs no walk over all objects.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..api.meta import Key, Resource
from .contract import Ref, Selection

Name = tuple[type[Resource], str, str]


class Relations:
    def __init__(self) -> None:
        self._wishes: dict[Key, tuple[Ref | Selection, ...]] = {}
        self._readers: dict[Name, set[Key]] = {}
        self._selections: dict[type[Resource], dict[Key, set[Selection]]] = {}

    def wants(self, reader: Key, wishes: Iterable[Ref | Selection]) -> None:
        """*reader* now wants to see exactly these."""
        self._forget(reader)
        self._wishes[reader] = tuple(wishes)
        for wish in self._wishes[reader]:
            if isinstance(wish, Ref):
                self._readers.setdefault((wish.kind, wish.namespace, wish.name), set()).add(reader)
            else:
                self._selections.setdefault(wish.kind, {}).setdefault(reader, set()).add(wish)
        if not self._wishes[reader]:
            del self._wishes[reader]

    def readers(self, obj: Resource) -> set[Key]:
        """The keys of all objects that want to see *obj*."""
        by_name = self._readers.get((type(obj), obj.namespace, obj.name), set())
        selecting = self._selections.get(type(obj), {})
        return by_name | {
            reader for reader, wishes in selecting.items() if any(selects(w, obj) for w in wishes)
        }

    def _forget(self, reader: Key) -> None:
        for wish in self._wishes.pop(reader, ()):
            if isinstance(wish, Ref):
                name = (wish.kind, wish.namespace, wish.name)
                self._readers[name].discard(reader)
                if not self._readers[name]:
                    del self._readers[name]
            else:
                self._selections[wish.kind].pop(reader, None)


def selects(selection: Selection, obj: Resource) -> bool:
    labels = obj.metadata.labels
    return selection.namespace in ("", obj.namespace) and all(
        labels.get(name) == value for name, value in selection.labels
    )
