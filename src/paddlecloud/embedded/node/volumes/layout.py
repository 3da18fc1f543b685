"""Files that change all at once, as Kubernetes lays them out.

    ..5f3c…/a  ..5f3c…/x/y        a version, named by its content
    ..data -> ..5f3c…             the one step that changes everything
    a -> ..data/a    x -> ..data/x

Every step may be the last before a crash: the next `write` goes on from there. A reader that opened a file
keeps it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from . import ownership
from .content import Files
from .places import make_private

DATA, MAKING = "..data", "..making"


def write(folder: Path, files: Files, open_to_all: bool, group: int | None = None) -> bool:
    """Make *folder* hold exactly *files*; whether anything changed for readers."""
    make_private(folder)
    folder.chmod(0o755 if open_to_all else 0o700)
    version = version_of(files, open_to_all, group)
    changed = link_of(folder / DATA) != version
    if changed:
        if not (folder / version).is_dir():
            make(folder, version, files, (0o755 if open_to_all else 0o700, group))
        point(folder / DATA, version)
    wanted = {name.split("/")[0] for name in files}
    for name in wanted:
        if link_of(folder / name) != f"{DATA}/{name}":
            point(folder / name, f"{DATA}/{name}")
    for entry in sorted(os.listdir(folder)):
        if entry not in wanted and entry not in (DATA, version):
            remove(folder / entry)
    return changed


def version_of(files: Files, open_to_all: bool, group: int | None) -> str:
    digest = hashlib.sha256(repr((open_to_all, group)).encode())
    for name in sorted(files):
        content, mode = files[name]
        digest.update(f"{len(name.encode())} {mode} {len(content)} {name}".encode() + content)
    return f"..{digest.hexdigest()[:32]}"


def make(folder: Path, version: str, files: Files, access: tuple[int, int | None]) -> None:
    mode, group = access
    making = folder / MAKING
    remove(making)
    making.mkdir(mode=0o700)
    for name, file in files.items():
        target = making / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(file.content)
        target.chmod(file.mode)
    for path in (making, *(path for path in making.rglob("*") if path.is_dir())):
        path.chmod(mode)
    ownership.give(making, group, read_only=True)
    making.rename(folder / version)


def point(link: Path, target: str) -> None:
    """*link* leads to *target*, in one step."""
    new = link.with_name("..new")
    remove(new)
    new.symlink_to(target)
    if link.is_dir() and not link.is_symlink():
        shutil.rmtree(link)
    new.rename(link)


def link_of(path: Path) -> str:
    return os.readlink(path) if path.is_symlink() else ""


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def read(folder: Path) -> dict[str, bytes]:
    """The files as they are now, by their paths; of a folder that was never written, none."""
    data = folder / DATA
    if not data.is_dir():
        return {}
    return {str(path.relative_to(data)): path.read_bytes() for path in data.rglob("*") if path.is_file()}
