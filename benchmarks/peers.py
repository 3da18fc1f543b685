"""The servers that are measured: each started for the run, asked with the token of an account RBAC knows.

Neither side may pass its authorizer by: the account is nobody's administrator and holds one role in one
namespace, made the same way on both.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kubernetes import build
from tests.kubernetes.control_plane import control_plane

from benchmarks.wire import Target
from paddlecloud.cli import clusters
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.cluster.requests import Request
from paddlecloud.settings import Home

NAMESPACE = "bench"
ACCOUNT = "loader"


@dataclass(frozen=True)
class Peer:
    name: str
    target: Target
    processes: Callable[[], list[int]]
    """What serves the API: the store counts, the controllers do not."""


@contextmanager
def ours(home: Path) -> Iterator[Peer]:
    place = Home(home)
    clusters.start(place, [])
    try:
        supervisor = clusters.state(place).pid
        # `api` is the first child the supervisor starts.
        api = min(int(c) for c in Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split())
        yield Peer("ours", asyncio.run(account(place.kubeconfig)), lambda: [api])
    finally:
        clusters.stop(place)


@contextmanager
def kubernetes(home: Path) -> Iterator[Peer]:
    with control_plane(home, build.build(), durable=True) as plane:
        target = asyncio.run(account(plane.kubeconfig))
        yield Peer("kubernetes", target, lambda: children_named(("etcd", "kube-apiserver")))


async def account(kubeconfig: Path) -> Target:
    """A namespace, an account in it that may do everything there and nothing elsewhere, and its token."""
    rbac, core = "/apis/rbac.authorization.k8s.io/v1", "/api/v1"
    inside = f"namespaces/{NAMESPACE}"
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT}
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}
    async with Client(from_kubeconfig(kubeconfig)) as client:

        async def post(path: str, body: dict[str, Any]) -> Any:
            head = {"Content-Type": "application/json"}
            return await client.request(Request("POST", path, headers=head, body=json.dumps(body).encode()))

        await post(f"{core}/namespaces", {"metadata": {"name": NAMESPACE}})
        await post(f"{core}/{inside}/serviceaccounts", {"metadata": {"name": ACCOUNT}})
        rules = [{"apiGroups": [""], "resources": ["configmaps", "pods"], "verbs": ["*"]}]
        await post(f"{rbac}/{inside}/roles", {"metadata": {"name": ACCOUNT}, "rules": rules})
        binding = {"metadata": {"name": ACCOUNT}, "roleRef": role, "subjects": [subject]}
        await post(f"{rbac}/{inside}/rolebindings", binding)
        answer = await post(f"{core}/{inside}/serviceaccounts/{ACCOUNT}/token", {"spec": {}})
        access = client.access
    return Target(access.server, str(access.ca), answer["status"]["token"])


def children_named(names: tuple[str, ...]) -> list[int]:
    """Our own children that run these programs."""
    found = []
    for child in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
        command = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0].decode()
        if Path(command).name in names:
            found.append(int(child))
    return found
