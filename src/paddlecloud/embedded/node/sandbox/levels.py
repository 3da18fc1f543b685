"""How far this machine lets pods be kept apart: file system, network and limits, each on its own.

Found out once a boot by trying (`probing`), kept in `levels.json`, and told in words: what holds, what it
cannot do, and how to get more. Whoever wants less says so with the setting `isolation`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ....errors import Failed, WrongUse

FILE = "levels.json"
WISHES = ("auto", "namespaces", "plain")
NETWORKS = ("auto", "routed", "loopback")


@dataclass(frozen=True)
class Levels:
    filesystem: str = "plain"
    """`overlay`: one over all of /; `folders`: one for each folder of it; `plain`: the machine's files."""
    user_namespace: bool = False
    """What pods need is done in a user namespace of ours instead of as root."""
    network: str = "shared"
    """`namespaces`: a pod may have interfaces of its own; `notify`: its calls can be seen; `shared`."""
    limits: str = "polling"
    """`cgroup1`, `cgroup2`, or `polling`: the kernel does not help."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Our own control groups, by controller: those of pods are made below them."""
    why_not: Mapping[str, str] = field(default_factory=dict)
    """For each of the three what spoke against more, in the machine's words."""


def kept(path: Path) -> Levels | None:
    """The levels that were found last, whoever and whenever."""
    try:
        known = json.loads(path.read_bytes())
        return Levels(**{name: known[name] for name in Levels.__dataclass_fields__})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read(text: str, boot: str, wish: str, user: int) -> Levels | None:
    """The levels kept in *text*, if they were found by this user in this boot under the same wish."""
    try:
        kept = json.loads(text)
        if (kept.pop("boot"), kept.pop("wish"), kept.pop("user")) != (boot, wish, user):
            return None
        return Levels(**kept)
    except (ValueError, KeyError, TypeError):
        return None


def write(path: Path, levels: Levels, boot: str, wish: str, user: int) -> None:
    new = path.with_name(path.name + ".new")
    text = json.dumps({**asdict(levels), "boot": boot, "wish": wish, "user": user}, indent=2)
    with os.fdopen(os.open(new, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    new.rename(path)


def decided(probed: Mapping[str, Any], wish: str, wanted: str = "auto") -> Levels:
    """The levels that *wish* and what was *probed* allow; see `probing.probe` for its words.

    *wanted* is the network; raises `Failed` when it is to be routed and cannot be.
    """
    if wish not in WISHES:
        raise WrongUse(f"isolation {wish!r} is not known", next_step=f"use one of {', '.join(WISHES)}")
    if wanted not in NETWORKS:
        raise WrongUse(f"network {wanted!r} is not known", next_step=f"use one of {', '.join(NETWORKS)}")
    tried: Mapping[str, str] = probed["filesystem"]
    allowed = {"auto": ("overlay", "folders", "user folders"), "namespaces": ("user folders",)}
    filesystem = next((kind for kind in allowed.get(wish, ()) if not tried.get(kind, "not tried")), "plain")
    user = filesystem.startswith("user ")
    network = "shared"
    if not probed["network"]["notify"]:
        network = "notify"
    against = probed["network"]["user veth" if user else "veth"]
    if filesystem == "plain":
        against = against or "pods are plain processes"
    if not against and wanted != "loopback":
        network = "namespaces"
    if against and wanted == "routed":
        raise Failed(
            f"pods cannot have a network of their own here: {against}",
            next_step="unset PADDLECLOUD_NETWORK, or run as root or where user namespaces are allowed",
        )
    limits = probed["limits"]["kind"] if wish != "plain" else ""
    refused = "; ".join(f"{kind}: {why}" for kind, why in tried.items() if why)
    why_not = {
        "filesystem": "asked for" if wish == "plain" else refused,
        "network": "asked for" if wanted == "loopback" else against,
        "limits": "asked for" if wish == "plain" else probed["limits"]["why"],
    }
    groups = probed["limits"]["folders"] if limits else {}
    return Levels(filesystem.removeprefix("user "), user, network, limits or "polling", groups, why_not)


def words(levels: Levels) -> dict[str, str]:
    """One line for each of the three: what holds, what cannot be done, how to get more."""
    return {
        "filesystem": filesystem_words(levels),
        "network": network_words(levels),
        "limits": limits_words(levels),
    }


def filesystem_words(levels: Levels) -> str:
    why = levels.why_not.get("filesystem", "")
    if levels.filesystem == "plain":
        more = (
            "unset PADDLECLOUD_ISOLATION for more" if why == "asked for"
            else f"for more run as root, or allow user namespaces and overlay mounts here ({why})"
        )  # fmt: skip
        return (
            "plain processes: volume paths are links or substituted, pods see the machine's files and "
            f"processes, runAsUser is not possible; {more}"
        )
    if levels.user_namespace:
        return (
            "own root, processes and host name a pod, in a user namespace: files of the machine that belong "
            "to others cannot be changed inside, one user and group a pod; for more run as root"
        )
    return "own root, processes and host name a pod"


def network_words(levels: Levels) -> str:
    if levels.network == "namespaces":
        from_here = (
            "programs on this machine reach Services by NodePort or `pdc port-forward` only; "
            "for more run as root"
            if levels.user_namespace
            else "pods and Services answer to programs on this machine, too"
        )
        return (
            "routed: own interfaces and address a pod; the node makes its connections to the world outside, "
            f"datagrams and pings stay on the machine; {from_here}"
        )
    why = levels.why_not.get("network", "")
    more = (
        "unset PADDLECLOUD_NETWORK for more" if why == "asked for"
        else f"for networks of their own run as root, or allow user namespaces here ({why})"
    )  # fmt: skip
    if levels.network == "notify":
        return (
            "loopback: one 127.x.y.z a pod on the machine's network; what a program binds to all addresses "
            "or to localhost is bound to it. setuid programs gain nothing inside, and pods can reach each "
            f"other's ports and the machine's; {more}"
        )
    return (
        "loopback: one 127.x.y.z a pod on the machine's network, which programs must bind to by themselves: "
        "two pods cannot both listen on 0.0.0.0 at one port; for more use a kernel that passes system calls "
        f"on (seccomp user notification); {more}"
    )


def limits_words(levels: Levels) -> str:
    if levels.limits != "polling":
        return f"memory, cpu and processes by {levels.limits}"
    why = levels.why_not.get("limits", "") or "no cgroup may be made"
    return (
        f"memory is looked at twice a second, cpu and processes are not limited ({why}); "
        "for more start with `systemd-run --user --scope -p Delegate=yes pdc up` or as root"
    )
