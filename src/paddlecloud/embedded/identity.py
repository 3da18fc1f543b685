"""What one embedded cluster chose at its first start and keeps: ports, address block, nodes, tokens.

A client's kubeconfig, the addresses of services and the names of nodes must survive a restart.
"""

from __future__ import annotations

import base64
import json
import secrets
import signal
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import yaml

from ..cluster.kubeconfig import runs
from ..errors import Failed
from ..settings import Home
from . import ranges
from .node.procfs import stat_fields
from .ranges import Ranges, on_loopback

# Blocks of 127.0.0.0/8: pods in 127.B, services in 127.(B+1); low ones are used by resolvers and the like.
BLOCKS = range(64, 250, 2)
LEAVE = signal.SIGUSR1
"""What tells a supervisor to end and leave the pods to the next one."""
# The processes; what each may do is in its roles. The owner has a certificate.
IDENTITIES = {
    "controllers": ("system:paddlecloud:controllers", ["system:authenticated"]),
    "node": ("system:paddlecloud:node", ["system:nodes", "system:authenticated"]),
    "gateway": ("system:paddlecloud:gateway", ["system:authenticated"]),
}


@dataclass(frozen=True)
class Identity:
    api_port: int
    gateway_port: int
    block: int
    nodes: int = 1
    pod_range: str = ""
    service_range: str = ""
    """Chosen when pods get a network of their own for the first time, and kept."""
    routed: bool = False
    """Whether they have one now."""
    pipelines_port: int = 0
    """Of the pipelines service; a home of before has none yet."""
    pipelines_pods_port: int = 0
    """Where the same service answers pods, which show a token."""

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self.api_port}"

    @property
    def gateway(self) -> str:
        return f"http://127.0.0.1:{self.gateway_port}"

    @property
    def pipelines(self) -> str:
        return f"http://127.0.0.1:{self.pipelines_port}"

    @property
    def ranges(self) -> Ranges:
        """Where the addresses of pods and Services come from."""
        return self.chosen_ranges if self.routed and self.chosen_ranges else on_loopback(self.block)

    @property
    def chosen_ranges(self) -> Ranges | None:
        """Those of a network of the pods' own, once it had one."""
        return ranges.read(self.pod_range, self.service_range) if self.pod_range else None

    @property
    def node_names(self) -> tuple[str, ...]:
        return tuple(f"node-{i}" for i in range(self.nodes))


def known(home: Home) -> Identity | None:
    """The identity of a home that was started before."""
    if not home.state.exists():
        return None
    try:
        return Identity(**json.loads(home.state.read_text()))
    except (ValueError, TypeError) as error:
        raise Failed(
            f"{home.state} is damaged: {error}",
            next_step="move it away: the next start chooses new ports and writes a new kubeconfig",
        ) from error


def establish(home: Home, *, port: int = 0, nodes: int = 0, routed: Ranges | None = None) -> Identity:
    """Choose what is not chosen yet, make the keys and write the kubeconfigs.

    *routed* are the ranges of a network of the pods' own; without, they are on loopback.
    """
    # Every command reads identities; only a start pays for the import of cryptography.
    from . import certificates

    home.make()
    identity = known(home)
    if identity is None:
        identity = Identity(port or free_port(), free_port(), secrets.choice(BLOCKS), nodes or 1)
    if port and port != identity.api_port:
        identity = replace(identity, api_port=port)
    if nodes and nodes != identity.nodes:
        identity = replace(identity, nodes=nodes)
    identity = moved_if_taken(identity, port)
    identity = replace(identity, routed=routed is not None)
    if routed is not None:
        identity = replace(identity, pod_range=str(routed.pods), service_range=str(routed.services))
    certificates.ensure(home.pki, further=(identity.ranges.api,))
    tokens = make_tokens(home.pki / "tokens.json", certificates.write)
    certificates.write(home.state, json.dumps(asdict(identity), indent=2).encode())
    for name, token in tokens.items():
        certificates.write(home.run / f"{name}.kubeconfig", kubeconfig(home, identity, {"token": token}))
    certificates.write(home.kubeconfig, kubeconfig(home, identity, owner(home)))
    return identity


def moved_if_taken(identity: Identity, asked: int) -> Identity:
    """A port that somebody else took in the meantime is replaced, unless the user named it."""
    if not is_free(identity.api_port):
        if asked:
            raise Failed(
                f"port {asked} is in use by another program",
                next_step="choose another with --port, or leave --port out to get a free one",
            )
        identity = replace(identity, api_port=free_port())
    if not is_free(identity.gateway_port):
        identity = replace(identity, gateway_port=free_port())
    if not identity.pipelines_port or not is_free(identity.pipelines_port):
        identity = replace(identity, pipelines_port=free_port())
    if not identity.pipelines_pods_port or not is_free(identity.pipelines_pods_port):
        identity = replace(identity, pipelines_pods_port=free_port())
    return identity


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def make_tokens(path: Path, write: Callable[[Path, bytes], None]) -> dict[str, str]:
    """A token for each process, made once; who it stands for is always what this version says."""
    try:
        known = json.loads(path.read_text())
    except (OSError, ValueError):
        known = {}  # ours alone: nobody else holds one of them
    made = {
        name: {
            "token": known[name]["token"] if name in known else secrets.token_urlsafe(32),
            "user": user,
            "groups": groups,
        }
        for name, (user, groups) in IDENTITIES.items()
    }
    if made != known:
        write(path, json.dumps(made).encode())
    return {name: str(entry["token"]) for name, entry in made.items()}


def owner(home: Home) -> dict[str, str]:
    """The owner's certificate and key, as a kubeconfig carries them."""
    files = {"client-certificate-data": "admin.crt", "client-key-data": "admin.key"}
    return {field: encoded(home.pki / name) for field, name in files.items()}


def encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def kubeconfig(home: Home, identity: Identity, user: dict[str, str]) -> bytes:
    authority = encoded(home.pki / "ca.crt")
    name = "paddlecloud"
    body = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": name, "cluster": {"server": identity.server, "certificate-authority-data": authority}}
        ],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "default"}}],
        "current-context": name,
    }
    return yaml.safe_dump(body, sort_keys=False).encode()


def supervisor_of(home: Home) -> int:
    """The pid of the supervisor of *home* if it lives, else 0."""
    if not runs(home):
        return 0  # a pid file that was left behind may name somebody else's process by now
    try:
        pid = int((home.run / "supervisor.pid").read_text())
        ended = stat_fields(pid)[0] in "ZX"
    except (OSError, ValueError):
        return 0
    # One that was killed is there until it is buried, and its orphans hold the lock a little longer.
    return 0 if ended else pid
