"""Links from the mount paths of plain pods to their volumes, for machines where nothing can be mounted.

A path of the machine can lead to one place only, so a register says which pods use which link: pods that mean
the same folder share it, a pod that means another one is refused and must do with substituted paths. The
register is written before a link is made and after it is gone, so that a crash leaves no link that nobody
knows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path


class Claim(StrEnum):
    LINKED = "linked"
    TAKEN = "taken"
    """Another pod has linked the path to something else."""
    CLOSED = "closed"
    """Something of the machine is there, or we may not write beside it."""


@dataclass(frozen=True)
class Link:
    target: str
    owners: tuple[str, ...]


class Links:
    def __init__(self, register: Path) -> None:
        self._register = register
        self._links = read(register)

    def claim(self, uid: str, path: str, target: Path) -> Claim:
        """See that *path* leads to *target* as long as the pod *uid* lives, if that can be."""
        known = self._links.get(path)
        if known is not None and known.target != str(target):
            return Claim.TAKEN
        if os.path.lexists(path) if known is None else not leads(path, known.target):
            return Claim.CLOSED
        if not os.access(os.path.dirname(path), os.W_OK | os.X_OK):
            return Claim.CLOSED
        owners = known.owners if known else ()
        if uid not in owners:
            self._write({**self._links, path: Link(str(target), (*owners, uid))})
        if not os.path.lexists(path):
            os.symlink(target, path)
        return Claim.LINKED

    def release(self, uid: str) -> None:
        """The pod *uid* needs its links no more."""
        self.keep({owner for link in self._links.values() for owner in link.owners} - {uid})

    def keep(self, uids: Collection[str]) -> None:
        """Only these pods are left: remove the links that nobody else uses."""
        kept = {}
        for path, link in self._links.items():
            owners = tuple(uid for uid in link.owners if uid in uids)
            if owners:
                kept[path] = replace(link, owners=owners)
            elif os.path.islink(path) and os.readlink(path) == link.target:
                os.unlink(path)
        if kept != self._links:
            self._write(kept)

    def _write(self, links: dict[str, Link]) -> None:
        content = {path: {"target": link.target, "owners": link.owners} for path, link in links.items()}
        new = self._register.with_name(self._register.name + ".new")
        new.write_text(json.dumps(content), encoding="utf-8")
        new.rename(self._register)
        self._links = links


def leads(path: str, target: str) -> bool:
    """Whether *path* is our link, or free for it: a crash may have come between register and link."""
    return not os.path.lexists(path) or (os.path.islink(path) and os.readlink(path) == target)


def read(register: Path) -> dict[str, Link]:
    try:
        content = json.loads(register.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return {path: Link(link["target"], tuple(link["owners"])) for path, link in content.items()}
