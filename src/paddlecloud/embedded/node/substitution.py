"""Text rules for a container without mounts: paths of volumes become real folders, `$(VAR)` its value.

Only whole path components count: with a volume at /mnt/data neither /mnt/database nor /x/mnt/data changes.
A text is gone over once, longest path first, so what was put in is never replaced again.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

from .obstacles import VolumeMissing

# What may stand before a path that is not part of it: anything but a piece of a longer path; the
# slashes of `file://` are none.
BEFORE = r"(?:(?<![\w./~%+\-})])|(?<=://))"
AFTER = r"(?![\w.~@%+\-])"
REFERENCE = re.compile(r"\$\$|\$\(([^()$]+)\)")


class Paths:
    """The paths of one container and the real folders or files that stand for them."""

    def __init__(self, real: Mapping[str, Path]) -> None:
        self._real = {posixpath.normpath(path): str(place) for path, place in real.items()}
        longest_first = sorted(self._real, key=len, reverse=True)
        alternatives = "|".join(re.escape(path) for path in longest_first)
        self._pattern = re.compile(f"{BEFORE}(?:{alternatives}){AFTER}") if longest_first else None

    def apply(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._real[found.group()], text)


def checked_mount_path(path: str) -> str:
    """*path* as a kubelet reads it: from the root whatever it begins with; raises `VolumeMissing` for `/`."""
    normal = posixpath.normpath("/" + path.strip("/"))
    if normal == "/":
        raise VolumeMissing(
            f"mountPath {path} would hide the whole file system", next_step="mount at a folder below /"
        )
    return normal


def expand(text: str, variables: Mapping[str, str]) -> str:
    """`$(NAME)` replaced by its value as Kubernetes does: unknown names stay, `$$` is a dollar."""

    def value(found: re.Match[str]) -> str:
        name = found.group(1)
        return "$" if name is None else variables.get(name, found.group())

    return REFERENCE.sub(value, text)
