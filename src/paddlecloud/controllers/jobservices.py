"""The Services of a PaddleJob whose pods call each other by name: one a pod, headless; pure."""

from __future__ import annotations

from ..api.core import Service
from ..api.meta import Metadata
from ..api.paddlejob import Intranet, PaddleJob
from .jobpods import NAME, pod_names
from .jobports import PORTS_A_JOB, port_of


def services(job: PaddleJob) -> tuple[Service, ...]:
    if job.spec.intranet is not Intranet.SERVICE:
        return ()
    first = port_of(job)
    ports = [
        {"name": f"p-{i}", "port": first + i, "targetPort": first + i, "protocol": "TCP"}
        for i in range(PORTS_A_JOB)
    ]
    return tuple(
        Service(
            metadata=Metadata(name=name, namespace=job.namespace, labels={NAME: name}),
            spec={
                "clusterIP": "None",
                "selector": {NAME: name},
                "ports": ports,
                # Nobody is ready before it has found the others.
                "publishNotReadyAddresses": True,
            },
        )
        for name in pod_names(job)
    )
