"""What every container finds besides its own files: processes, devices, the kernel's tables.

/proc, /sys and /dev are made anew, so that a container sees its own processes and few devices; the kernel's
switches are read-only. Folders of the machine that are mounts of their own are not part of an overlay over /
and are shown read-only. Only the standard library.
"""

from __future__ import annotations

import os

from . import kernel
from .sources import Source, of_descriptor

QUIET = kernel.NOSUID | kernel.NODEV | kernel.NOEXEC
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "fuse")
ACCELERATORS = ("nvidia", "dri", "kfd", "accel")
SWITCHES = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
SECRETS = ("/proc/kcore", "/proc/keys", "/proc/timer_list")
PROGRAMS = ("/usr", "/opt", "/etc", "/nix", "/lib", "/lib64", "/bin", "/sbin", "/srv")
"""Where mounts of the machine carry programs; data that is mounted elsewhere is for `hostPath`."""
SHARED_MEMORY = 64 << 20


def opened_devices(every: bool) -> list[tuple[str, int]]:
    if every:
        return [("", kernel.clone_tree(os.open("/dev", os.O_PATH | os.O_CLOEXEC)))]
    names = [*DEVICES, *(name for name in os.listdir("/dev") if name.startswith(ACCELERATORS))]
    found = []
    for name in names:
        try:
            fd = os.open(f"/dev/{name}", os.O_PATH | os.O_CLOEXEC)
            found.append((name, kernel.clone_tree(fd)))
            os.close(fd)
        except OSError:
            # Not every machine has each of them.
            continue
    return found


def opened_folders(hidden: list[str]) -> list[Source]:
    found = []
    for path in carried(mount_points(), hidden):
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_DIRECTORY)
        except OSError:
            continue
        found.append(of_descriptor(fd, path, read_only=True))
        os.close(fd)
    return found


def carried(points: list[str], hidden: list[str]) -> list[str]:
    """Those mounts of the machine that a container sees too, outermost only: the others come with them."""
    result: list[str] = []
    for point in sorted(set(points)):
        wanted = any(point == folder or point.startswith(folder + "/") for folder in PROGRAMS)
        covered = any(point == folder or point.startswith(folder + "/") for folder in (*hidden, *result))
        if wanted and not covered:
            result.append(point)
    return result


def mount_points() -> list[str]:
    with open("/proc/self/mountinfo", "rb") as file:
        return [os.fsdecode(unescaped(line.split()[4])) for line in file]


def unescaped(text: bytes) -> bytes:
    for code, char in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
        text = text.replace(code, char)
    return text


def mount_tables(root: str) -> None:
    """/proc and /sys of the container below *root*."""
    for kind, name, flags in (("proc", "proc", QUIET), ("sysfs", "sys", QUIET | kernel.RDONLY)):
        # A link of the image here would lead to the machine's own folder.
        place = os.open(f"{root}/{name}", os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY)
        try:
            kernel.mount(kind, f"/proc/self/fd/{place}", kind, flags)
        except PermissionError:
            # Who does not own the network, or sees only part of /proc, gets no view of its own.
            show_tables(f"/{name}", f"/proc/self/fd/{place}")
        os.close(place)


def show_tables(path: str, target: str) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    tree = kernel.clone_tree(fd)
    if path == "/sys":
        kernel.make_read_only(tree)
    kernel.attach(tree, target)
    os.close(tree)
    os.close(fd)


def close_switches() -> None:
    """No writing to what changes the whole machine."""
    for path in SWITCHES:
        if os.path.exists(path):
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            tree = kernel.clone_tree(fd)
            kernel.make_read_only(tree)
            kernel.attach(tree, path)
            os.close(tree)
            os.close(fd)


def mount_dev(devices: list[tuple[str, int]], shared_memory: int) -> None:
    if devices and devices[0][0] == "":
        kernel.attach(devices[0][1], "/dev")
        return
    kernel.mount("tmpfs", "/dev", "tmpfs", kernel.NOSUID, "mode=755,size=64k")
    for name, tree in devices:
        path = f"/dev/{name}"
        if os.path.isdir(f"/proc/self/fd/{tree}"):
            os.mkdir(path)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o666))
        kernel.attach(tree, path)
        os.close(tree)
    for path in SECRETS:
        if os.path.exists(path):
            kernel.mount("/dev/null", path, flags=kernel.BIND)
    os.mkdir("/dev/pts")
    kernel.mount("devpts", "/dev/pts", "devpts", kernel.NOSUID | kernel.NOEXEC, terminals())
    os.mkdir("/dev/shm")
    memory = f"mode=1777,size={shared_memory or SHARED_MEMORY}"
    kernel.mount("shm", "/dev/shm", "tmpfs", QUIET, memory)
    os.mkdir("/dev/mqueue")
    for name, target in (
        ("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2"),
    ):  # fmt: skip
        os.symlink(target, f"/dev/{name}")


def terminals() -> str:
    """The group of terminals is `tty`, where groups have names at all."""
    with open("/proc/self/gid_map", encoding="utf-8") as file:
        everyone = file.read().split()[-1] == "4294967295"
    return "newinstance,ptmxmode=0666,mode=620" + (",gid=5" if everyone else "")
