"""A JuiceFS file system: made when it is not there yet, mounted in the background, and unmounted.

Every step may be repeated. Whether something is mounted is asked of the kernel and of the file system, never
of a note; a mount whose process is dead is taken away before a new one is made.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import Failed
from ..engine import Cancelled, Keys, Unfit
from . import secrets
from .client import Call, Client

FORMAT_PATIENCE = 60.0
MOUNT_PATIENCE = 45.0
UNMOUNT_PATIENCE = 15.0
ROOT_INODE = 1
NEEDED = ("name", "storage", "metaurl", "bucket")
KIND = "fuse.juicefs"


@dataclass(frozen=True)
class FileSystem:
    """Where a file system keeps its metadata and its objects."""

    name: str
    metaurl: str
    """Without a password."""
    storage: str
    bucket: str
    password: Mapping[str, str]
    keys: Keys | None = None

    def __repr__(self) -> str:
        return f"FileSystem({self.name!r})"


def from_secret(data: Mapping[str, bytes]) -> FileSystem:
    """The file system that a Secret describes; values are stripped. Raises `Unfit` for what is missing."""
    try:
        said = {key: value.decode().strip() for key, value in data.items()}
    except UnicodeDecodeError as error:
        raise Unfit("the Secret of the file system has a value that is not text") from error
    if missing := [key for key in NEEDED if not said.get(key)]:
        raise Unfit(
            f"the Secret of the file system lacks {', '.join(missing)}",
            next_step=f"give it {', '.join(NEEDED)}, and access-key and secret-key where the store asks",
        )
    if secrets.has_keys(said["bucket"].partition("://")[2]):
        raise Unfit(
            "the bucket of the file system has keys in its address",
            next_step="put them into the Secret as access-key and secret-key",
        )
    url, password = secrets.metadata(said["metaurl"])
    access, secret = said.get("access-key", ""), said.get("secret-key", "")
    keys = Keys(access, secret) if access or secret else None
    return FileSystem(said["name"], url, said["storage"], said["bucket"], password, keys)


def in_folder(name: str, folder: Path) -> FileSystem:
    """A file system of its own in *folder*: SQLite and plain files."""
    return FileSystem(name, f"sqlite3://{folder}/meta.db", "file", f"{folder}/objects/", {})


def make(client: Client, system: FileSystem) -> None:
    """Format it unless it is; keys that have changed since are told to it."""
    said = (f"--storage={system.storage}", f"--bucket={system.bucket}")
    hidden = {**system.password, **secrets.storage(system.keys)}
    what = (system.metaurl, system.name)
    # A cache needs no trash: what is removed there is to be gone.
    new = ("format", "--no-update", "--trash-days=0", *said, *what)
    client.carry_out(Call(new, hidden, FORMAT_PATIENCE))
    if system.keys:
        client.carry_out(Call(("format", *said, *what), hidden, FORMAT_PATIENCE))


def mount(client: Client, system: FileSystem, target: Path, log: Path, options: Sequence[str]) -> None:
    """Mount at *target*, in processes that outlive ours."""
    target.mkdir(parents=True, exist_ok=True)
    arguments = (
        "mount", f"--log={log}", "--background", "--no-syslog", "--no-usage-report", "--backup-meta=0",
        # The files of its own in the root would be listed, copied and deleted along with the user's.
        "--hide-internal", *options, system.metaurl, str(target),
    )  # fmt: skip
    client.carry_out(Call(arguments, system.password, MOUNT_PATIENCE))
    if not alive(target):
        raise Failed(f"juicefs mount ended well, but nothing is mounted at {target}")


def mounted(target: Path) -> bool:
    """Whether the kernel has a mount there, dead or alive."""
    place = os.fsencode(os.path.realpath(target.parent) + "/" + target.name)
    escaped = place.replace(b"\\", b"\\134").replace(b" ", b"\\040").replace(b"\t", b"\\011")
    lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    return any(line.split(b" ")[4] == escaped.replace(b"\n", b"\\012") for line in lines)


def alive(target: Path) -> bool:
    """Whether a file system answers there."""
    try:
        return mounted(target) and os.stat(target).st_ino == ROOT_INODE
    except OSError:
        return False


def unmount(client: Client, target: Path, patience: float = 1.0) -> None:
    """Nothing is mounted at *target* afterwards. What fails is tried again for *patience* seconds."""
    until = time.monotonic() + patience
    while mounted(target):
        try:
            client.carry_out(Call(("umount", "--force", str(target)), patience=UNMOUNT_PATIENCE))
        except Cancelled:
            raise
        except Failed:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
