"""What a crash may have left of pods that are gone: control groups and links."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from . import cgroups
from .links import Links


def sweep(groups: Mapping[str, str], links: Links, uids: Collection[str]) -> None:
    """Remove what belongs to none of the pods *uids*; *groups* are those of this home, by controller."""
    links.keep(uids)
    for controller, base in groups.items():
        for name in os.listdir(base) if os.path.isdir(base) else ():
            path = os.path.join(base, name)
            if os.path.isdir(path) and name not in uids:
                cgroups.remove({controller: path})
