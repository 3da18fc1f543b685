"""How a source differs from what was brought from it: its listing beside the record; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..engine import Changes, SyncWish
from ..paths import covered, inside
from ..sources.source import Entry
from .choosing import selection
from .index import Row


def changes(entries: Iterable[Entry], known: Mapping[str, Row], origin: int, wish: SyncWish) -> Changes:
    """What is new, other or gone among the files of *origin* that *wish* asks for.

    A file that was brought from elsewhere since is none of this source's any more.
    """
    asked, root = selection(wish), inside(wish.destination)
    new, changed, there = list[str](), list[str](), set[str]()
    for entry in entries:
        if not asked(entry.path):
            continue
        path = f"{root}/{entry.path}" if root else entry.path
        there.add(path)
        row = known.get(path)
        if row is None:
            new.append(path)
        elif row.source == origin and differs(entry, row):
            changed.append(path)
    mine = (p for p, row in known.items() if row.source == origin and covered(p, [root]) and p not in there)
    gone = [p for p in mine if asked(p.removeprefix(f"{root}/") if root else p)]
    return Changes(len(new), len(changed), len(gone), next(iter(sorted([*new, *changed, *gone])), ""))


def differs(entry: Entry, row: Row) -> bool:
    if entry.time_ns or entry.mark:
        return (entry.size, entry.time_ns, entry.mark) != (row.size, row.time_ns, row.mark)
    return entry.size != row.size
