"""Members of a tar archive of somebody else's, put below one folder and nowhere else.

A path or a link that leads out and anything that is neither file, folder nor link is refused; owners, set-uid
bits and the right of others to write are dropped. The standard library has had such a filter only since
Python 3.11.4.
"""

from __future__ import annotations

import copy
import os
import tarfile
from pathlib import Path


class Refused(tarfile.TarError):
    """A member that must not be unpacked; the text says why."""


def extract(packed: tarfile.TarFile, member: tarfile.TarInfo, into: Path) -> None:
    """Put *member* below *into*; raises `Refused`."""
    # Newer Pythons want to be told that somebody has looked; older ones do not ask.
    packed.extraction_filter = unchanged
    packed.extract(harmless(member, into), into, numeric_owner=True)


def unchanged(member: tarfile.TarInfo, into: str) -> tarfile.TarInfo:
    return member


def harmless(member: tarfile.TarInfo, into: Path) -> tarfile.TarInfo:
    """*member* without what only its maker's machine could mean."""
    result = copy.copy(member)
    result.name = member.name.lstrip("/")
    if not (member.isfile() or member.isdir() or member.islnk() or member.issym()):
        raise Refused(f"{member.name!r} is neither a file nor a folder nor a link")
    if not leads_inside(result.name, into):
        raise Refused(f"{member.name!r} leads out of the folder")
    if member.islnk() or member.issym():
        beside = os.path.dirname(result.name) if member.issym() else ""
        if os.path.isabs(member.linkname) or not leads_inside(os.path.join(beside, member.linkname), into):
            raise Refused(f"{member.name!r} is a link to {member.linkname!r}, out of the folder")
    result.uid, result.gid, result.uname, result.gname = os.geteuid(), os.getegid(), "", ""
    result.mode = mode_of(member)
    return result


def leads_inside(path: str, into: Path) -> bool:
    """Whether *path* ends below *into*, links that are there already followed."""
    root = os.path.realpath(into)
    return os.path.commonpath([os.path.realpath(os.path.join(root, path)), root]) == root


def mode_of(member: tarfile.TarInfo) -> int:
    if member.isdir():
        return 0o755
    executable = member.mode & 0o100
    return (member.mode & (0o755 if executable else 0o644)) | 0o600
