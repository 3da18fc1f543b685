"""The Python packages of a suite, as they will lie in its image: importable from one folder.

They are put on `PYTHONPATH` instead of into the interpreter's own folder, so that they fit any base that has
the same Python.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from .items import Item, Items, gathered

PLACE = "opt/paddlecloud"
PACKAGES, PROGRAMS = f"{PLACE}/site-packages", f"{PLACE}/bin"
# They belong to the environment as a folder of this machine, not to its packages.
OWN = re.compile(r"(activate.*|deactivate.*|python[0-9.]*|pydoc\.bat|.*\.(csh|fish|nu|ps1|bat|xsh))")
REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")


def of_environment(folder: Path) -> Items:
    """The packages of a virtual environment and their programs, cut loose from where it lies."""
    items: Items = {}
    for library in sorted((folder / "lib").glob("python*/site-packages")):
        items |= gathered(library, PACKAGES)
    for program in sorted((folder / "bin").iterdir()):
        if program.is_file() and not OWN.fullmatch(program.name):
            items[f"{PROGRAMS}/{program.name}"] = moved(program)
    return {
        path: item
        for path, item in items.items()
        if not path.endswith(("/_virtualenv.py", "/_virtualenv.pth"))
    }


def moved(program: Path) -> Item:
    """A program whose first line named the environment's interpreter asks for Python on the PATH instead."""
    content = program.read_bytes()
    if not content.startswith(b"#!"):
        return Item(program, mode=0o755)
    first, _, rest = content.partition(b"\n")
    body = rest if b"python" in first else content
    if first == b"#!/bin/sh" and b"python" in rest[:200]:
        # A path that is too long for a first line is called through the shell.
        body = rest.partition(b"\n' '''\n")[2] or rest
    elif b"python" not in first:
        return Item(content=content, mode=0o755)
    return Item(content=b"#!/usr/bin/env python3\n" + body, mode=0o755)


def of_paddlecloud(package: Path, shipped: dict[str, Path]) -> Items:
    """Our own package, and what a wheel of it carries."""
    items = gathered(package, f"{PACKAGES}/paddlecloud")
    for name, folder in shipped.items():
        items |= gathered(folder, f"{PACKAGES}/paddlecloud/_shipped/{name}")
    return items


def of_distribution(name: str) -> Items:
    """All that *name* needs of the packages around us, without itself."""
    items: Items = {}
    for found in needed(name):
        for file in found.files or ():
            path = Path(str(found.locate_file(file)))
            inside = file.as_posix()
            if path.is_file() and not inside.startswith("../") and not inside.endswith(".pyc"):
                items[f"{PACKAGES}/{inside}"] = Item(
                    path, mode=0o755 if path.stat().st_mode & 0o100 else 0o644
                )
    return items


def needed(name: str) -> list[metadata.Distribution]:
    found: dict[str, metadata.Distribution] = {}
    ahead = wanted(metadata.distribution(name))
    while ahead:
        key = re.sub(r"[-_.]+", "-", ahead.pop()).lower()
        if key in found:
            continue
        try:
            found[key] = metadata.distribution(key)
        except metadata.PackageNotFoundError:
            # Wanted on another system or Python only.
            continue
        ahead += wanted(found[key])
    return [found[key] for key in sorted(found)]


def wanted(distribution: metadata.Distribution) -> list[str]:
    """The names it requires; extras are not."""
    lines = [line for line in distribution.requires or () if "extra ==" not in line]
    return [match[0] for line in lines if (match := REQUIREMENT.match(line))]
