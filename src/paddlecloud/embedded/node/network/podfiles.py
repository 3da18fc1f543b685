"""The files by which programs in a pod find others: resolv.conf and hosts; pure but for `write`.

`dnsPolicy` and `dnsConfig` mean what they mean on Kubernetes. The files lie in the pod's folder and are
mounted from there, so they are written before its first container and never replaced, only rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....api.core import Pod
from .names import DOMAIN

NDOTS = "ndots:5"
MOST_SERVERS = 3
HOSTS = """\
# Made by PaddleCloud for this pod.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
"""


@dataclass(frozen=True)
class Resolution:
    """How names are looked up: the lines of a resolv.conf."""

    servers: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def text(self) -> str:
        lines = [f"nameserver {server}" for server in self.servers[:MOST_SERVERS]]
        lines += [f"search {' '.join(self.search)}"] if self.search else []
        lines += [f"options {' '.join(self.options)}"] if self.options else []
        return "".join(line + "\n" for line in lines)


def read(text: str) -> Resolution:
    """The resolv.conf *text* of the machine; of several search lines the last one counts."""
    servers: list[str] = []
    search: tuple[str, ...] = ()
    options: list[str] = []
    for words in (line.split() for line in text.splitlines()):
        match words:
            case ["nameserver", server, *_]:
                servers.append(server)
            case ["search" | "domain", *domains]:
                search = tuple(domains)
            case ["options", *found]:
                options += found
    return Resolution(tuple(servers), search, tuple(options))


def resolution(pod: Pod, cluster: str, machine: Resolution, domain: str = DOMAIN) -> Resolution:
    """How *pod* looks up names: *cluster* is the address of the cluster's DNS, empty where there is none."""
    policy = pod.spec.get("dnsPolicy") or "ClusterFirst"
    on_host = pod.spec.get("hostNetwork") and policy != "ClusterFirstWithHostNet"
    if policy == "None":
        first = Resolution()
    elif policy == "Default" or on_host or not cluster:
        first = machine
    else:
        ours = (f"{pod.namespace}.svc.{domain}", f"svc.{domain}", domain)
        first = Resolution((cluster,), unique((*ours, *machine.search)), (NDOTS,))
    return configured(first, pod.spec.get("dnsConfig") or {})


def configured(first: Resolution, config: Mapping[str, Any]) -> Resolution:
    """What `dnsConfig` adds; an option given twice has its last value."""
    options = {option.partition(":")[0]: option for option in first.options}
    for option in config.get("options") or ():
        name, value = str(option["name"]), option.get("value")
        options[name] = f"{name}:{value}" if value not in (None, "") else name
    return Resolution(
        unique((*first.servers, *(config.get("nameservers") or ()))),
        unique((*first.search, *(config.get("searches") or ()))),
        tuple(options.values()),
    )


def hosts(pod: Pod, address: str, domain: str = DOMAIN) -> str:
    """The pod's own name at its own address, and the aliases it asks for."""
    host = str(pod.spec.get("hostname") or pod.name)
    below = pod.spec.get("subdomain")
    names = [f"{host}.{below}.{pod.namespace}.svc.{domain}", host] if below else [host]
    text = HOSTS + (line(address, names) if address else "")
    for alias in pod.spec.get("hostAliases") or ():
        text += line(alias["ip"], alias.get("hostnames") or ())
    return text


def line(address: str, names: Iterable[str]) -> str:
    return "\t".join([address, *names]) + "\n"


def variables(found: Resolution) -> dict[str, str]:
    """The same for programs that see the machine's resolv.conf: glibc lets these override it."""
    said = {"LOCALDOMAIN": " ".join(found.search), "RES_OPTIONS": " ".join(found.options)}
    return {name: text for name, text in said.items() if text}


def unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(word) for word in words))


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Put *files* into `etc` of the pod's folder, in place: running containers have them mounted."""
    etc = folder / "etc"
    etc.mkdir(exist_ok=True)
    for name, text in files.items():
        path = etc / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            path.chmod(0o644)
