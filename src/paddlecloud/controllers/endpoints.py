"""The ConfigMap through which the pods of a PaddleJob find each other; pure.

It exists once every pod that takes part has an address; until then the pods wait for it. It is made anew from
the pods each time, so a pod that came back with another address is not lost.
"""

from __future__ import annotations

from ..api.core import ConfigMap, Pod
from ..api.meta import Metadata
from ..api.paddlejob import Intranet, PaddleJob
from .jobpods import NAME, index_of, role_of
from .jobports import PORTS_A_JOB, own_port, port_of


def endpoints(job: PaddleJob, members: dict[str, Pod]) -> tuple[ConfigMap, ...]:
    """What the pods that take part are told; nothing while nobody does."""
    if not members:
        return ()
    groups = {role: [p for p in members.values() if role_of(p) == role] for role in job.spec.roles()}
    hosts = {role: [host_of(job, pod) for pod in pods] for role, pods in groups.items()}
    port = port_of(job)
    data = {"TRAINER_PORTS_NUM": str(PORTS_A_JOB), "PADDLE_PORT": str(port)}
    listed = {
        role: ",".join(
            f"{in_url(host)}:{own_port(job, role, index_of(pod))}"
            for pod, host in zip(pods, hosts[role], strict=True)
        )
        for role, pods in groups.items()
    }
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
        data["PADDLE_GLOO_HTTP_ENDPOINT"] = f"{in_url(hosts['ps'][0])}:{port + PORTS_A_JOB - 2}"
    metadata = Metadata(name=job.name, namespace=job.namespace, labels={NAME: job.name})
    return (ConfigMap(metadata=metadata, data=data),)


def host_of(job: PaddleJob, pod: Pod) -> str:
    return pod.name if job.spec.intranet is Intranet.SERVICE else pod.ip


def in_url(host: str) -> str:
    """An address as it stands before a port: one of IPv6 has colons of its own."""
    return f"[{host}]" if ":" in host else host
