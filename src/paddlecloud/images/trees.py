"""The files of one layer as they are laid into a folder that nobody else works in.

Every path is walked from the root of the tree; a link in the way leads on inside the tree, however it is
written, and never out of it. Rights of folders are set last, so that a closed folder can still be filled.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .failures import Damaged

WHITEOUT, OPAQUE = ".wh.", ".wh..wh..opq"
OPAQUE_MARKS = ("trusted.overlay.opaque", "user.overlay.opaque")
"""Read by overlays of root and by those in a user namespace (`userxattr`)."""
XATTR = "SCHILY.xattr."
HARMLESS = ("user.", "security.capability")
OWN = "user.overlay."
MOST_LINKS = 40
MOST_NOTES = 50
LARGEST_ID = 2**32 - 2
COPY = 1 << 20


@dataclass
class Report:
    """What came of a layer; kept beside its tree."""

    entries: int = 0
    size: int = 0
    whiteouts: list[str] = field(default_factory=list)
    """Paths below the root that lower layers lose."""
    opaque: list[str] = field(default_factory=list)
    """Folders that hide all of what lower layers have there."""
    notes: list[str] = field(default_factory=list)
    """What was left away or could not be kept, and why."""

    def note(self, text: str) -> None:
        if len(self.notes) < MOST_NOTES and text not in self.notes:
            self.notes.append(text)


class Tree:
    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.report = Report()
        self._folders: dict[str, tarfile.TarInfo] = {}
        """By path as it was found; what is said last holds."""
        self._parents: dict[str, str] = {}
        self._deleted: dict[str, None] = {}
        self._opaque: dict[str, None] = {}

    def add(self, member: tarfile.TarInfo, tar: tarfile.TarFile) -> None:
        """Lay one member into the tree; raises `Damaged` for one that cannot be meant well."""
        self.report.entries += 1
        parts = parts_of(member.name)
        if not parts:
            if member.isdir():
                self._folders[self.root] = member
            return
        parent, name = self.folder(parts[:-1]), parts[-1]
        if name.startswith(WHITEOUT):
            self.whiteout(parent, name)
            return
        path = f"{parent}/{name}"
        if member.isdir():
            if not is_folder(path):
                self.clear(path)
                os.mkdir(path, 0o755)
            self._folders[path] = member
            return
        make = self.maker(member, tar)
        if make is None:
            self.report.note(f"{member.name}: {kind_of(member)} left away")
            return
        self.clear(path)
        make(path)
        if not member.islnk():
            self.dress(path, member)

    def maker(self, member: tarfile.TarInfo, tar: tarfile.TarFile) -> Callable[[str], None] | None:
        if member.isreg():
            return lambda path: self.write(path, member, tar)
        if member.issym():
            return lambda path: os.symlink(member.linkname, path)
        if member.islnk():
            return lambda path: self.link(path, member)
        if member.isfifo():
            return os.mkfifo
        return None

    def folder(self, parts: list[str]) -> str:
        """The real folder that *parts* lead to, made where it is missing."""
        key = "/".join(parts)
        if key in self._parents:
            return self._parents[key]
        here: list[str] = []
        ahead, links = list(reversed(parts)), 0
        while ahead:
            part = ahead.pop()
            if part == "..":
                # Only from a link: at the root it leads nowhere, as in any file system.
                here = here[:-1]
                continue
            path = "/".join((self.root, *here, part))
            try:
                mode = os.lstat(path).st_mode
            except FileNotFoundError:
                os.mkdir(path, 0o755)
                mode = stat.S_IFDIR
            if stat.S_ISLNK(mode):
                links += 1
                if links > MOST_LINKS:
                    raise Damaged(f"the links on the way to {key} lead in a circle")
                target = os.readlink(path)
                here = [] if target.startswith("/") else here
                ahead.extend(p for p in reversed(target.split("/")) if p not in ("", "."))
            elif stat.S_ISDIR(mode):
                here.append(part)
            else:
                raise Damaged(f"{key} leads through {part}, which is a file")
        found = "/".join((self.root, *here))
        self._parents[key] = found
        return found

    def clear(self, path: str) -> None:
        """Make room: what comes later in a layer replaces what came before."""
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            return
        if stat.S_ISDIR(mode):
            shutil.rmtree(path)
            self._folders = {p: m for p, m in self._folders.items() if not f"{p}/".startswith(f"{path}/")}
        else:
            os.unlink(path)
        if stat.S_ISDIR(mode) or stat.S_ISLNK(mode):
            self._parents.clear()

    def write(self, path: str, member: tarfile.TarInfo, tar: tarfile.TarFile) -> None:
        source = tar.extractfile(member)
        assert source is not None
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(handle, "wb", buffering=0) as file:
            while piece := source.read(COPY):
                file.write(piece)
                self.report.size += len(piece)

    def link(self, path: str, member: tarfile.TarInfo) -> None:
        parts = parts_of(member.linkname)
        source = f"{self.folder(parts[:-1])}/{parts[-1]}" if parts else self.root
        if is_folder(source) or not os.path.lexists(source):
            raise Damaged(
                f"{member.name} is a hard link to {member.linkname}, which is no file of this layer"
            )
        os.link(source, path, follow_symlinks=False)

    def whiteout(self, parent: str, name: str) -> None:
        if name == OPAQUE:
            self._opaque.setdefault(parent)
        elif not name.startswith(WHITEOUT * 2):  # bookkeeping of another union file system
            hidden = name.removeprefix(WHITEOUT)
            if hidden in ("", ".", ".."):
                raise Damaged(f"{name} marks nothing as deleted")
            self._deleted.setdefault(f"{parent}/{hidden}")

    def finish(self) -> None:
        """Deletions, then rights and times of the folders, the deepest first."""
        for path in self._deleted:
            if is_folder(path):
                # Deleted and made anew in one layer: nothing of the old folder may shine through.
                self._opaque.setdefault(path)
            elif not os.path.lexists(path):
                self.report.whiteouts.append(self.inner(path))
                self.hide(path)
        for path in self._opaque:
            if is_folder(path):
                self.report.opaque.append(self.inner(path))
                self.mark_opaque(path)
        for path in sorted(self._folders, key=len, reverse=True):
            if is_folder(path):
                self.dress(path, self._folders[path])

    def hide(self, path: str) -> None:
        try:
            os.mknod(path, stat.S_IFCHR | 0o000, os.makedev(0, 0))
        except OSError:
            self.report.note(
                "deletions could not be marked for the overlay file system; they are listed only"
            )

    def mark_opaque(self, path: str) -> None:
        marked = 0
        for mark in OPAQUE_MARKS:
            with contextlib.suppress(OSError):
                os.setxattr(path, mark, b"y")
                marked += 1
        if not marked:
            self.report.note(
                "opaque folders could not be marked for the overlay file system; they are listed only"
            )

    def dress(self, path: str, member: tarfile.TarInfo) -> None:
        """Owner, attributes, rights and time, as far as this user may set them."""
        if not (0 <= member.uid <= LARGEST_ID and 0 <= member.gid <= LARGEST_ID):
            raise Damaged(
                f"{member.name} belongs to user {member.uid}, group {member.gid}: there are none such"
            )
        try:
            os.chown(path, member.uid, member.gid, follow_symlinks=False)
        except OSError:
            if (member.uid, member.gid) != (os.geteuid(), os.getegid()):
                self.report.note("owners are not kept: only root can give files away")
        for name, text in member.pax_headers.items():
            if name.startswith(XATTR):
                self.attribute(
                    path, name.removeprefix(XATTR), text.encode("utf-8", "surrogateescape"), member
                )
        if not member.issym():
            os.chmod(path, member.mode & 0o7777)
        with contextlib.suppress(OverflowError, OSError, ValueError):
            time = round(float(member.mtime) * 1e9)
            os.utime(path, ns=(time, time), follow_symlinks=False)

    def attribute(self, path: str, name: str, value: bytes, member: tarfile.TarInfo) -> None:
        # Attributes of overlays can point elsewhere; none but our own may be there.
        if name.startswith(OWN) or not name.startswith(HARMLESS):
            self.report.note(f"{member.name}: attribute {name} left away")
            return
        try:
            os.setxattr(path, name, value, follow_symlinks=False)
        except OSError as error:
            self.report.note(f"{member.name}: attribute {name} could not be set: {error.strerror}")

    def inner(self, path: str) -> str:
        return path[len(self.root) + 1 :]


def parts_of(name: str) -> list[str]:
    """The steps of a member's name from the root of the tree on; raises `Damaged` for one that climbs."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in name:
        raise Damaged(
            f"the layer has a file named {name!r}, which leads out of it: the image is not to be trusted"
        )
    return parts


def is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def kind_of(member: tarfile.TarInfo) -> str:
    if member.ischr() or member.isblk():
        return f"device {member.devmajor}:{member.devminor}"
    return f"entry of unknown type {member.type!r}"
