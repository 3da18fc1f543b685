"""StatefulSet: pods with stable names, made in order, removed in reverse; pure."""

from __future__ import annotations

import copy

from ...api.core import Pod, StatefulSet
from ...api.meta import Metadata
from ...controllers.contract import Controller, Decision, Snapshot


def reconcile(group: StatefulSet, seen: Snapshot) -> Decision:
    pods = seen.owned(Pod)
    wanted = [make_pod(group, i) for i in range(replicas(group))]
    children: list[Pod] = []
    for pod in wanted:
        children.append(pod)
        # The next one waits until this one is ready.
        if pod.name not in pods or not pods[pod.name].ready:
            children += [p for p in wanted if p.name in pods and p not in children]
            break
    ready = sum(1 for p in pods.values() if p.ready)
    status = {
        "replicas": len(pods),
        "readyReplicas": ready,
        "availableReplicas": ready,
        "currentReplicas": len(pods),
        "updatedReplicas": len(pods),
        "observedGeneration": group.metadata.generation,
    }
    return Decision({**group.status, **status}, tuple(children))


def replicas(group: StatefulSet) -> int:
    wanted = group.spec.get("replicas")
    return 1 if wanted is None else int(wanted)


def make_pod(group: StatefulSet, index: int) -> Pod:
    template = copy.deepcopy(group.spec.get("template") or {})
    name = f"{group.name}-{index}"
    given = template.get("metadata") or {}
    labels = {
        **(given.get("labels") or {}),
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(index),
    }
    spec = {**(template.get("spec") or {}), "hostname": name, "subdomain": group.spec.get("serviceName", "")}
    metadata = Metadata(
        name=name, namespace=group.namespace, labels=labels, annotations=given.get("annotations") or {}
    )
    return Pod(metadata=metadata, spec=spec)


CONTROLLER = Controller("statefulset", StatefulSet, reconcile, owns=(Pod,))
