"""A real Kubernetes control plane for the time of a `with`: etcd, kube-apiserver, kube-controller-manager.

Everything lies in one folder and listens on loopback only; the processes end with the `with`, and with
their parent should it be killed.

    python -m tests.kubernetes.control_plane        one to play with, until Ctrl-C
"""

from __future__ import annotations

import csv
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import urllib3
import yaml
from tests.kubernetes import build, certificates
from tests.kubernetes.certificates import Certificates
from tests.kubernetes.processes import Ended, Process, running
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

from paddlecloud.errors import PaddleCloudError

ROOT = Path(__file__).parent.parent.parent
START_LIMIT = 60.0
"""Seconds; it takes 4 on an idle machine."""


SERVICES = "10.96.0.0/16"
API_SERVICE = "10.96.0.1"
"""The first address of the range is the API's."""


@dataclass(frozen=True)
class Nodes:
    """What a control plane must know of where its nodes are."""

    api: str
    """The address under which nodes and pods reach the API."""
    users: Mapping[str, tuple[str, str]]
    """Who else gets a token: a name for us, that of the user, and its group."""


@dataclass(frozen=True)
class ControlPlane:
    kubeconfig: Path
    rest: Rest
    certificates: Certificates
    tokens: Mapping[str, str] = field(repr=False)

    def kubeconfig_of(self, user: str) -> Path:
        """For one of the users there are tokens for."""
        path = self.kubeconfig.with_name(f"{user}.kubeconfig")
        return write_kubeconfig(path, self.rest.server, self.certificates, self.tokens[user])


@contextmanager
def control_plane(
    home: Path, binaries: Path, *, durable: bool = False, nodes: Nodes | None = None
) -> Iterator[ControlPlane]:
    """Kubernetes with our CRDs, ready to be asked; *home* keeps its data, keys and logs.

    What tests write is worth nothing after a crash of the machine; *durable* is for measuring the cost.
    Without *nodes* it listens on loopback only.
    """
    paths = certificates.make(home / "pki", datetime.now(UTC), [nodes.api, API_SERVICE] if nodes else ())
    tokens = make_tokens(home / "pki" / "tokens.csv", nodes.users if nodes else {})
    with ExitStack() as stack:
        etcd = stack.enter_context(running(binaries / "etcd", etcd_flags(durable), home / "etcd"))
        wait_for_socket(client_socket(home), etcd)
        server = stack.enter_context(api_server(home, binaries, paths, nodes))
        rest = Rest(server, paths.ca.read_text(), tokens["admin"])
        stack.callback(rest.close)
        # Before the controllers: they look for new kinds only every 30 seconds.
        create_crds(rest, ROOT / "deploy" / "crds")
        own = write_kubeconfig(home / "controllers.kubeconfig", server, paths, tokens[CONTROLLERS])
        flags = controller_flags(own, paths, home)
        stack.enter_context(running(binaries / CONTROLLERS, flags, home / CONTROLLERS))
        until(
            lambda: default_account_exists(rest), what="the first work of the controllers", limit=START_LIMIT
        )
        kubeconfig = write_kubeconfig(home / "kubeconfig", server, paths, tokens["admin"])
        yield ControlPlane(kubeconfig, rest, paths, tokens)


CONTROLLERS = "kube-controller-manager"


@contextmanager
def api_server(home: Path, binaries: Path, paths: Certificates, nodes: Nodes | None) -> Iterator[str]:
    """The address of a kube-apiserver that is ready.

    The kernel names a free port, but another process can take it before the server does: then again.
    """
    for attempt in range(3):
        port = free_port()
        server = f"https://127.0.0.1:{port}"
        with ExitStack() as stack:
            flags = [*api_server_flags(home, port, paths), *reachable_by(nodes, port, paths)]
            folder = home / f"kube-apiserver-{attempt}"
            process = stack.enter_context(running(binaries / "kube-apiserver", flags, folder))
            try:
                wait_until_ready(server, paths, process)
            except Ended as ended:
                if "address already in use" in str(ended) and attempt < 2:
                    continue
                raise
            yield server
            return


def wait_until_ready(server: str, paths: Certificates, process: Process) -> None:
    with urllib3.PoolManager(ca_certs=str(paths.ca), retries=False, timeout=2.0) as pool:

        def ready() -> bool:
            process.check()
            try:
                return pool.request("GET", f"{server}/readyz").status == 200
            except urllib3.exceptions.HTTPError:
                return False

        until(ready, what=f"a ready answer of {server} (log: {process.log})", limit=START_LIMIT)


