"""Settings: one table of name, default and help; read once, passed on, never looked up again.

A setting comes from the command line, else from `PADDLECLOUD_<NAME>`, else from the default here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .errors import Failed


class Setting(NamedTuple):
    name: str
    default: str
    help: str

    @property
    def variable(self) -> str:
        return f"PADDLECLOUD_{self.name.upper()}"


SETTINGS = (
    Setting("home", "~/.paddlecloud", "folder of the embedded cluster: store, keys, pods, volumes, logs"),
    Setting("environments", "", "folder of the suites' environments; empty: `environments` in the home"),
    Setting("suites", "", "further folders with suites, separated by `:`; they win over the shipped ones"),
    Setting(
        "isolation", "auto", "how far pods are kept apart: auto, namespaces (without root's rights) or plain"
    ),
    Setting("network", "auto", "how pods are connected: auto, routed (a network of their own) or loopback"),
    Setting("registries", "any", "which are asked for images that are not here: any, or local ones only"),
    Setting("log_level", "info", "debug, info, warning or error"),
    Setting("log_format", "text", "text or json"),
)
_BY_NAME = {s.name: s for s in SETTINGS}


def value(name: str, environ: Mapping[str, str] = os.environ) -> str:
    setting = _BY_NAME[name]
    return environ.get(setting.variable) or setting.default


class Home:
    """Where everything of one embedded cluster lies; knows paths and makes folders, nothing else."""

    def __init__(self, root: str | Path | None = None) -> None:
        self.root = Path(root or value("home")).expanduser().absolute()

    def __str__(self) -> str:
        return str(self.root)

    @property
    def kubeconfig(self) -> Path:
        return self.root / "kubeconfig"

    @property
    def pki(self) -> Path:
        return self.root / "pki"

    @property
    def store(self) -> Path:
        return self.root / "store.db"

    @property
    def run(self) -> Path:
        """Sockets, locks and pid files: worth nothing after a stop."""
        return self.root / "run"

    @property
    def api_socket(self) -> Path:
        """Where the API speaks with the platform's own processes."""
        return self.run / "api.sock"

    @property
    def lock(self) -> Path:
        """Held by the supervisor and by every process it started."""
        return self.run / "supervisor.lock"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def pod_logs(self) -> Path:
        """What the containers of removed pods had said."""
        return self.root / "podlogs"

    @property
    def mirrors(self) -> Path:
        """What is read instead of addresses that this machine does not see; its owner writes it."""
        return self.root / "mirrors.yaml"

    @property
    def volumes(self) -> Path:
        return self.root / "volumes"

    @property
    def objects(self) -> Path:
        return self.root / "objects"

    @property
    def environments(self) -> Path:
        elsewhere = value("environments")
        return Path(elsewhere).expanduser().absolute() if elsewhere else self.root / "environments"

    @property
    def images(self) -> Path:
        """Container images, as an OCI layout with unpacked layers."""
        return self.root / "images"

    def pods(self, node: str) -> Path:
        return self.root / "nodes" / node / "pods"

    def disk(self, node: str) -> Path:
        """What is below `/var/lib/paddlecloud` on that node."""
        return self.root / "nodes" / node / "disk"

    @property
    def state(self) -> Path:
        """What was chosen at the first start and must not change: ports, address block, names."""
        return self.root / "cluster.json"

    def make(self) -> None:
        """Make the folders, closed to the other users of the machine."""
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            for folder in (self.root, self.pki, self.run, self.logs, self.volumes, self.objects):
                folder.mkdir(exist_ok=True, mode=0o700)
                if folder.stat().st_mode & 0o077:
                    folder.chmod(0o700)  # it was there before us, open to others
        except OSError as error:
            raise Failed(
                f"the home {self} cannot be used: {error}",
                next_step="choose a folder that you may write to with --home",
            ) from error


def shipped(name: str) -> Path:
    """A folder that comes with PaddleCloud (`suites`, `deploy/crds`), in a checkout or in a wheel."""
    package = Path(__file__).parent
    in_wheel = package / "_shipped" / name.removeprefix("deploy/")
    return in_wheel if in_wheel.is_dir() else package.parent.parent / name
