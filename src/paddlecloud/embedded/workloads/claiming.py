"""Adoption and release: an owner's children are those its selector takes; pure.

What nobody owns and the selector takes becomes a child; a child that it takes no more is let go. Neither
is created nor deleted for it: one patch of its owners each. An adopted object counts at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ...api.meta import Resource
from ...controllers.contract import Selection, Snapshot, Update
from ...controllers.ownership import adopted
from .selecting import equalities, takes

R = TypeVar("R", bound=Resource)


@dataclass(frozen=True)
class Claim(Generic[R]):
    mine: tuple[R, ...]
    """All children, those about to be adopted included, those about to be released not."""
    released: tuple[R, ...] = ()
    """To be listed in the decision still: until the patch they are children."""
    changes: tuple[Update, ...] = ()

    @property
    def owned(self) -> tuple[R, ...]:
        """Those that are known as children already: a decision may list or leave them out."""
        coming = {u.observed.uid for u in self.changes}
        return tuple(c for c in self.mine if c.uid not in coming)


def claim(
    owner: Resource, selector: dict[str, Any], seen: Snapshot, kind: type[R], fits: Callable[[R], bool]
) -> Claim[R]:
    """The children of *kind*; *fits* says what else an orphan must be like."""
    kept: list[R] = []
    strange: list[R] = []
    for child in seen.owned(kind).values():
        (kept if takes(selector, child.metadata.labels) else strange).append(child)
    orphaned = [o for o in seen.all(kind) if adoptable(owner, selector, o) and fits(o)]
    changes = [release(owner, c) for c in strange if alive(c)] + [adopt(owner, o) for o in orphaned]
    return Claim((*kept, *orphaned), tuple(strange), tuple(changes))


def orphans(owner: Resource, kind: type[Resource], selector: dict[str, Any]) -> Selection:
    """What must be looked at to find those to be adopted."""
    return Selection(kind, owner.namespace, equalities(selector), orphans=True)


def anything(_: Resource) -> bool:
    return True


def adoptable(owner: Resource, selector: dict[str, Any], orphan: Resource) -> bool:
    return (
        orphan.namespace == owner.namespace
        and not orphan.controlled_by()
        and alive(orphan)
        and owner.metadata.deletion_timestamp is None
        and takes(selector, orphan.metadata.labels)
    )


def alive(obj: Resource) -> bool:
    return obj.metadata.deletion_timestamp is None


def adopt(owner: Resource, orphan: Resource) -> Update:
    references = adopted(orphan, owner).metadata.owner_references
    return Update(orphan, {"metadata": {"ownerReferences": [r.wire() for r in references]}})


def release(owner: Resource, child: Resource) -> Update:
    others = [r.wire() for r in child.metadata.owner_references if r.uid != owner.uid]
    return Update(child, {"metadata": {"ownerReferences": others or None}})
