"""The etcd of a PaddleJob whose workers run Paddle's own elastic launcher: a Pod and a Service; pure.

It belongs to one job, is no role of it, keeps nothing beyond its pod, and ends with the job whatever is
cleaned up. Workers depend on the one they began with: what a new one does not know is lost.
"""

from __future__ import annotations

from typing import Any

from ..api.core import Pod, Service
from ..api.meta import Metadata, Resource
from ..api.paddlejob import PaddleJob
from .jobpods import JOB, NAME, ROLE
from .launchervariables import PORT, store_name

IMAGE, STORE = "paddlecloud/etcd", "etcd"
PEER_PORT, DATA = 2380, "/var/lib/etcd"


def is_store(child: Resource) -> bool:
    return child.metadata.labels.get(ROLE) == STORE


def wanted_store(job: PaddleJob, there: dict[str, Pod]) -> tuple[Resource, ...]:
    """What the job should have of it; a pod that has ended goes first."""
    if not job.spec.elastic_launcher:
        return ()
    pod = there.get(store_name(job))
    ended = pod is not None and pod.finished
    return (make_service(job),) if ended else (make_service(job), make_store(job))


def store_of(job: PaddleJob, there: dict[str, Pod]) -> Pod | None:
    """The pod of the etcd, while it is neither leaving nor ended."""
    pod = there.get(store_name(job)) if job.spec.elastic_launcher else None
    return None if pod is None or pod.finished or pod.metadata.deletion_timestamp else pod


def make_service(job: PaddleJob) -> Service:
    name = store_name(job)
    ports = [{"name": "client", "port": PORT, "targetPort": PORT, "protocol": "TCP"}]
    return Service(metadata=metadata(job), spec={"selector": {NAME: name}, "ports": ports})


def make_store(job: PaddleJob) -> Pod:
    container: dict[str, Any] = {
        "name": STORE,
        "image": IMAGE,
        "args": arguments(job),
        "env": [{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
        "ports": [{"name": "client", "containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": PORT}, "periodSeconds": 1},
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
        "volumeMounts": [{"name": "data", "mountPath": DATA}],
    }
    spec = {
        "containers": [container],
        "volumes": [{"name": "data", "emptyDir": {}}],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 5,
        # It asks the cluster for nothing.
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
    }
    return Pod(metadata=metadata(job), spec=spec)


def arguments(job: PaddleJob) -> list[str]:
    """It listens on the pod's address alone: on some networks another would be that of the machine."""
    peer = f"http://$(POD_IP):{PEER_PORT}"
    return [
        f"--data-dir={DATA}",
        f"--listen-client-urls=http://$(POD_IP):{PORT}",
        f"--advertise-client-urls=http://{store_name(job)}:{PORT}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--log-level=warn",
        # Nothing in it outlives the pod.
        "--unsafe-no-fsync",
    ]


def metadata(job: PaddleJob) -> Metadata:
    name = store_name(job)
    return Metadata(name=name, namespace=job.namespace, labels={NAME: name, ROLE: STORE, JOB: job.name})
