"""The options of a JuiceFS mount as one text, `a=1,b`, as a PersistentVolume carries them; pure, both ways.

What `joined` writes `parsed` reads, and only options in `OPTIONS` are ever in it: the text comes from an
object that others may edit, and becomes arguments of a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from ..errors import WrongUse

NUMBERS = (
    "attr-cache", "entry-cache", "dir-entry-cache", "get-timeout", "put-timeout", "io-retries", "max-uploads",
    "buffer-size", "prefetch", "cache-size", "open-cache",
)  # fmt: skip
SWITCHES = ("enable-xattr", "writeback", "cache-partial-only")
TEXTS = ("metrics", "cache-dir", "free-space-ratio", "sub-dir")
OPTIONS = frozenset((*NUMBERS, *SWITCHES, *TEXTS))


def joined(asked: Mapping[str, Any], cache: Iterable[str]) -> str:
    """The text of the options *asked* with *cache* as the folders of the cache; what is empty is left out.

    Raises `WrongUse` for what no mount could be made with.
    """
    for option in asked:
        if option not in OPTIONS:
            raise unknown(option)
    said = {option: value for option, value in asked.items() if value not in (None, "", 0, False)}
    ratio_in_bounds(said.get("free-space-ratio"))
    said["cache-dir"] = ":".join(dict.fromkeys(whole(path) for path in cache))
    return ",".join(written(option, said[option]) for option in sorted(said))


def written(option: str, value: Any) -> str:
    """One option; raises `WrongUse` for a value that would not be read as it was written."""
    if option in SWITCHES:
        if value is not True:
            raise WrongUse(f"the mount option {option} is true or false, not {value!r}")
        return option
    if option in NUMBERS and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise WrongUse(f"the mount option {option} is a whole number, not {value!r}")
    text = str(value)
    if re.search(r"[,\s\x00]", text):
        raise WrongUse(
            f"the mount option {option} has a comma or a space in {text!r}",
            next_step="options are joined with commas; choose a path without",
        )
    return f"{option}={text}"


def parsed(text: str) -> dict[str, str | bool]:
    """The options in *text*, each once, the last one counts. Raises `WrongUse` for one that is not known."""
    found: dict[str, str | bool] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        option, equals, value = part.partition("=")
        if option not in OPTIONS:
            raise unknown(option)
        if option in SWITCHES and equals and value not in ("true", "false"):
            raise WrongUse(f"the mount option {option} has no value, and was given {value!r}")
        if option not in SWITCHES and not value:
            raise WrongUse(f"the mount option {option} needs a value", next_step=f"write {option}=…")
        if option in NUMBERS and not value.isdecimal():
            raise WrongUse(f"the mount option {option} is a whole number, not {value!r}")
        found[option] = value != "false" if option in SWITCHES else value
    ratio_in_bounds(found.get("free-space-ratio"))
    for path in cache_dirs(found):
        whole(path)
    return found


def cache_dirs(options: Mapping[str, str | bool]) -> list[str]:
    """The folders of the cache, as the cluster names them."""
    return [path for path in str(options.get("cache-dir") or "").split(":") if path]


def ratio_in_bounds(said: object) -> None:
    if said is None:
        return
    try:
        fits = 0.0 <= float(str(said)) < 1.0
    except ValueError:
        fits = False
    if not fits:
        raise WrongUse(f"the mount option free-space-ratio is at least 0 and less than 1, not {said!r}")


def whole(path: str) -> str:
    """*path*, if it is absolute and leads nowhere else."""
    pure = PurePosixPath(path)
    if not pure.is_absolute() or ".." in pure.parts or pure == PurePosixPath("/"):
        raise WrongUse(
            f"the cache folder {path!r} is not an absolute path without `..`",
            next_step="write the folder of the node that may hold the cache",
        )
    return str(pure)


def unknown(option: str) -> WrongUse:
    return WrongUse(
        f"the mount option {option!r} is not known", next_step=f"use {', '.join(sorted(OPTIONS))}"
    )
