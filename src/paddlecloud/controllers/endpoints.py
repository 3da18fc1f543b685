"""The ConfigMap through which the pods of a PaddleJob find each other; pure.

It exists once every pod has an address; until then the pods wait for it. It is made anew from the pods
each time, so a pod that came back with another address is not lost.
"""

from __future__ import annotations

import zlib

from ..api.core import ConfigMap, Pod
from ..api.meta import Metadata
from ..api.paddlejob import Intranet, PaddleJob
from .jobpods import NAME, pod_name

PORTS_A_JOB = 20
# Below the kernel's range for outgoing connections, so that none of those can sit on a port of ours.
FIRST_PORT, BLOCKS = 20_000, 600


def port_of(job: PaddleJob) -> int:
    """The first of the job's ports: the same at every look, and seldom the same for two jobs."""
    return FIRST_PORT + PORTS_A_JOB * (zlib.crc32(job.uid.encode()) % BLOCKS)


def endpoints(job: PaddleJob, pods: dict[str, Pod]) -> tuple[ConfigMap, ...]:
    hosts = {role: hosts_of(job, role, pods) for role in job.spec.roles()}
    if any(not host for group in hosts.values() for host in group):
        return ()
    port = port_of(job)
    data = {"TRAINER_PORTS_NUM": str(PORTS_A_JOB), "PADDLE_PORT": str(port)}
    listed = {role: ",".join(f"{h}:{port}" for h in group) for role, group in hosts.items()}
    if "ps" in hosts:
        data["PADDLE_PSERVERS_IP_PORT_LIST"] = listed["ps"]
    if "worker" in hosts:
        data["PADDLE_TRAINER_ENDPOINTS"] = listed["worker"]
        data["PADDLE_TRAINERS"] = ",".join(hosts["worker"])
        data["PADDLE_TRAINERS_NUM"] = str(len(hosts["worker"]))
    if "heter" in hosts:
        data["PADDLE_HETER_ENDPOINTS"] = listed["heter"]
    if job.spec.with_gloo and hosts.get("ps"):
        data["PADDLE_WITH_GLOO"] = str(job.spec.with_gloo)
        data["PADDLE_GLOO_RENDEZVOUS"] = "3"
        data["PADDLE_GLOO_HTTP_ENDPOINT"] = f"{hosts['ps'][0]}:{port + PORTS_A_JOB - 2}"
    metadata = Metadata(name=job.name, namespace=job.namespace, labels={NAME: job.name})
    return (ConfigMap(metadata=metadata, data=data),)


def hosts_of(job: PaddleJob, role: str, pods: dict[str, Pod]) -> list[str]:
    names = [pod_name(job, role, i) for i in range(job.spec.roles()[role].replicas)]
    if job.spec.intranet is Intranet.SERVICE:
        return names
    return [pods[n].ip if n in pods else "" for n in names]
