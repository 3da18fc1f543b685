"""The options of a volume as arguments of the client; what they are is `api/mountoptions`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...api.mountoptions import SWITCHES

FLAGS = {"sub-dir": "subdir"}
"""Where the client calls an option by another name."""
MEMORY = "/dev/shm"
ANY_PORT = "127.0.0.1:0"


def arguments(options: Mapping[str, str | bool], cache: Iterable[str]) -> list[str]:
    """The options as arguments of the client, with *cache* as the folders of the cache."""
    said = {"metrics": ANY_PORT, **options, "cache-dir": ":".join(cache)}
    found = []
    for option, value in sorted(said.items()):
        flag = f"--{FLAGS.get(option, option)}"
        if option in SWITCHES:
            found += [flag] if value else []
        else:
            found.append(f"{flag}={value}")
    return found
