"""What a sync does with each file: decided from listing, record and disk, without touching any."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum
from typing import NamedTuple

from ..engine import SyncWish, Unfit
from ..sources.source import Entry
from .index import Row

POSIX = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s",
    "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9A-Fa-f",
}  # fmt: skip


class Lying(NamedTuple):
    """A copy as it lies on the disk."""

    size: int
    time_ns: int


class Deed(Enum):
    KEEP = "recorded, and there as it was recorded"
    CHECK = "there with the size and time of the source, but not recorded: to be read"
    COPY = "to be brought"


def deed(entry: Entry, row: Row | None, there: Lying | None, wish: SyncWish) -> Deed:
    """What becomes of *entry*. Without options the source is the truth: what differs is brought."""
    if wish.force_update or there is None:
        return Deed.COPY
    whole = row is not None and there == Lying(row.size, row.copy_ns)
    # A source that tells neither time nor version has to be read to be compared.
    telling = bool(entry.time_ns or entry.mark)
    if row is not None and whole:
        if wish.update:
            return Deed.COPY if entry.time_ns > row.time_ns else Deed.KEEP
        same = (row.size, row.time_ns, row.mark) == (entry.size, entry.time_ns, entry.mark)
        return Deed.KEEP if telling and same else Deed.COPY
    if row is None and entry.time_ns and there == Lying(entry.size, entry.time_ns):
        return Deed.CHECK
    return Deed.COPY


def selection(wish: SyncWish) -> Callable[[str], bool]:
    """Whether a path is asked for: `start` and `end` are the first and the last. Raises `Unfit`."""
    include, exclude = pattern("include", wish.include), pattern("exclude", wish.exclude)

    def asked(path: str) -> bool:
        if (wish.start and path < wish.start) or (wish.end and path > wish.end):
            return False
        return not (exclude and exclude.search(path)) and (include is None or bool(include.search(path)))

    return asked


def pattern(name: str, text: str) -> re.Pattern[str] | None:
    if not text:
        return None
    plain = re.sub(r"\[:(\w+):\]", lambda m: POSIX.get(m[1], m[0]), text)
    try:
        return re.compile(plain)
    except re.error as error:
        raise Unfit(f"`{name}` is no regular expression: {error}", next_step=f"correct {text!r}") from error


def refuse_clashes(paths: Iterable[str]) -> None:
    """Raises `Unfit` when one name is a file and a folder at once, as it can be in a bucket."""
    names = set[str]()
    for path in paths:
        if path in names:
            raise Unfit(f"the source has two files named {path!r}", next_step="rename one")
        names.add(path)
    for path in names:
        parent = path.rpartition("/")[0]
        while parent:
            if parent in names:
                raise Unfit(
                    f"the source has a file {parent!r} and files below it, which no folder can hold",
                    next_step="leave one of them out with `exclude`",
                )
            parent = parent.rpartition("/")[0]
