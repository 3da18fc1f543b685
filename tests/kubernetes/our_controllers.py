"""Our controllers on a real cluster, as they are shipped: `pdc controllers` with the rights in `deploy/`.

`our_controllers` runs them here; `deploy` has the cluster run them, for what only its own network reaches.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from tests.kubernetes.processes import Process, running
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until
from tests.servers import Server

ROOT = Path(__file__).parent.parent.parent
RIGHTS = ROOT / "deploy" / "rbac.yaml"
OPERATOR = ROOT / "deploy" / "v1" / "operator.yaml"
ACCOUNT = "/api/v1/namespaces/paddle-system/serviceaccounts/paddlecloud-controllers"
PATHS = {
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings",
    "Deployment": "/apis/apps/v1/namespaces/{namespace}/deployments",
}


@contextmanager
def our_controllers(server: Server, folder: Path) -> Iterator[Process]:
    """They run, and see the cluster, for the time of the `with`; their log is in *folder*."""
    rest = server.rest()
    try:
        apply(rest, RIGHTS)
        kubeconfig = kubeconfig_of_account(server, rest, folder)
    finally:
        rest.close()
    arguments = ["-m", "paddlecloud.cli.main", "--kubeconfig", str(kubeconfig)]
    arguments += ["controllers", "--kubeflow", "--address", "127.0.0.1", "--port", "0"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with running(Path(sys.executable), arguments, folder, environ) as process:
        yield process


def deploy(rest: Rest) -> None:
    """In a pod of the cluster, which needs the image `paddlecloud/core`; until it is ready."""
    apply(rest, OPERATOR)
    path = f"{PATHS['Deployment'].format(namespace='paddle-system')}/paddle-controller-manager"

    def ready() -> bool:
        return (rest.get(path).expect(200).get("status") or {}).get("readyReplicas") == 1

    until(ready, what="controllers that are ready", limit=90)


def apply(rest: Rest, manifests: Path) -> None:
    """As `kubectl apply` would; whoever was here before did the same."""
    for body in yaml.safe_load_all(manifests.read_text(encoding="utf-8")):
        path = PATHS[body["kind"]].format(namespace=body["metadata"].get("namespace", ""))
        answer = rest.post(path, body, fieldValidation="Strict")
        assert answer.status in (201, 409), answer.text


def kubeconfig_of_account(server: Server, rest: Rest, folder: Path) -> Path:
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}

    def token() -> str:
        answer = rest.post(f"{ACCOUNT}/token", request)
        return str(answer.body["status"]["token"]) if answer.status == 201 else ""

    config = yaml.safe_load(server.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": until(token, what="a token of the controllers")}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(config))
    return path
