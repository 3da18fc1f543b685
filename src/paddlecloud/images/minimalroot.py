"""The smallest root that Python runs in, made from this machine: what a suite's image stands on by itself.

The interpreter at /usr/local, its standard library, a shell, `env`, certificates, and the libraries all of
them and the suite's own packages ask for, at the paths where the loader looks. No package manager, no other
program.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from .elf import closure
from .items import Item, Items, gathered, of_file

PROGRAMS = ("/bin/sh", "/bin/sleep", "/usr/bin/env")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
# The C library looks these up by name at run time; nothing links to them.
LATE = ("libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2", "libgcc_s.so.1")
FALLBACK = ("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib")
NOT_NEEDED = (
    "test",
    "idlelib",
    "lib2to3",
    "turtledemo",
    "ensurepip",
    "site-packages",
    "dist-packages",
    "tkinter",
)
LIBRARIES = "usr/local/lib"
TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}


def python_name() -> str:
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


def root(beside: Iterable[Path]) -> Items:
    """Everything of the base; *beside* are the suite's own files, whose libraries must be there too."""
    name = python_name()
    program, library = Path(os.path.realpath(sys.executable)), Path(sysconfig.get_path("stdlib"))
    inside = f"{LIBRARIES}/{name}/"
    standard = {
        path: item
        for path, item in gathered(library, inside).items()
        if path.removeprefix(inside).partition("/")[0] not in NOT_NEEDED
    }
    programs = {
        p.lstrip("/"): Item(Path(os.path.realpath(p)), mode=0o755) for p in PROGRAMS if os.path.exists(p)
    }
    extensions = [item.source for item in standard.values() if item.source and ".so" in item.source.name]
    asking = [program, *extensions, *(Path(os.path.realpath(p)) for p in PROGRAMS), *beside]
    items = {
        **standard,
        **programs,
        **libraries(asking),
        **{path: Item(content=text.encode()) for path, text in TEXTS.items()},
        f"usr/local/bin/{name}": Item(program, mode=0o755),
        "usr/local/bin/python3": Item(link=name),
        "usr/local/bin/python": Item(link=name),
        "tmp": Item(folder=True, mode=0o1777),
        "root": Item(folder=True, mode=0o700),
    }
    if CERTIFICATES.is_file():
        items[str(CERTIFICATES).lstrip("/")] = of_file(CERTIFICATES.resolve())
    return items


def libraries(asking: Iterable[Path]) -> Items:
    system = system_folders()
    late = [folder / name for name in LATE for folder in system if (folder / name).is_file()]
    found = closure([*asking, *late], system) | set(late)
    # Those of a package lie beside its modules and go with it; a private interpreter's go to LIBRARIES.
    return {
        (
            str(path).lstrip("/") if path.parent in system or is_loader(path) else f"{LIBRARIES}/{path.name}"
        ): Item(path.resolve(), mode=0o755)
        for path in sorted(found)
        if "site-packages" not in path.parts
    }


def is_loader(path: Path) -> bool:
    return path.name.startswith("ld-")


def system_folders() -> list[Path]:
    triplet = sysconfig.get_config_var("MULTIARCH") or ""
    named = [f"{folder}/{triplet}" for folder in ("/lib", "/usr/lib") if triplet]
    return [Path(folder) for folder in (*named, *FALLBACK) if os.path.isdir(folder)]
