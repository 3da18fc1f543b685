"""Sources that the JuiceFS client cannot read, or only with keys among its arguments: our readers go first.

What they bring lies aside, on the disk of the node, until the client has copied it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ...errors import Failed
from ..engine import Run, SyncWish, Unfit
from ..local.disk import disk_errors, room
from ..sources.folder import Folder
from ..sources.opening import WAYS, Way, opened
from ..sources.source import Address, Source
from . import secrets


@contextmanager
def within_reach(wish: SyncWish, aside: Path, run: Run) -> Iterator[SyncWish]:
    """*wish*, with a source that the client reads and keys that nobody sees."""
    if not read_by_us(wish):
        yield wish
        return
    if wish.delete_src:
        raise Unfit("nothing is deleted at a source of this kind", next_step="leave out delete-src")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        address = Address(wish.source, wish.keys, wish.no_https)
        with opened(address, aside / "scratch", run.check) as source:
            folder = source.root if isinstance(source, Folder) else laid(source, aside / "files", run)
            if not any(folder.iterdir()):
                raise Failed(f"the source {address.shown} has no files", next_step="put the samples there")
            yield replace(wish, source=folder.as_uri(), keys=None)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def read_by_us(wish: SyncWish) -> bool:
    scheme = wish.source.partition("://")[0]
    how = WAYS.get(scheme)
    if how in (Way.WEB, Way.CLAIM):
        return True
    has_keys = wish.keys is not None and bool(wish.keys.access or wish.keys.secret)
    return has_keys and scheme not in secrets.VARIABLES and how in (Way.BUCKET, Way.WEBDAV, Way.REDIS)


def laid(source: Source, folder: Path, run: Run) -> Path:
    """*folder* with all files of *source*, as old as they are there."""
    folder.mkdir(parents=True)
    with disk_errors(folder):
        entries = list(source.entries())
        room(folder, sum(entry.size for entry in entries))
        for entry in entries:
            at = folder / entry.path
            at.parent.mkdir(parents=True, exist_ok=True)
            with at.open("wb") as file:
                for chunk in source.chunks(entry):
                    run.check()
                    file.write(chunk)
            if entry.time_ns:
                os.utime(at, ns=(entry.time_ns, entry.time_ns))
    return folder
