"""The root of a container: the machine's files and the image's layers below, the container's writes above.

    plan["root"]     "overlay": one overlay over /; "folders": one for each folder of /, if that is refused
    plan["layers"]   folders of the image, the first in front; plan["host"]: the machine's files below them
    plan["hidden"]   folders that are empty inside, whatever the machine has there
    plan["mounts"]   see `sources`; plan["readOnly"], plan["privileged"]

`enter` runs in the container's first process, in a mount namespace of its own with the attempt's folder as
current one. Sources are opened before the root changes and put in place afterwards, so that no path of the
container leads to the machine. The mounts die with the namespace; on disk remain `upper` and `work` in the
attempt's folder. Only the standard library.
"""

from __future__ import annotations

import errno
import os

from . import kernel, sources, surroundings
from .tree import Layer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARKS = {"overlay": "trusted.overlay.opaque", "folders": "user.overlay.opaque"}
ANEW = ("/proc", "/sys", "/dev")
UPPER, WORK, ROOT, IMAGE, EMPTY = "upper", "work", "root", "image", "empty"


def enter(plan: dict[str, Any]) -> None:
    """Build the root that *plan* describes and go there."""
    kernel.mount("none", "/", flags=kernel.REC | kernel.SLAVE)
    for folder in (UPPER, WORK, ROOT):
        os.makedirs(folder, mode=0o755, exist_ok=True)
    os.chmod(UPPER, 0o755)
    opened = sources.opened(plan["mounts"])
    devices = surroundings.opened_devices(bool(plan.get("privileged")))
    below = surroundings.opened_folders(plan["hidden"]) if plan["host"] else []
    layer = Layer(UPPER, plan["layers"], "" if plan["host"] else None, MARKS[plan["root"]])
    furnish(layer, plan, [*below, *opened])
    if plan["root"] == "overlay":
        mount_whole(plan)
    else:
        mount_folders(plan)
    if plan.get("readOnly"):
        # Before anything else is mounted there: volumes and devices keep their own ways.
        kernel.make_read_only(os.open(ROOT, os.O_PATH | os.O_CLOEXEC))
    # Only who sees the machine's own tables may mount new ones, so this comes before the root changes.
    surroundings.mount_tables(ROOT)
    kernel.change_root(ROOT)
    if not plan.get("privileged"):
        surroundings.close_switches()
    surroundings.mount_dev(devices, int(plan.get("shm") or 0))
    for source in [*below, *sorted(opened, key=lambda source: source.target.count("/"))]:
        source.put()


def furnish(layer: Layer, plan: dict[str, Any], mounts: list[sources.Source]) -> None:
    for path in ANEW:
        layer.folder(path)
    for path in plan["hidden"]:
        layer.hide(path, 0o1777 if path.endswith("/tmp") else 0o755)
    for source in sorted(mounts, key=lambda source: source.target.count("/")):
        # What lies below another mount or in /dev is made when that is there.
        if not any(below(source.target, place) for place in (*ANEW, *(other.target for other in mounts))):
            source.target = layer.point(source.target, source.folder)


def below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def mount_whole(plan: dict[str, Any]) -> None:
    lower = "/" if plan["host"] else ""
    if plan["layers"]:
        # A layer beside an ancestor of its own is refused; a mount of its own is not beside it.
        nested = bool(plan["host"])
        opened = [os.open(layer, os.O_PATH | os.O_CLOEXEC) for layer in plan["layers"]]
        listed = [f"/proc/self/fd/{fd}" for fd in opened]
        if nested:
            for folder in (IMAGE, EMPTY):
                os.makedirs(folder, exist_ok=True)
            options = f"lowerdir={':'.join([*listed, EMPTY])}"
            kernel.mount("overlay", IMAGE, "overlay", kernel.RDONLY, options)
            lower = f"{IMAGE}:/"
        else:
            lower = ":".join(listed)
    overlay(ROOT, lower, UPPER, WORK)
    if plan["layers"] and plan["host"]:
        kernel.unmount(IMAGE)


def mount_folders(plan: dict[str, Any]) -> None:
    """The upper layer as root, and over each of its folders the machine's and the image's."""
    kernel.mount(UPPER, ROOT, flags=kernel.BIND)
    lowers = [*plan["layers"], *(["/"] if plan["host"] else [])]
    mounted = surroundings.mount_points()
    for name in sorted({name for lower in lowers for name in os.listdir(lower)}):
        path = "/" + name
        if path in ANEW or path in plan["hidden"]:
            continue
        stack = [place for lower in lowers if os.path.lexists(place := os.path.join(lower, name))]
        if not stack:
            continue  # gone since the folder was listed: others may change the machine's root meanwhile
        if os.path.islink(stack[0]):
            if not os.path.lexists(UPPER + path):
                follow(stack[0], UPPER + path)
        elif os.path.isdir(stack[0]):
            cover(path, [place for place in stack if os.path.isdir(place)], mounted)


def follow(link: str, path: str) -> None:
    """The same link at *path*, if it is still there."""
    try:
        os.symlink(os.readlink(link), path)
    except FileNotFoundError:
        return


def cover(path: str, stack: list[str], mounted: list[str]) -> None:
    """Show the folders *stack* at *path*, writable where the user may write."""
    os.makedirs(UPPER + path, exist_ok=True)
    readable = [folder for folder in stack if os.access(folder, os.R_OK | os.X_OK)]
    if not readable:
        return
    if not any(below(point, path) or point == path for point in mounted):
        work = WORK + path
        os.makedirs(work, exist_ok=True)
        lower = ":".join(f"/proc/self/fd/{os.open(f, os.O_PATH | os.O_CLOEXEC)}" for f in readable)
        overlay(ROOT + path, lower, UPPER + path, work, ",userxattr")
        return
    # Folders with mounts below cannot be lower layers here: their children are shown one by one.
    for entry in os.scandir(readable[-1]):
        child = os.path.join(path, entry.name)
        if os.path.lexists(UPPER + child) and (entry.is_symlink() or not os.path.isdir(UPPER + child)):
            continue
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), UPPER + child)
        elif entry.is_dir() and (os.path.isdir(UPPER + child) or any(below(p, child) for p in mounted)):
            cover(child, [entry.path], mounted)
        else:
            show(entry.path, child, entry.is_dir())


def show(source: str, path: str, folder: bool) -> None:
    """What lies at *source*, read-only at *path*; what may not be opened is left out."""
    try:
        tree = kernel.clone_tree(os.open(source, os.O_PATH | os.O_CLOEXEC))
    except OSError:
        return
    if folder:
        os.makedirs(UPPER + path, exist_ok=True)
    else:
        os.close(os.open(UPPER + path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    kernel.make_read_only(tree)
    kernel.attach(tree, ROOT + path)
    os.close(tree)


def overlay(target: str, lower: str, upper: str, work: str, more: str = "") -> None:
    options = f"lowerdir={lower},upperdir={upper},workdir={work}{more}"
    try:
        kernel.mount("overlay", target, "overlay", 0, options + ",volatile")
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        # Kernels before 5.10 sync a layer that nobody will read again.
        kernel.mount("overlay", target, "overlay", 0, options)
