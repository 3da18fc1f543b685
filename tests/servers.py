"""The two servers a contract is checked on, behind one description of how to reach them."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3
import yaml

from tests.kubernetes import build
from tests.kubernetes.control_plane import control_plane
from tests.kubernetes.processes import Process, running
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until


@dataclass(frozen=True)
class Server:
    kubeconfig: Path
    controllers: bool
    """Whether somebody collects garbage, empties namespaces and makes default accounts."""

    def rest(self) -> Rest:
        """Read here and not by our own code: a contract must not lean on what it checks."""
        config = yaml.safe_load(self.kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        return Rest(cluster["server"], authority(cluster), user.get("token", ""), self._certificate(user))

    def _certificate(self, user: dict[str, Any]) -> Path | None:
        if "client-certificate-data" not in user:
            return None
        parts = [base64.b64decode(user[f"client-{part}-data"]) for part in ("certificate", "key")]
        path = self.kubeconfig.with_name("owner.pem")
        path.touch(mode=0o600)
        path.write_bytes(b"".join(parts))
        return path


def authority(cluster: dict[str, Any]) -> str:
    if data := cluster.get("certificate-authority-data"):
        return base64.b64decode(data).decode()
    return Path(cluster["certificate-authority"]).read_text()


@contextmanager
def real_server(home: Path) -> Iterator[Server]:
    with control_plane(home, build.build()) as started:
        yield Server(started.kubeconfig, controllers=True)


@contextmanager
def embedded_server(home: Path) -> Iterator[Server]:
    root = Path(__file__).parent.parent
    # The processes of the embedded cluster find the packages as this one does.
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])}
    cluster = home / "cluster"
    arguments = ["-m", "tests.embedded_api", str(cluster)]
    with running(Path(sys.executable), arguments, home / "api", environ) as process:
        started = Server(cluster / "kubeconfig", controllers=True)
        # Seconds on an idle machine; others may be at work beside the tests.
        until(lambda: answers(started, process), what=f"an answer of the API (log: {process.log})", limit=60)
        yield started


def answers(server: Server, process: Process) -> bool:
    process.check()
    if not server.kubeconfig.is_file():
        return False
    rest = server.rest()
    try:
        return rest.get("/readyz").status == 200
    except urllib3.exceptions.HTTPError:
        return False
    finally:
        rest.close()
