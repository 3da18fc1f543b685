"""The pods of a StatefulSet: a number each, and with it a name, a host name and claims of its own; pure."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ...api.apps import ControllerRevision
from ...api.core import Pod, StatefulSet
from . import podstate
from .podmaking import pod_of
from .statefulrevisions import LABEL, Revisions, template_of

POD_NAME, POD_INDEX = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"


def ordinal(group: StatefulSet, name: str) -> int | None:
    """The number of a pod of that name, if it is one of this set."""
    parent, _, number = name.rpartition("-")
    return int(number) if parent == group.name and number.isdecimal() else None


def ordinals(group: StatefulSet) -> range:
    start = int((group.spec.get("ordinals") or {}).get("start") or 0)
    wanted = group.spec.get("replicas")
    return range(start, start + (1 if wanted is None else int(wanted)))


def new_pod(group: StatefulSet, number: int, revisions: Revisions) -> Pod:
    """The pod of a number; below the partition the set stays with the revision it comes from."""
    strategy = group.spec.get("updateStrategy") or {}
    held = int((strategy.get("rollingUpdate") or {}).get("partition") or 0)
    stays = strategy.get("type", "RollingUpdate") == "RollingUpdate" and number - ordinals(group).start < held
    return make_pod(group, number, revisions.current if stays else revisions.update)


def make_pod(group: StatefulSet, number: int, revision: ControllerRevision) -> Pod:
    name = f"{group.name}-{number}"
    pod = pod_of(template_of(revision), group, name)
    labels = {**pod.metadata.labels, POD_NAME: name, POD_INDEX: str(number), LABEL: revision.name}
    spec = {
        **pod.spec,
        "hostname": name,
        "subdomain": group.spec.get("serviceName") or "",
        "volumes": volumes(group, number, pod),
    }
    meta = {**pod.metadata.wire(), "labels": labels, "generateName": f"{group.name}-"}
    return Pod.read({"metadata": meta, "spec": {k: v for k, v in spec.items() if v not in ("", [])}})


def volumes(group: StatefulSet, number: int, pod: Pod) -> list[dict[str, Any]]:
    """Its claims, and what the template has beside them."""
    claims = [
        {"name": t["metadata"]["name"], "persistentVolumeClaim": {"claimName": claim_name(group, t, number)}}
        for t in group.spec.get("volumeClaimTemplates") or ()
    ]
    names = {c["name"] for c in claims}
    return claims + [v for v in pod.spec.get("volumes") or () if v.get("name") not in names]


def claim_name(group: StatefulSet, template: dict[str, Any], number: int) -> str:
    return f"{template['metadata']['name']}-{group.name}-{number}"


def healthy(pod: Pod | None) -> bool:
    return pod is not None and pod.phase == "Running" and pod.ready


def steady(pod: Pod | None, group: StatefulSet, now: datetime) -> bool:
    """Healthy for long enough that the next one may move."""
    least = int(group.spec.get("minReadySeconds") or 0)
    return healthy(pod) and pod is not None and podstate.available(pod, least, now)