def etcd_flags(durable: bool) -> list[str]:
    # Sockets in the folder of the process: no port, and closed to other users.
    return [
        "--name=tests",
        "--data-dir=data",
        "--listen-client-urls=unix://client:0",
        "--advertise-client-urls=unix://client:0",
        "--listen-peer-urls=unix://peer:0",
        "--initial-advertise-peer-urls=unix://peer:0",
        "--initial-cluster=tests=unix://peer:0",
        "--log-level=warn",
        *([] if durable else ["--unsafe-no-fsync"]),
    ]


def wait_for_socket(path: Path, process: Process) -> None:
    def there() -> bool:
        process.check()
        return path.is_socket()

    until(there, what=f"the socket of etcd (log: {process.log})", limit=START_LIMIT)


def client_socket(home: Path) -> Path:
    return home / "etcd" / "client:0"


def api_server_flags(home: Path, port: int, paths: Certificates) -> list[str]:
    return [
        f"--etcd-servers=unix://{client_socket(home)}",
        f"--secure-port={port}",
        f"--service-cluster-ip-range={SERVICES}",
        f"--tls-cert-file={paths.server}",
        f"--tls-private-key-file={paths.server_key}",
        f"--token-auth-file={home / 'pki' / 'tokens.csv'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={paths.account_key}",
        f"--service-account-signing-key-file={paths.account_key}",
    ]


def reachable_by(nodes: Nodes | None, port: int, paths: Certificates) -> list[str]:
    if nodes is None:
        return [
            "--bind-address=127.0.0.1",
            f"--service-account-jwks-uri=https://127.0.0.1:{port}/openid/v1/jwks",
            # An endpoint on loopback is not allowed, and no pod will ever look for the API: one of the
            # addresses that are nobody's stands in the endpoints of the Service `kubernetes`.
            "--advertise-address=192.0.2.1",
            "--authorization-mode=RBAC",
        ]
    return [
        f"--advertise-address={nodes.api}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        f"--kubelet-client-certificate={paths.client}",
        f"--kubelet-client-key={paths.client_key}",
        "--kubelet-preferred-address-types=InternalIP",
    ]


def controller_flags(kubeconfig: Path, paths: Certificates, home: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        "--secure-port=0",
        "--leader-elect=false",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={paths.account_key}",
        f"--root-ca-file={paths.ca}",
        # Its default is a folder in /usr.
        f"--flex-volume-plugin-dir={home / 'flex'}",
    ]


def make_tokens(path: Path, more: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """A token for each user, in the form of a token file: token, user, uid, groups."""
    users = {
        "admin": ("admin", "system:masters"),
        "stranger": ("stranger", "nobody"),
        CONTROLLERS: (f"system:{CONTROLLERS}", ""),
        **more,
    }
    tokens = {user: secrets.token_hex(16) for user in users}
    path.touch(mode=0o600)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([tokens[u], name, name, groups] for u, (name, groups) in users.items())
    return tokens


def write_kubeconfig(path: Path, server: str, paths: Certificates, token: str) -> Path:
    context = {"cluster": "tests", "user": "tests", "namespace": "default"}
    body: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "tests",
        "clusters": [
            {"name": "tests", "cluster": {"server": server, "certificate-authority": str(paths.ca)}}
        ],
        "users": [{"name": "tests", "user": {"token": token}}],
        "contexts": [{"name": "tests", "context": context}],
    }
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(body))
    return path


def create_crds(rest: Rest, folder: Path) -> None:
    """All of ours, until the server says of each that it is served."""
    url = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    bodies = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.yaml"))]
    for body in bodies:
        rest.post(url, body, fieldValidation="Strict").expect(201)
    for body in bodies:
        name = body["metadata"]["name"]
        until(partial(established, rest, f"{url}/{name}"), what=f"{name} established")


def established(rest: Rest, path: str) -> bool:
    conditions = rest.get(path).expect(200).get("status", {}).get("conditions") or ()
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def default_account_exists(rest: Rest) -> bool:
    return rest.get("/api/v1/namespaces/default/serviceaccounts/default").status == 200


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> int:
    try:
        with (
            tempfile.TemporaryDirectory(prefix="pdc-k8s-") as home,
            control_plane(Path(home), build.build()) as it,
        ):
            print(f"export KUBECONFIG={it.kubeconfig} PATH={build.build()}:$PATH\nCtrl-C ends it", flush=True)
            sys.stdin.read() if not sys.stdin.isatty() else input()
    except KeyboardInterrupt:
        return 0
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
